"""Keeps what the workers played, on the machine of the run's folder: recordings, and what a step measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rehearsal_trainer.rollout_lines import write_summary
from rehearsal_trainer.rollouts import PlayedRollout, measure


class RolloutStore:
    """The rollouts of each step by task and member, so that one which is played again takes its own place."""

    def __init__(self, run: str) -> None:
        self.run = Path(run)
        self._played: dict[tuple[int, bool], dict[tuple[str, int], PlayedRollout]] = {}

    def take(self, step: int, is_evaluation: bool, played: PlayedRollout, recording: bytes | None) -> None:
        """Keeps a rollout; its recording lies in the step's folder when this returns."""
        request = played.request
        path = self._folder(step, is_evaluation) / f"{request.task}.{request.member}.traj.jsonl"
        if recording is not None:
            part = path.with_suffix(".part")
            part.write_bytes(recording)
            part.replace(path)
        kept = replace(played, result=replace(played.result, recording=str(path) if recording is not None else None))
        self._played.setdefault((step, is_evaluation), {})[request.task, request.member] = kept

    def finish(self, step: int, is_evaluation: bool) -> Mapping[str, float]:
        """Writes a step's summary and measures it; the step is forgotten. Nothing where nothing was played."""
        played = [rollout for _, rollout in sorted(self._played.pop((step, is_evaluation), {}).items())]
        if not played:
            return {}
        write_summary(self._folder(step, is_evaluation), played)
        return measure(played)

    def _folder(self, step: int, is_evaluation: bool) -> Path:
        folder = self.run / "trajectories" / f"{'evaluate' if is_evaluation else 'step'}-{step:06d}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder
