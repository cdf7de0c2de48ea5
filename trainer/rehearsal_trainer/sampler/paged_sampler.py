"""Samples from the live model on a GPU with the continuous batching of transformers.

A manager of transformers answers all requests with the same temperature and top-p together. It keeps keys and values in
pages, which conversations share as far as they have a common prefix. It starts with the first request after `refresh`
and ends with `suspend`, which frees its pages and restores the model's attention and mode.

transformers does not support a seed per request. A manager is seeded with the first request that it answers, and the
random number of a token depends on the other requests that are being answered. So on a GPU, the same seed can give
different answers. On a CPU, where cpu_decoder/ samples, it gives the same answers.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from typing import Any

import torch
from transformers import ContinuousBatchingConfig, GenerationConfig

from rehearsal_trainer.models.weights import without_adapters
from rehearsal_trainer.sampler.answers import ContextExceededError, Generated, Sampling
from rehearsal_trainer.sampler.paged_attention import NAME as PAGED_ATTENTION
from rehearsal_trainer.sampler.paged_attention import can_use_kernel, set_attention

PAGED = ("full_attention", "sliding_attention")
"""The kinds of attention whose keys and values transformers keeps in pages."""


def can_page(model: Any) -> bool:
    """Returns whether transformers supports continuous batching for a model, which excludes linear attention."""
    kinds = getattr(model.config.get_text_config(), "layer_types", None) or []
    return all(kind in PAGED for kind in kinds) and hasattr(without_adapters(model), "init_continuous_batching")


def _keep_cache_dtype(manager: Any) -> None:
    """Makes a manager store keys and values in the dtype of its cache, which is that of the weights.

    If float32 weights compute in bfloat16 (autocast, the profile `paper`), the values arrive in bfloat16, and the keys,
    after the rotation, in float32. transformers 5.23 copies them without a cast, which torch refuses.
    """
    create = manager._create_batch_processor

    def created() -> Any:
        processor = create()
        cache, update = processor.cache, processor.cache.update

        def cast(*, key_states: torch.Tensor, value_states: torch.Tensor, **where: Any) -> Any:
            keys, values = key_states.to(cache.dtype), value_states.to(cache.dtype)
            return update(key_states=keys, value_states=values, **where)

        cache.update = cast
        return processor

    manager._create_batch_processor = created


class PagedSampler:
    """Samples with transformers' continuous batching.

    options: options of transformers' ContinuousBatchingConfig, such as `num_blocks`, the number of pages of keys and
    values. By default the pages take most of the free memory.
    """

    def __init__(self, model: Any, stop_ids: Collection[int], context: int, **options: Any) -> None:
        self.stop_ids, self.context = stop_ids, context
        self.sampled_tokens = 0
        self._model, self._options = model, options
        self._manager: Any = None
        self._reader: threading.Thread | None = None
        self._kind: tuple[float, float] | None = None
        self._was_training, self._attention = False, ""
        self._numbers = itertools.count()
        self._open: dict[str, Future[Generated]] = {}
        """By the id of a request, which begins with its session."""
        self._lock = threading.RLock()

    def adopt(self, model: Any) -> None:
        """Samples for another module from now on, for instance the same one with a LoRA adapter around it."""
        self.suspend()
        self._model = model

    def refresh(self) -> None:
        """Takes over the live weights, and drops everything that was computed with the old ones."""
        self.suspend()

    def suspend(self) -> None:
        """Frees the memory of keys and values; open requests fail."""
        with self._lock:
            manager, reader, self._manager = self._manager, self._reader, None
        if manager is not None and reader is not None:
            manager.stop(block=True, hard_stop=True)
            reader.join()
            set_attention(without_adapters(self._model), self._attention)
            self._model.train(self._was_training)

    def close(self) -> None:
        """Ends the sampler; open requests fail."""
        self.suspend()

    def submit(self, session: str, prompt: Sequence[int], sampling: Sampling, seed: int) -> Future[Generated]:
        """Samples an answer to `prompt` (the whole row so far); the future fails with ContextExceededError."""
        answer: Future[Generated] = Future()
        answer.set_running_or_notify_cancel()  # only the sampled answer completes it, so a caller cannot cancel it
        room = self.context - len(prompt)
        if room <= 0:
            words = f"the conversation has {len(prompt)} tokens; the context holds {self.context}"
            answer.set_exception(ContextExceededError(words))
            return answer
        with self._lock:
            manager = self._manager_of(sampling, seed)
            name = f"{session} {next(self._numbers)}"
            self._open[name] = answer
            manager.add_request(list(prompt), name, min(sampling.max_tokens, room), eos_token_id=sorted(self.stop_ids))
            if not manager.is_running():  # it ended before it could take the request, so it will not answer
                self._fail(self._open.keys() & {name}, manager)
        return answer

    def release(self, session: str) -> None:
        """Cancels the open requests of a session, whose answers fail."""
        with self._lock:
            names = [name for name in self._open if name.rpartition(" ")[0] == session]
            answers = [(name, self._open.pop(name)) for name in names]
            manager = self._manager
        for name, answer in answers:
            if manager is not None:
                manager.cancel_request(name)
            answer.set_exception(RuntimeError("the session was closed"))

    def _manager_of(self, sampling: Sampling, seed: int) -> Any:
        """Returns the manager for this sampling; ends a manager for another sampling first, with its open requests."""
        kind = sampling.temperature, sampling.top_p
        if self._manager is not None and (kind != self._kind or not self._manager.is_running()):
            self.suspend()
        if self._manager is None:
            how: dict[str, Any] = {"do_sample": False}
            if sampling.temperature:
                how = {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
            options = ContinuousBatchingConfig(return_logprobs=True, seed=seed % 2**32, **self._options)
            module = without_adapters(self._model)
            self._was_training, self._kind = module.training, kind
            self._attention = module.config._attn_implementation
            if can_use_kernel(module):
                set_attention(module, PAGED_ATTENTION)
            self._manager = module.init_continuous_batching(
                GenerationConfig(eos_token_id=sorted(self.stop_ids), **how), options
            )
            _keep_cache_dtype(self._manager)
            self._manager.start()
            self._reader = threading.Thread(target=self._read, args=(self._manager,), name="answers", daemon=True)
            self._reader.start()
        return self._manager

    def _read(self, manager: Any) -> None:
        for output in manager:
            self._settle(output)
        while (output := manager.get_result(timeout=0)) is not None:
            self._settle(output)
        # Another manager starts only after this thread has ended, so all open requests belong to this one.
        self._fail(set(self._open), manager)

    def _settle(self, output: Any) -> None:
        answer = self._open.pop(output.request_id, None)
        if answer is None:
            return
        if output.error is not None:
            answer.set_exception(RuntimeError(output.error))
            return
        ids = output.generated_tokens
        self.sampled_tokens += len(ids)
        reason = "stop" if ids and ids[-1] in self.stop_ids else "length"
        answer.set_result(Generated(ids, output.logprobs, reason, 0))

    def _fail(self, names: Collection[str], manager: Any) -> None:
        error = manager.background_thread_status.fatal_error
        for name in names:
            if (answer := self._open.pop(name, None)) is not None:
                answer.set_exception(error or RuntimeError("the sampler was suspended"))
