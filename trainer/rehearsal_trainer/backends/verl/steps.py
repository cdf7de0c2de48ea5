"""Derives metrics, events and alarms from the rollouts of a cluster's optimizer steps, as on every other target.

Torch-free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rehearsal_trainer.backends.verl.store import Waiting
from rehearsal_trainer.grpo.step import measured_in
from rehearsal_trainer.metrics import alarms
from rehearsal_trainer.rollouts.evaluation import prefixed_metrics, report_evaluation
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, groups_of
from rehearsal_trainer.rollouts.task_sets import TaskSet
from rehearsal_trainer.runs.run_folder import RunFolder


class Steps:
    """Measures finished rollouts, and watches those that are running."""

    def __init__(
        self,
        run: RunFolder,
        trained: Sequence[TaskSet],
        evaluated: Sequence[TaskSet],
        limits: alarms.Limits,
        user_prices: Mapping[str, float],
    ) -> None:
        self._run, self._trained, self._evaluated, self._limits = run, trained, evaluated, limits
        self._user_prices = user_prices
        self._stalled: int | None = None

    def measured(self, step: int, played: Sequence[PlayedRollout], tested: Sequence[PlayedRollout]) -> dict[str, float]:
        """Returns the metrics of a step's rollouts, and of an evaluation after the step."""
        values = measured_in(groups_of(played), self._trained, self._user_prices) if played else {}
        for each in self._evaluated if tested else []:
            if report_evaluation(self._run, step, each, tested):
                values |= prefixed_metrics("evaluate", tested)
        return values

    def watch(self, waiting: Waiting | None) -> None:
        """Raises the alarm for stalled rollouts, once per step."""
        if waiting is None or waiting.seconds < self._limits["idle_s"] or waiting.step == self._stalled:
            return
        self._stalled = waiting.step
        self._run.raise_alarm(alarms.stalled(waiting.step, waiting.rollouts, self._limits))
