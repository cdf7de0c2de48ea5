"""Samples with vLLM, in a separate process, from the weights that are trained.

`refresh` hands over the live weights, so that all rollouts of an optimizer step come from the weights that the step
begins with. If an adapter is trained, vLLM loads the base once from the same place as the trainer, and afterwards only
the adapter. The adapter is never merged, which would round small updates away. If all weights are trained, they are
written to a folder and vLLM reads them. `suspend` puts vLLM to sleep on a GPU, so that the update can use its memory.

The process runs in a separate Python that has vLLM, because vLLM requires its own version of PyTorch. Several GPUs for
one model are not supported.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from rehearsal_trainer.models.weights import without_adapters
from rehearsal_trainer.sampler.answers import ContextExceededError, Generated, Sampling
from rehearsal_trainer.sampler.vllm_process import VllmProcess
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.messages import Json

HAND_OVER_S = 600
RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM accepts for max_lora_rank."""
ON_GPU = {"enable_sleep_mode": True}
ON_CPU = {"enforce_eager": True, "enable_chunked_prefill": False}
"""Without compiled graphs vLLM starts faster on a CPU. vLLM 0.32 exits there if a seeded prompt arrives in parts."""


class VllmSampler:
    """Samples with vLLM, which starts with the first `refresh`.

    python: a Python that has vLLM. memory: the share of the GPU's memory, or of the machine's without a GPU, that it
    may use. folder: the folder for the adapter or for a copy of all weights; deleted at the end.
    """

    def __init__(
        self, model: Any, stop_ids: Collection[int], context: int, python: str, memory: float, folder: Path
    ) -> None:
        self.stop_ids, self.context = stop_ids, context
        self.sampled_tokens = 0
        self._model, self._folder = model, folder
        self._python, self._memory = python, memory
        self._process: VllmProcess | None = None
        self._adapters = 0
        """The number of adapters that were handed over."""
        self._asked: dict[str, int] = {}
        """For each session, the number of the last request to the process."""

    def adopt(self, model: Any) -> None:
        """Replaces the module to sample from, for example by the same one with a LoRA adapter around it."""
        self._model = model

    def refresh(self) -> None:
        """Takes over the live weights, and starts vLLM if it is not running. TrainingError if that fails."""
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # makes the memory that the update has freed available to vLLM
        is_running = self._process is not None and not self._process.has_ended
        if hasattr(self._model, "peft_config"):
            adapter = self._write_adapter()
            base = without_adapters(self._model)
            if not is_running:
                self._start(base.name_or_path, base, {"enable_lora": True, "max_lora_rank": self._rank()})
            self._hand_over({"adapter": str(adapter), "number": self._adapters})
        else:
            self._write_weights()
            if is_running:
                self._hand_over({"reload": True})
            else:
                self._start(str(self._folder), self._model, {})

    def suspend(self) -> None:
        """Puts vLLM to sleep until the next `refresh`, even if requests are open; on a GPU this frees its memory.

        TrainingError if that fails.
        """
        if self._process is None:
            return
        try:
            # Weights that `refresh` loads again do not have to be kept.
            self._hand_over({"suspend": 1 if hasattr(self._model, "peft_config") else 2})
        except TrainingError:
            if not self._process.has_ended:  # the next `refresh` restarts a process that has ended
                raise

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
                "prompt": list(prompt), "max_tokens": min(sampling.max_tokens, room), "stop": sorted(self.stop_ids),
                "temperature": sampling.temperature, "top_p": sampling.top_p,
                "seed": seed >> 1,  # vLLM's seeds are signed
            }
        )  # fmt: skip
        said.add_done_callback(lambda done: self._take(done, answer))
        return answer

    def release(self, session: str) -> None:
        """Cancels the request of a session; vLLM manages its keys and values itself."""
        number = self._asked.pop(session, None)
        if self._process is not None and number is not None and self._process.is_asked(number):
            self._process.ask({"drop": number})

    def close(self) -> None:
        """Ends vLLM, and deletes the folder of its weights; open requests fail."""
        if self._process is not None:
            self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _take(self, done: Future[dict[str, Json]], answer: Future[Generated]) -> None:
        error = done.exception()
        if error is not None:
            answer.set_exception(error)
            return
        said = done.result()
        try:
            reason = "stop" if said["ids"] and said["ids"][-1] in self.stop_ids else "length"
            generated = Generated(said["ids"], said["logprobs"], reason, said["cached"])
            self.sampled_tokens += len(said["ids"])
        except (KeyError, TypeError) as broken:
            answer.set_exception(RuntimeError(f"vLLM's process gave an answer that cannot be read: {broken!r}"))
            return
        answer.set_result(generated)

    def _start(self, model: str, module: Any, options: dict[str, Json]) -> None:
        print("vLLM is starting; this takes minutes with a large model", file=sys.stderr, flush=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        dtype = str(module.get_input_embeddings().weight.dtype).removeprefix("torch.")
        common = {"max_model_len": self.context, "dtype": dtype, "seed": 0, "gpu_memory_utilization": self._memory}
        device = ON_GPU if torch.cuda.is_available() else ON_CPU
        log = self._folder.parent / run_files.VLLM_LOG
        self._process = VllmProcess(self._python, model, {**common, **options, **device}, log)

    def _hand_over(self, line: dict[str, Json]) -> None:
        assert self._process is not None
        try:
            self._process.ask(line)[1].result(HAND_OVER_S)
        except Exception as error:
            raise TrainingError(f"vLLM did not take {next(iter(line))}: {error}") from error

    def _rank(self) -> int:
        """Returns the lowest rank in `RANKS` that fits the adapter."""
        rank = max(config.r for config in self._model.peft_config.values())
        return next((each for each in RANKS if each >= rank), rank)

    def _write_adapter(self) -> Path:
        """Writes the adapter to a new folder, and deletes the previous one."""
        before = self._folder / f"adapter-{self._adapters}"
        self._adapters += 1
        adapter = self._folder / f"adapter-{self._adapters}"
        self._model.save_pretrained(adapter, selected_adapters=["default"])
        shutil.rmtree(before, ignore_errors=True)
        return adapter

    def _write_weights(self) -> None:
        """Writes configuration and weights; those that vLLM has open are replaced, not changed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._model.config.save_pretrained(self._folder)
        weights = {name: value.detach().contiguous() for name, value in self._model.state_dict().items()}
        if self._model.config.tie_word_embeddings:
            weights.pop("lm_head.weight", None)
        unfinished = self._folder / "unfinished"
        save_file(weights, unfinished, metadata={"format": "pt"})
        unfinished.replace(self._folder / "model.safetensors")
