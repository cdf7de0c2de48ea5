"""What is measured in an optimizer step beside the log of the trainer that computes it, and when. Torch-free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Evaluate = Callable[[int], Mapping[str, float]]
"""Evaluates after an optimizer step (0: before the first) where one is due; what it measured, or nothing."""


@dataclass(frozen=True)
class Cadence:
    """When something of a run is measured: before it, every so many optimizer steps, and after its last."""

    every: int
    steps: int

    def is_due(self, step: int) -> bool:
        """Whether it is measured after this optimizer step."""
        return step % self.every == 0 or step == self.steps


@dataclass(frozen=True)
class Drift:
    """How far sampler and trainer disagree about the sampled tokens of a micro-batch.

    `mean` and `largest` are of the absolute differences of their log-probabilities, in nats; the ratios are those of
    the trainer's probability to the sampler's. `truncated` is the share of tokens whose ratio is above
    `importance_sampling_cap`, or None without a cap.
    """

    mean: float
    largest: float
    mean_ratio: float
    largest_ratio: float
    truncated: float | None


@dataclass
class Measurements:
    """What was measured and waits for the optimizer step's line."""

    values: dict[str, float] = field(default_factory=dict)
    drifts: list[Drift] = field(default_factory=list)
    """Holds the drift of each micro-batch."""

    def taken(self) -> dict[str, float]:
        """What was measured since the last call."""
        values = self.values
        if count := len(self.drifts):
            values = {
                **values,
                "drift": sum(each.mean for each in self.drifts) / count,
                "drift_max": max(each.largest for each in self.drifts),
                "sampler_ratio": sum(each.mean_ratio for each in self.drifts) / count,
                "sampler_ratio_max": max(each.largest_ratio for each in self.drifts),
            }
            shares = [each.truncated for each in self.drifts if each.truncated is not None]
            values |= {"sampler_truncated": sum(shares) / count} if shares else {}
        self.values = {}
        self.drifts.clear()
        return values
