"""The protocol of decoders, which compute the next logits from the live weights and a session's keys and values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from torch import Tensor

Entry = tuple[str, list[int], int]
"""A session, its new ids, and the number of its last ids whose logits are wanted."""


class Decoder(Protocol):
    """Holds the keys and values of many sessions; every method is called with the model locked."""

    def extend(self, entries: Sequence[Entry]) -> Tensor:
        """Computes the new ids and returns the wanted logits, entry after entry: (wanted, vocabulary)."""
        ...

    def truncate(self, session: str, length: int) -> None:
        """Keeps the first `length` tokens of a session."""
        ...

    def copy(self, source: str | None, target: str, length: int) -> None:
        """Starts `target` with the first `length` tokens of `source`, or empty without a `source`."""
        ...

    def drop(self, session: str) -> None:
        """Removes a session, if it exists."""
        ...

    def refresh(self) -> None:
        """Takes over the live weights."""
        ...

    def adopt(self, model: Any) -> None:
        """Replaces the module to decode with, for example by the same one with a LoRA adapter around it."""
        ...
