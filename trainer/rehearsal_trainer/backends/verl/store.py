"""Keeps the recordings and the rollouts of each step on the machine that has the run's folder.

Torch-free.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rehearsal_trainer.rollouts.rollout_lines import write_summary
from rehearsal_trainer.rollouts.rollouts import PlayedRollout
from rehearsal_trainer.values import run_files


@dataclass(frozen=True)
class Waiting:
    """The unfinished rollouts of an optimizer step, and the seconds since a rollout last began or ended."""

    step: int
    rollouts: int
    seconds: float


class RolloutStore:
    """The rollouts of each step by task and member, so that a repeated rollout replaces the first one."""

    def __init__(self, run: str, domain: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.run = Path(run)
        self.domain = domain
        self._clock = clock
        self._news = clock()
        self._open: dict[tuple[int, bool], set[tuple[str, int]]] = {}
        self._played: dict[tuple[int, bool], dict[tuple[str, int], PlayedRollout]] = {}

    def begin(self, step: int, is_evaluation: bool, task: str, member: int) -> None:
        """Records that a rollout has started."""
        self._news = self._clock()
        self._open.setdefault((step, is_evaluation), set()).add((task, member))

    def drop(self, step: int, is_evaluation: bool, task: str, member: int) -> None:
        """Stops waiting for a rollout."""
        self._news = self._clock()
        self._open.get((step, is_evaluation), set()).discard((task, member))

    def take(self, step: int, is_evaluation: bool, played: PlayedRollout, recording: bytes | None) -> None:
        """Keeps a rollout, and writes its recording to the step's folder before it returns."""
        request = played.request
        path = self._folder(step, is_evaluation) / run_files.recording_name(request.task, request.member)
        if recording is not None:
            part = path.with_suffix(".part")
            part.write_bytes(recording)
            part.replace(path)
        kept = replace(played, result=replace(played.result, recording=str(path) if recording is not None else None))
        self.drop(step, is_evaluation, request.task, request.member)
        self._played.setdefault((step, is_evaluation), {})[request.task, request.member] = kept

    def waiting(self) -> Waiting | None:
        """Returns the unfinished rollouts of training; None if there are none."""
        left = {step: len(rollouts) for (step, is_evaluation), rollouts in self._open.items() if not is_evaluation}
        step = max((step for step, count in left.items() if count), default=None)
        return None if step is None else Waiting(step, left[step], self._clock() - self._news)

    def finish(self, step: int, is_evaluation: bool) -> list[PlayedRollout]:
        """Writes the summary of a step, returns its rollouts, and forgets the step."""
        self._open.pop((step, is_evaluation), None)
        played = [rollout for _, rollout in sorted(self._played.pop((step, is_evaluation), {}).items())]
        if played:
            write_summary(self._folder(step, is_evaluation), played)
        return played

    def _folder(self, step: int, is_evaluation: bool) -> Path:
        name = run_files.evaluation_folder(step, self.domain) if is_evaluation else run_files.step_folder(step)
        folder = self.run / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
