"""Plays one batch of an evaluation: rollouts of every task with the same sampling. Torch-free."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rehearsal_trainer.rollouts.rollout_lines import finished_before, line_of, write_summary
from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, RolloutSettings
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.lines import append_line


@dataclass(frozen=True)
class EvaluationBatch:
    """Rollouts of every task with one way of sampling; the name is that of their folder and of their result."""

    name: str
    sampling: Sampling
    trials: int


@dataclass(frozen=True)
class BatchProgress:
    """The numbers of rollouts of a batch that are played, planned and right (reward 1)."""

    part: str
    rollouts: int
    planned: int
    right: int


def play_batch(
    worker: RolloutWorker,
    settings: RolloutSettings,
    folder: Path,
    seed: int,
    tasks: Sequence[str],
    batch: EvaluationBatch,
    resumes: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[BatchProgress], None] = lambda _: None,
) -> list[PlayedRollout]:
    """Plays one batch of an evaluation, and writes its recordings and their summary to the folder.

    A rollout's line is written when it ends, so a batch that `resumes` does not repeat rollouts that an earlier process
    has finished. Rollouts that have not begun when `should_stop` returns True are left out. `on_progress` is called
    about eight times.
    """
    folder.mkdir(parents=True, exist_ok=True)
    requests = [
        RolloutRequest(
            task,
            trial,
            f"{seed}/{batch.name}/{task}/trial-{trial}",
            batch.sampling,
            settings,
            str((folder / run_files.recording_name(task, trial)).resolve()),
        )
        for trial in range(batch.trials)
        for task in tasks
    ]
    done = finished_before(folder, requests) if resumes else []
    write_summary(folder, done)
    known = {(each.request.task, each.request.member) for each in done}

    def note(rollout: PlayedRollout) -> None:
        done.append(rollout)
        append_line(folder / run_files.ROLLOUTS, line_of(rollout))
        if len(done) % max(1, len(requests) // 8) == 0:
            right = sum((each.result.reward or 0) >= 1 for each in done)
            print(f"{batch.name}: {len(done)} of {len(requests)} rollouts, {right} right", file=sys.stderr, flush=True)
            on_progress(BatchProgress(batch.name, len(done), len(requests), right))

    missing = [each for each in requests if (each.task, each.member) not in known]
    worker.play(missing, note, should_stop=should_stop)
    place = {(each.task, each.member): at for at, each in enumerate(requests)}
    played = sorted(done, key=lambda each: place[each.request.task, each.request.member])
    write_summary(folder, played)
    return played
