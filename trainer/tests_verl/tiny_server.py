"""The tiny random model, answering as verl's model servers do: token ids in, token ids and log-probabilities out."""

from __future__ import annotations

import asyncio
from typing import Any

from rehearsal_trainer.session import Sampling


class TinyServer:
    """Keeps what it was asked and what it sampled, which is what rows are compared with."""

    def __init__(self) -> None:
        import torch
        from verl.workers.rollout.replica import TokenOutput

        from rehearsal_trainer.models import load_model, load_tokenizer
        from rehearsal_trainer.serving import gateway_over

        torch.set_num_threads(1)
        model = load_model("tiny", torch.float32).eval()
        self.generator = gateway_over(model, load_tokenizer("tiny"), "tiny", "compact", Sampling(), 4096, 32).generator
        self.log: list[tuple[list[int], list[int], list[float]]] = []
        self._output = TokenOutput
        self._count = 0

    async def generate(self, request_id: str, prompt_ids: list[int], sampling_params: dict[str, Any], **_: Any) -> Any:
        """One answer, as vLLM's server in verl gives it."""
        self._count += 1
        sampling = Sampling(sampling_params["temperature"], sampling_params["top_p"], sampling_params["max_tokens"])
        future = self.generator.submit(request_id, prompt_ids, sampling, sampling_params["seed"])
        done = await asyncio.wrap_future(future)
        self.generator.release(request_id)
        self.log.append((list(prompt_ids), list(done.ids), list(done.logprobs)))
        fields = {"global_steps": 1}
        return self._output(token_ids=done.ids, log_probs=done.logprobs, stop_reason="completed", extra_fields=fields)

    def asked(self) -> list[tuple[list[int], list[int], list[float]]]:
        """Everything so far."""
        return self.log
