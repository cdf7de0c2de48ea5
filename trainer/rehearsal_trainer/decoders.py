"""Which decoder a model gets, and the one that is right for every causal model of transformers.

`LlamaDecoder` covers the Llama family. `ModuleDecoder` covers every other model through its own forward, one session
after the other: right, and slow.
"""

from __future__ import annotations

import copy as copying
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rehearsal_trainer.decoder import Decoder, Entry
from rehearsal_trainer.llama_decoder import LlamaDecoder


def is_llama_like(model: Any) -> bool:
    """Whether a model is built as Llama is: the same layers, in the same order, under the same names."""
    return model.config.model_type in ("llama", "qwen2", "qwen3")


def decoder_for(model: Any) -> Decoder:
    """The fastest decoder that is right for this model."""
    config = model.config
    windowed = getattr(config, "use_sliding_window", False) or any(
        kind != "full_attention" for kind in getattr(config, "layer_types", None) or []
    )
    llama_like = is_llama_like(model) and not windowed
    return LlamaDecoder(model) if llama_like and config.hidden_act == "silu" else ModuleDecoder(model)


class ModuleDecoder:
    """Any causal model of transformers, through its own forward."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._caches: dict[str, Any] = {}

    def extend(self, entries: Sequence[Entry]) -> Tensor:
        training = self.model.training
        self.model.eval()
        device = next(self.model.parameters()).device
        rows = []
        for session, tokens, wanted in entries:
            ids = torch.tensor([tokens], device=device)
            output = self.model(
                input_ids=ids, past_key_values=self._caches.get(session), use_cache=True, logits_to_keep=wanted
            )
            self._caches[session] = output.past_key_values
            rows.append(output.logits[0, -wanted:])
        self.model.train(training)
        return torch.cat(rows)

    def truncate(self, session: str, length: int) -> None:
        if length == 0:
            self._caches.pop(session, None)
        elif session in self._caches:
            _crop(self._caches[session], length)

    def copy(self, source: str | None, target: str, length: int) -> None:
        self._caches.pop(target, None)
        if source is not None and length:
            self._caches[target] = copying.deepcopy(self._caches[source])
            _crop(self._caches[target], length)

    def drop(self, session: str) -> None:
        self._caches.pop(session, None)

    def refresh(self) -> None:
        """The module itself is asked, so its weights are always the live ones."""

    def adopt(self, model: Any) -> None:
        self.model = model


def _crop(cache: Any, length: int) -> None:
    surplus = cache.get_seq_length() - length
    if surplus > 0:
        cache.crop(-surplus)
