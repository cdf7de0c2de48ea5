"""vLLM in the place of a generator: it samples in a process of its own, from a copy of the weights on the disk.

`refresh` writes the live weights, with any adapter merged in, into a folder and has vLLM read them, so that all
rollouts of an optimizer step come from the weights that the step begins with. The process runs in the Python that
has vLLM, which is another one than the trainer's: vLLM asks for a PyTorch of its own version.

What it leaves out: a transfer of weights that does not go over the disk, several GPUs for one model.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from rehearsal_trainer.answers import ContextExceededError, Generated
from rehearsal_trainer.failures import TrainingError
from rehearsal_trainer.messages import Json
from rehearsal_trainer.session import Sampling
from rehearsal_trainer.vllm_process import VllmProcess
from rehearsal_trainer.weights import merged_weights

RELOAD_S = 600
ON_CPU = {"enforce_eager": True, "enable_chunked_prefill": False}
"""Without graphs to compile a CPU is ready sooner; and vLLM 0.32 ends where a seeded prompt comes in parts there."""


class VllmSampler:
    """Samples by vLLM, which starts with the first `refresh`.

    python: one that has vLLM. memory: the part of a GPU's memory, or of a machine's without one, that it may take.
    folder: for its copy of the weights; deleted in the end.
    """

    def __init__(self, model: Any, end_id: int, context: int, python: str, memory: float, folder: Path) -> None:
        self.end_id, self.context = end_id, context
        self.sampled_tokens = 0
        self._model, self._folder = model, folder
        self._python, self._memory = python, memory
        self._process: VllmProcess | None = None
        self._asked: dict[str, int] = {}
        """By session, the number of what was asked of the process last."""

    def adopt(self, model: Any) -> None:
        """Samples for another module from now on, for instance the same one with a LoRA adapter around it."""
        self._model = model

    def refresh(self) -> None:
        """Takes over the live weights; starts vLLM where it does not run. TrainingError where it can't."""
        dtype = self._write()
        if self._process is None or self._process.has_ended:
            print("vLLM is started; that takes minutes with a large model", file=sys.stderr, flush=True)
            options = {"max_model_len": self.context, "dtype": dtype, "seed": 0, "gpu_memory_utilization": self._memory}
            on_cpu = {} if torch.cuda.is_available() else ON_CPU
            self._process = VllmProcess(self._python, self._folder, {**options, **on_cpu})
            return
        try:
            self._process.ask({"reload": True})[1].result(RELOAD_S)
        except Exception as error:
            raise TrainingError(f"vLLM did not take the new weights: {error}") from error

    def submit(self, session: str, prompt: Sequence[int], sampling: Sampling, seed: int) -> Future[Generated]:
        """Samples an answer to `prompt` (the whole row so far); the future fails with ContextExceededError."""
        answer: Future[Generated] = Future()
        room = self.context - len(prompt)
        if room <= 0:
            words = f"the conversation has {len(prompt)} tokens; the context holds {self.context}"
            answer.set_exception(ContextExceededError(words))
            return answer
        assert self._process is not None, "refresh comes first"
        self._asked[session], said = self._process.ask(
            {
                "prompt": list(prompt), "max_tokens": min(sampling.max_tokens, room), "stop": self.end_id,
                "temperature": sampling.temperature, "top_p": sampling.top_p,
                "seed": seed >> 1,  # those of vLLM are signed
            }
        )  # fmt: skip
        said.add_done_callback(lambda done: self._take(done, answer))
        return answer

    def release(self, session: str) -> None:
        """Ends what is being sampled for a session; keys and values are vLLM's own matter."""
        number = self._asked.pop(session, None)
        if self._process is not None and number is not None and self._process.is_asked(number):
            self._process.ask({"drop": number})

    def close(self) -> None:
        """Ends vLLM, and deletes its copy of the weights; open requests fail."""
        if self._process is not None:
            self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _take(self, done: Future[dict[str, Json]], answer: Future[Generated]) -> None:
        error = done.exception()
        if error is not None:
            answer.set_exception(error)
            return
        said = done.result()
        self.sampled_tokens += len(said["ids"])
        reason = "stop" if said["ids"][-1:] == [self.end_id] else "length"
        answer.set_result(Generated(said["ids"], said["logprobs"], reason, said["cached"]))

    def _write(self) -> str:
        """Writes configuration and weights; in which numbers these are."""
        self._folder.mkdir(parents=True, exist_ok=True)
        config, weights = merged_weights(self._model)
        config.save_pretrained(self._folder)
        unfinished = self._folder / "unfinished"
        save_file(weights, unfinished, metadata={"format": "pt"})
        unfinished.replace(self._folder / "model.safetensors")
        return str(next(iter(weights.values())).dtype).removeprefix("torch.")
