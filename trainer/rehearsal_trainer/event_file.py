"""TensorBoard's event files: the metrics of a run as scalars, for who wants to read them there. Torch-free."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rehearsal_trainer.failures import ConfigurationError


class EventFile:
    """A new event file in a folder; TensorBoard reads all files of the folder as one run."""

    def __init__(self, folder: Path) -> None:
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError as error:
            raise ConfigurationError(
                "tensorboard: the trainer's environment has no package for it; "
                "python3 trainer/setup_environment.py installs it"
            ) from error
        # Protocol buffers make their classes at run time, where no type checker sees them.
        self._event: Any = vars(event_pb2)["Event"]
        self._summary: Any = vars(summary_pb2)["Summary"]
        self._writer = EventFileWriter(str(folder))

    def write(self, step: int, time: float, values: Mapping[str, float]) -> None:
        """Appends what was measured in an optimizer step."""
        scalars = [self._summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._writer.add_event(self._event(wall_time=time, step=step, summary=self._summary(value=scalars)))

    def close(self) -> None:
        """Writes what is left and ends the file."""
        self._writer.close()
