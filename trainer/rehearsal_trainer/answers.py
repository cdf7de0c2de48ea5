"""What a gateway asks for answers, whatever samples them: ids in, sampled ids out. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from rehearsal_trainer.session import Sampling


@dataclass(frozen=True)
class Generated:
    """Sampled ids (the end mark included, if it was reached) with one log-probability each."""

    ids: list[int]
    logprobs: list[float]
    finish_reason: str
    cached_tokens: int


class ContextExceededError(Exception):
    """The prompt leaves no room in the model's context; the message says how long both are."""


class Answerer(Protocol):
    """Samples the answers of many sessions."""

    def submit(self, session: str, prompt: Sequence[int], sampling: Sampling, seed: int) -> Future[Generated]:
        """Samples an answer to `prompt` (the whole row so far); the future fails with ContextExceededError."""
        ...

    def release(self, session: str) -> None:
        """Forgets what is kept of a session."""
        ...
