"""Reads which rollouts of a cold-start synthesis (`rehearsal synth`) are selected for training. Torch-free.

A synthesis is a folder with `selection.jsonl`, which has a line per rollout, and the recordings two folders below it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path

from rehearsal_trainer.values.bounded_file import read_text
from rehearsal_trainer.values.failures import TrainingError

NAME = "selection.jsonl"

Selection = Mapping[Path, frozenset[int]]
"""The accepted recordings, each with the steps of the agent to exclude from learning."""


def selection_in(folder: Path) -> Selection | None:
    """Returns the selection of a folder; None if it is not a synthesis, TrainingError for an invalid line."""
    path = (folder / NAME).resolve()
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else None


def selection_over(recording: Path) -> Selection | None:
    """Returns the selection of the synthesis that a recording belongs to, or None."""
    folders = recording.resolve().parents
    return selection_in(folders[2]) if len(folders) > 2 else None


@functools.lru_cache(maxsize=16)
def _read(path: Path, _changed: int) -> Selection:
    accepted: dict[Path, frozenset[int]] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            row = json.loads(line)
            recording, steps = path.parent / row["recording"], frozenset(map(int, row["withheld"]))
            if row["accepted"] is True:
                accepted[recording] = steps
        except (ValueError, KeyError, TypeError) as error:
            told = "expected a line of a selection; write it again with `rehearsal synth`"
            raise TrainingError(f"{path}:{number}: {told}") from error
    return accepted
