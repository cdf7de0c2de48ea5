"""An answer of a model as it is sampled, and what gives one: a live model here, or a cluster's servers. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self


@dataclass(frozen=True)
class Sampling:
    """How answers are sampled, owned by the gateway whatever a client sends. Temperature 0 is greedy."""

    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 1024

    @classmethod
    def of(cls, config: object) -> Self:
        """That of a script's configuration, which calls the fields the same."""
        return cls(**{each.name: getattr(config, each.name) for each in fields(cls)})


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
    """What a gateway asks for answers."""

    def submit(self, session: str, prompt: Sequence[int], sampling: Sampling, seed: int) -> Future[Generated]:
        """Samples an answer to `prompt` (the whole row so far); the future fails with ContextExceededError."""
        ...

    def release(self, session: str) -> None:
        """Forgets what is kept for a session."""
        ...


class Sampler(Answerer, Protocol):
    """What answers with the weights of a live module."""

    sampled_tokens: int

    def refresh(self) -> None:
        """Takes over the live weights, and answers from now on."""
        ...

    def suspend(self) -> None:
        """Frees the memory that an update can use; nothing may be submitted until the next `refresh`."""
        ...

    def adopt(self, model: Any) -> None:
        """Samples for another module from now on, for instance the same one with a LoRA adapter around it."""
        ...

    def close(self) -> None:
        """Ends it; open requests fail."""
        ...
