"""Chooses the decoder of a model, and implements the one that works for every causal model of transformers.

`LlamaDecoder` covers the Llama family. `ModuleDecoder` covers every other model through its own forward, one session
after the other: correct, but slow.
"""

from __future__ import annotations

import copy as copying
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from rehearsal_trainer.models.loading import is_quantized
from rehearsal_trainer.sampler.cpu_decoder.decoder import Decoder, Entry
from rehearsal_trainer.sampler.cpu_decoder.llama_decoder import LlamaDecoder


def is_llama_like(model: Any) -> bool:
    """Returns whether a model has Llama's architecture: the same layers in the same order, with the same names."""
    return model.config.model_type in ("llama", "qwen2", "qwen3")


def decoder_for(model: Any) -> Decoder:
    """Returns the fastest decoder that is correct for this model."""
    config = model.config
    windowed = getattr(config, "use_sliding_window", False) or any(
        kind != "full_attention" for kind in getattr(config, "layer_types", None) or []
    )
    llama_like = is_llama_like(model) and not windowed
    plain = llama_like and config.hidden_act == "silu" and not is_quantized(model)
    return LlamaDecoder(model) if plain else ModuleDecoder(model)


@dataclass
class _Computed:
    """The computed state of a session. `cache` covers `ids`; None if it must be computed again."""

    ids: list[int] = field(default_factory=list)
    cache: Any = None


class ModuleDecoder:
    """Decodes any causal model of transformers through its own forward.

    Caches of linear attention and of sliding windows cannot be truncated: such a session is computed again from its
    ids.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._sessions: dict[str, _Computed] = {}

    def extend(self, entries: Sequence[Entry]) -> Tensor:
        training = self.model.training
        self.model.eval()
        device = next(self.model.parameters()).device
        rows = []
        for session, tokens, wanted in entries:
            computed = self._sessions.setdefault(session, _Computed())
            new = tokens if computed.cache is not None else [*computed.ids, *tokens]
            output = self.model(
                input_ids=torch.tensor([new], device=device),
                past_key_values=computed.cache,
                use_cache=True,
                logits_to_keep=wanted,
            )
            computed.ids, computed.cache = [*computed.ids, *tokens], output.past_key_values
            rows.append(output.logits[0, -wanted:])
        self.model.train(training)
        return torch.cat(rows)

    def truncate(self, session: str, length: int) -> None:
        computed = self._sessions.get(session)
        if computed is not None and length < len(computed.ids):
            self._sessions[session] = _Computed(computed.ids[:length], _cropped(computed.cache, length))

    def copy(self, source: str | None, target: str, length: int) -> None:
        self._sessions.pop(target, None)
        if source is not None and length:
            computed = self._sessions[source]
            cache = _cropped(copying.deepcopy(computed.cache), length)
            self._sessions[target] = _Computed(computed.ids[:length], cache)

    def drop(self, session: str) -> None:
        self._sessions.pop(session, None)

    def refresh(self) -> None:
        """Does nothing: the module itself computes, so its weights are always the live ones."""

    def adopt(self, model: Any) -> None:
        self.model = model


def _cropped(cache: Any, length: int) -> Any:
    """Returns a cache cut to its first tokens, or None if it cannot be cut."""
    if cache is None or length == 0:
        return None
    surplus = cache.get_seq_length() - length
    if surplus <= 0:
        return cache
    try:
        cache.crop(-surplus)
    except (NotImplementedError, ValueError, RuntimeError):
        return None
    return cache if cache.get_seq_length() == length else None
