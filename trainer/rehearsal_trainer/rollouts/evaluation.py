"""Evaluates a model while it trains, on tasks that it does not train on, with a separate user and basis.

The results are metrics such as `evaluate/reward` over all trained domains, and `evaluate/<domain>/reward` for each
domain if there are several or if it is held out. Torch-free.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rehearsal_trainer.metrics.measurements import Cadence
from rehearsal_trainer.rollouts.evaluation_batch import EvaluationBatch, play_batch
from rehearsal_trainer.rollouts.rollout_metrics import OF_A_DOMAIN, measure
from rehearsal_trainer.rollouts.rollouts import PlayedRollout
from rehearsal_trainer.rollouts.success_rate import success_rate
from rehearsal_trainer.rollouts.task_sets import TaskSet
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.lines import read_lines
from rehearsal_trainer.values.messages import Json

if TYPE_CHECKING:
    from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
    from rehearsal_trainer.runs.run_folder import RunFolder


class Evaluation:
    """The evaluations of a run."""

    def __init__(
        self,
        run: RunFolder,
        worker: RolloutWorker,
        sets: Sequence[TaskSet],
        cadence: Cadence,
        seed: int,
        batch: EvaluationBatch,
    ) -> None:
        self._run, self._worker, self._sets = run, worker, sets
        self._cadence, self._seed, self._batch = cadence, seed, batch
        self._before = first_evaluations(run.path / run_files.EVENTS)

    @classmethod
    def of(
        cls,
        config: Any,
        run: RunFolder,
        worker: RolloutWorker,
        sets: Sequence[TaskSet],
        steps: int,
    ) -> Self:
        """Returns the evaluations of a run with this configuration and this many optimizer steps."""
        batch = EvaluationBatch("evaluate", Sampling.of(config), config.evaluate_trials)
        return cls(run, worker, sets, Cadence(config.evaluate_every, steps), config.seed, batch)

    def __call__(self, step: int) -> dict[str, float]:
        """Evaluates if it is due after this optimizer step, and returns the metrics or an empty mapping."""
        is_known = step == 0 and bool(self._before)
        return {} if is_known or not self._cadence.is_due(step) else self._measured(step)

    def _measured(self, step: int) -> dict[str, float]:
        started = time.monotonic()
        generator = self._worker.gateway.generator
        generator.refresh()
        trained: list[PlayedRollout] = []
        values: dict[str, float] = {}
        for each in self._sets:
            folder = self._run.path / run_files.evaluation_folder(step, each.name)
            played = play_batch(self._worker, each.settings, folder, self._seed, each.tasks, self._batch)
            found = report_evaluation(self._run, step, each, played)
            if not found:
                continue
            before = self._before.setdefault(each.name, found)
            if each.is_held_out and (message := regression_warning(each.name, step, before, found)):
                self._run.event("warning", code="held-out-fell", step=step, domain=each.name, message=message)
            if not each.is_held_out:
                trained += played
            if each.is_held_out or sum(not one.is_held_out for one in self._sets) > 1:
                values |= prefixed_metrics(f"evaluate/{each.name}", played, OF_A_DOMAIN)
        generator.suspend()
        return values | prefixed_metrics("evaluate", trained) | {"evaluate/seconds": time.monotonic() - started}


def report_evaluation(
    run: RunFolder, step: int, one: TaskSet, played: Sequence[PlayedRollout]
) -> Mapping[str, Json] | None:
    """Writes the result of a domain as an event and returns it; None, with a warning, if nothing could be scored."""
    found = success_rate(played)
    fields = {name: value for name, value in found.items() if name != "by_kind"}
    run.event("evaluated", step=step, domain=one.name, held_out=one.is_held_out, **fields)
    if found["rollouts"]:
        return found
    said = next((each.result.failure.message for each in played if each.result.failure), "no reason given")
    message = f"optimizer step {step}: no rollout of the evaluation on {one.name} could be scored: {said}"
    run.event("warning", message=message)
    return None


def prefixed_metrics(prefix: str, played: Sequence[PlayedRollout], kept: Sequence[str] = ()) -> dict[str, float]:
    """Returns the metrics of rollouts (all, or those in `kept`) as `<prefix>/<metric>`, and their success interval."""
    low, high = success_rate(played)["interval"]
    values = {f"{prefix}/{name}": value for name, value in measure(played).items() if name in kept or not kept}
    return {**values, f"{prefix}/success_low": low, f"{prefix}/success_high": high} if played else {}


def regression_warning(name: str, step: int, before: Mapping[str, Json], now: Mapping[str, Json]) -> str | None:
    """Returns a warning if the success rate has fallen below the interval that it had before training."""
    low = before["interval"][0]
    if before["success"] is None or now["success"] is None or now["success"] >= low:
        return None
    return (
        f"optimizer step {step}: the held-out domain {name} has fallen to {100 * now['success']:.0f} % "
        f"({now['right']} of {now['rollouts']} rollouts); before training it was {100 * before['success']:.0f} %, "
        f"95 % interval over tasks from {100 * low:.0f} %. Raise beta, lower learning_rate, or train on it "
        "with a small weight"
    )


def first_evaluations(events: Path) -> dict[str, Mapping[str, Json]]:
    """Returns the first evaluation of each domain in a run's events."""
    found: dict[str, Mapping[str, Json]] = {}
    for event in read_lines(events):
        if event.get("type") == "evaluated":
            found.setdefault(event["domain"], event)
    return found
