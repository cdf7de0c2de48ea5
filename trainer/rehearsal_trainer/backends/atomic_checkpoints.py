"""Trains with checkpoints that are always complete: each is written in `unfinished/` and renamed when it is done."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from transformers import Trainer
from transformers.trainer_utils import sort_checkpoints

from rehearsal_trainer.models.loading import record_quantization
from rehearsal_trainer.processes import distributed
from rehearsal_trainer.values import run_files


class AtomicCheckpoints(Trainer):
    """Writes and deletes checkpoints so that a trainer that is killed never leaves part of one under its name."""

    _unfinished: Path | None = None
    """The folder that a checkpoint is being written to; None at other times."""

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """Writes nothing: TRL's card would name neither the base model nor the data."""

    def _get_output_dir(self, trial: Any) -> str:
        return super()._get_output_dir(trial) if self._unfinished is None else str(self._unfinished)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        assert self.args.output_dir is not None
        folder = Path(self.args.output_dir)
        self._unfinished = folder / run_files.UNFINISHED
        if self.args.should_save:
            shutil.rmtree(self._unfinished, ignore_errors=True)  # left by an attempt that was killed
        distributed.wait()  # every process adds its random state to what the first one writes
        try:
            super()._save_checkpoint(model, trial)
        finally:
            self._unfinished = None
        distributed.wait()
        if self.args.should_save:
            name = run_files.checkpoint_name(self.state.global_step)
            record_quantization(self.model, folder / run_files.UNFINISHED / name)
            publish_checkpoint(folder, name, self.args.save_total_limit)


def publish_checkpoint(folder: Path, name: str, kept: int | None = None) -> None:
    """Moves a complete folder from `unfinished/` to its place, and deletes all but the newest `kept` checkpoints.

    A folder that is replaced or deleted is moved away first, so it is never visible in part.
    """
    unfinished = folder / run_files.UNFINISHED
    if (folder / name).exists():
        (folder / name).rename(unfinished / f"replaced-{name}")
    (unfinished / name).rename(folder / name)
    checkpoints = sort_checkpoints(str(folder), use_mtime=True)
    for old in map(Path, checkpoints[:-kept] if kept else []):
        old.rename(unfinished / f"old-{old.name}")
    shutil.rmtree(unfinished)
