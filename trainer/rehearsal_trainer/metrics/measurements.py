"""Measurements of an optimizer step that the trainer's own log does not have, and their schedule. Torch-free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Evaluate = Callable[[int], Mapping[str, float]]
"""Evaluates after an optimizer step (0: before the first) if it is due; returns the metrics, or an empty mapping."""


@dataclass(frozen=True)
class Cadence:
    """A schedule of measurements: before the run, every `every` optimizer steps, and after the last step."""

    every: int
    steps: int

    def is_due(self, step: int) -> bool:
        """Returns whether a measurement is due after this optimizer step."""
        return step % self.every == 0 or step == self.steps


@dataclass(frozen=True)
class Drift:
    """The disagreement of sampler and trainer about the sampled tokens of a micro-batch.

    `mean` and `largest` are the mean and the maximum of the absolute differences of their log-probabilities, in nats.
    The ratios are the trainer's probability divided by the sampler's. `truncated` is the share of tokens whose ratio is
    above `importance_sampling_cap`, or None without a cap.
    """

    mean: float
    largest: float
    mean_ratio: float
    largest_ratio: float
    truncated: float | None


@dataclass
class Measurements:
    """Collects measurements until the line of the optimizer step is written."""

    values: dict[str, float] = field(default_factory=dict)
    drifts: list[Drift] = field(default_factory=list)
    """The drift of each micro-batch."""

    def taken(self) -> dict[str, float]:
        """Returns the measurements since the last call, and clears them."""
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
