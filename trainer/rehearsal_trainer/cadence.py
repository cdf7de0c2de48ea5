"""At which optimizer steps of a run something is measured. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cadence:
    """When something of a run is measured: before it, every so many optimizer steps, and after its last."""

    every: int
    steps: int

    def is_due(self, step: int) -> bool:
        """Whether it is measured after this optimizer step."""
        return step % self.every == 0 or step == self.steps
