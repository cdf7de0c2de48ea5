"""What computes the next logits: keys and values per session, over the live module's weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from torch import Tensor

Entry = tuple[str, list[int], int]
"""A session, the new ids it continues with, and after how many of them, counted from the last, logits are wanted."""


class Decoder(Protocol):
    """Keys and values of many sessions; every method is called with the model locked."""

    def extend(self, entries: Sequence[Entry]) -> Tensor:
        """Computes the new ids and returns the logits that are wanted, entry after entry: (wanted, vocabulary)."""
        ...

    def truncate(self, session: str, length: int) -> None:
        """Keeps the first `length` tokens of a session."""
        ...

    def copy(self, source: str | None, target: str, length: int) -> None:
        """Starts `target` with the first `length` tokens of `source`, or empty."""
        ...

    def drop(self, session: str) -> None:
        """Forgets a session, if it is there."""
        ...

    def refresh(self) -> None:
        """Takes over the live weights."""
        ...

    def adopt(self, model: Any) -> None:
        """Decodes for another module from now on, for instance the same one with a LoRA adapter around it."""
        ...
