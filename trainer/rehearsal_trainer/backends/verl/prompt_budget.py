"""Limits the groups that an optimizer step plays on a cluster. Torch-free, and without verl and Ray."""

from __future__ import annotations

from rehearsal_trainer.values.failures import TrainingError


class PromptBudget:
    """Ends a run whose groups are replaced without a limit.

    With DAPO verl plays up to two other tasks for each group without a difference in reward, at most one batch ahead,
    and discards the surplus. It sets no limit, so a model that never succeeds never finishes the step.
    """

    def __init__(self, limit: int) -> None:
        """`limit`: the most groups of an optimizer step; 0 sets none."""
        self.limit = limit
        self._step, self._spent = 0, 0

    def spend(self, step: int, groups: int) -> None:
        """Counts groups that are about to be played; TrainingError where the step would have more than the limit."""
        self._spent = groups if step != self._step else self._spent + groups
        self._step = step
        if self.limit and self._spent > self.limit:
            raise TrainingError(
                f"optimizer step {step} has played {self.limit} groups, and too few of them have a difference in "
                "reward. Start with SFT or with easier tasks, or set refills higher"
            )
