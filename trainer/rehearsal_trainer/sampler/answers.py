"""The answer of a model, and the protocols of samplers: a live model here, or a cluster's servers. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self


@dataclass(frozen=True)
class Sampling:
    """The sampling of answers, which the gateway decides in a session. Temperature 0 is greedy."""

    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 1024

    @classmethod
    def of(cls, config: object) -> Self:
        """Returns the sampling of a command's configuration, whose fields have the same names."""
        return cls(**{each.name: getattr(config, each.name) for each in fields(cls)})


@dataclass(frozen=True)
class Generated:
    """Sampled ids (including the end token, if it was reached) with one log-probability each."""

    ids: list[int]
    logprobs: list[float]
    finish_reason: str
    cached_tokens: int


class ContextExceededError(Exception):
    """The prompt leaves no room in the model's context; the message has the length of both."""


class Answerer(Protocol):
    """Gives a gateway the answers of a model."""

    def submit(self, session: str, prompt: Sequence[int], sampling: Sampling, seed: int) -> Future[Generated]:
        """Samples an answer to `prompt` (the whole row so far); the future fails with ContextExceededError."""
        ...

    def release(self, session: str) -> None:
        """Releases the state of a session."""
        ...


class Sampler(Answerer, Protocol):
    """Answers with the weights of a live module."""

    sampled_tokens: int

    def refresh(self) -> None:
        """Takes over the live weights, and accepts requests again."""
        ...

    def suspend(self) -> None:
        """Frees memory for an update; no request may be submitted until the next `refresh`."""
        ...

    def adopt(self, model: Any) -> None:
        """Replaces the module to sample from, for example by the same one with a LoRA adapter around it."""
        ...

    def close(self) -> None:
        """Ends the sampler; open requests fail."""
        ...
