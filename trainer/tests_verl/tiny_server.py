"""Serves the tiny random model like verl's model servers: takes token ids, returns ids and log-probabilities."""

from __future__ import annotations

import asyncio
from typing import Any

from rehearsal_trainer.sampler.answers import Sampling


class TinyServer:
    """Keeps its requests and its sampled ids, to compare rows with."""

    def __init__(self) -> None:
        import torch
        from verl.workers.rollout.replica import TokenOutput

        from rehearsal_trainer.gateway.serving import chat_of, gateway_over
        from rehearsal_trainer.models.loading import load_model, load_tokenizer

        torch.set_num_threads(1)
        model = load_model("tiny", torch.float32).eval()
        chat = chat_of("tiny", load_tokenizer("tiny"), "compact", False)
        self.generator = gateway_over(model, chat, "tiny", Sampling(), 4096, 32).generator
        self.log: list[tuple[list[int], list[int], list[float]]] = []
        self._output = TokenOutput
        self._free: int | None = None
        self._answered: list[list[int]] = []
        self._held = 0
        self._released = asyncio.Event()

    async def hold_after(self, conversations: int) -> None:
        """From now on answers this many new conversations, and keeps the answers of all others until `go`."""
        self._free, self._held = conversations, 0
        self._answered.clear()
        self._released.clear()

    async def held(self) -> int:
        """Returns how many answers are kept."""
        return self._held

    async def go(self) -> None:
        """Gives the answers that were kept, and keeps no more."""
        self._free = None
        self._released.set()

    async def generate(self, request_id: str, prompt_ids: list[int], sampling_params: dict[str, Any], **_: Any) -> Any:
        """One answer, as vLLM's server in verl gives it."""
        is_held = self._holds(prompt_ids)
        sampling = Sampling(sampling_params["temperature"], sampling_params["top_p"], sampling_params["max_tokens"])
        future = self.generator.submit(request_id, prompt_ids, sampling, sampling_params["seed"])
        done = await asyncio.wrap_future(future)
        self.generator.release(request_id)
        self.log.append((list(prompt_ids), list(done.ids), list(done.logprobs)))
        self._answered.append([*prompt_ids, *done.ids])
        if is_held:
            self._held += 1
            await self._released.wait()
        fields = {"global_steps": 1}
        return self._output(token_ids=done.ids, log_probs=done.logprobs, stop_reason="completed", extra_fields=fields)

    def _holds(self, prompt: list[int]) -> bool:
        """Returns whether the answer is kept. verl names no conversation: one continues what was answered before."""
        if self._free is None or any(prompt[: len(before)] == before for before in self._answered):
            return False
        self._free -= 1
        return self._free < 0

    def asked(self) -> list[tuple[list[int], list[int], list[float]]]:
        """Everything so far."""
        return self.log
