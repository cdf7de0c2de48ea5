"""What is measured in an optimizer step beside the log of the trainer that computes it. Torch-free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Evaluate = Callable[[int], Mapping[str, float]]
"""Evaluates after an optimizer step (0: before the first) where one is due; what it measured, or nothing."""


@dataclass
class Measurements:
    """What was measured and waits for the optimizer step's line."""

    values: dict[str, float] = field(default_factory=dict)
    differences: list[tuple[float, float]] = field(default_factory=list)
    """Of each micro-batch, the mean and the largest difference of sampled and recomputed log-probabilities."""

    def taken(self) -> dict[str, float]:
        """What was measured since the last call."""
        values = self.values
        if self.differences:
            means, largest = zip(*self.differences, strict=True)
            values = {**values, "drift": sum(means) / len(means), "drift_max": max(largest)}
        self.values = {}
        self.differences.clear()
        return values
