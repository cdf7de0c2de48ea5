"""Writes the folder of a run, which every target produces and the dashboard reads.

docs/training-protocol.md, section 3, specifies it. Torch-free.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from rehearsal_trainer.metrics import alarms
from rehearsal_trainer.metrics.alarm_kind import RunKind
from rehearsal_trainer.processes import distributed
from rehearsal_trainer.processes.trainer_process import running_process
from rehearsal_trainer.runs.trackers import Reports
from rehearsal_trainer.settings.setting import Backend
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.bounded_file import TEXT, read_text, refuse_special_files
from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.lines import append_line, read_lines
from rehearsal_trainer.values.messages import Json


class RunFolder:
    """The folder of one run. Opening it writes `config.json` and the event `started` or `resumed`.

    As a context manager it writes an event for an error, and closes the folder. `reached` is the optimizer step of the
    checkpoint that a resumed run continues from; None means the folder's highest `checkpoint-<step>`. The advice of
    alarms names the options of `backend`.

    Of several processes that train together, only the first writes; the others read the folder, and their writes are
    dropped.
    """

    def __init__(
        self,
        path: str | Path,
        kind: RunKind,
        config: Any,
        resume: bool = False,
        reached: int | None = None,
        backend: Backend = "trl",
    ) -> None:
        self.path = Path(path)
        self._config = type(config)
        self._backend: Backend = backend
        self.kind: RunKind = kind
        self.stop_file = self.path / run_files.STOP
        self._stopped = False
        self._limits: alarms.Limits | None = None
        self._pause_on: list[str] = []
        self._rows: list[dict[str, float]] = []
        self._paused: alarms.Alarm | None = None
        self._reports: Reports | None = None
        self._writes = distributed.is_first()
        if not self._writes:
            self._reached, self.attempt = 0, 1
            return
        self._refuse_other_files()
        known = self._lines(run_files.METRICS)
        if (known or (kind == "evaluate" and self._has_rollouts())) and not resume:
            raise ConfigurationError(
                f"{self.path} already contains a run; resume it with --resume, or name another folder"
            )
        trainer = running_process(self.path / run_files.PID)
        if trainer not in (None, os.getpid()):
            raise ConfigurationError(
                f"{self.path} is being trained by process {trainer}; stop that first (a file named stop in the folder)"
            )
        self.attempt = 1 + max((int(line.get("attempt", 1)) for line in known), default=0) if resume else 1
        self.path.mkdir(parents=True, exist_ok=True)
        self.checkpoints.mkdir(exist_ok=True)
        self.stop_file.unlink(missing_ok=True)
        (self.path / run_files.PID).write_text(str(os.getpid()))
        values = {"kind": kind, **dataclasses.asdict(config)}
        (self.path / run_files.CONFIG).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
        # Metrics after the checkpoint are void, so a reader needs to know where the run continues.
        self._reached = (self._latest_step() or 0) if reached is None else reached
        incomplete = self._incomplete_steps() if reached is None else []
        after = {"step": self._reached, **({"incomplete": incomplete} if incomplete else {})} if resume else {}
        self.event("resumed" if resume else "started", kind=kind, attempt=self.attempt, **after)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            if isinstance(error, Exception):
                self.event("error", message=f"{type(error).__name__}: {error}")
        finally:
            self.close()

    @property
    def checkpoints(self) -> Path:
        """The folder of `checkpoint-<step>` and `final`."""
        return self.path / run_files.CHECKPOINTS

    def latest_checkpoint(self) -> Path | None:
        """Returns the complete checkpoint with the highest step, or None."""
        step = self._latest_step()
        return None if step is None else self.checkpoints / run_files.checkpoint_name(step)

    def trajectories(self, step: int) -> Path:
        """Creates and returns the folder of an optimizer step's recordings."""
        folder = self.path / run_files.step_folder(step)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def metrics(self, step: int, values: Mapping[str, float | None]) -> None:
        """Appends the metrics of a step, without values that are missing or not finite numbers.

        If the loss or its gradient is not finite, `not_finite` reports it.
        """
        if not self._writes:
            return
        measured = {
            name: value
            for name, value in values.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        }
        if any(name in values and name not in measured for name in ("loss", "grad_norm")):
            measured["not_finite"] = 1
        now = time.time()
        self._append(run_files.METRICS, {"step": step, "time": now, "attempt": self.attempt, **measured})
        if self._reports is not None:
            self._reports.write(step, now, measured)
        if self._limits is not None:
            self._raise_alarms({"step": step, **measured}, self._limits)

    def watch(self, limits: alarms.Limits, pause_on: Sequence[str]) -> None:
        """Starts checking every optimizer step for alarms; an alarm in `pause_on` requests a stop.

        Metrics of earlier attempts count up to the step at which the run continues.
        """
        last = self._reached if self.attempt > 1 else 0
        known = {int(line["step"]): line for line in self._lines(run_files.METRICS) if int(line["step"]) <= last}
        self._rows = [known[step] for step in sorted(known)]
        self._limits, self._pause_on = alarms.completed(limits), alarms.known(pause_on, self.kind)

    def report_to(self, names: Sequence[str]) -> None:
        """Starts sending every metric to these trackers, as a new run of the tracker for each attempt.

        ConfigurationError if one of them cannot start.
        """
        if not self._writes:
            return
        name = self.path.name if self.attempt == 1 else f"{self.path.name}, attempt {self.attempt}"
        settings = json.loads(read_text(self.path / run_files.CONFIG, TEXT))
        self._reports = Reports(names, self.path, name, settings, lambda words: self.log("warn", words))

    def raise_alarm(self, alarm: alarms.Alarm) -> None:
        """Writes an alarm with the recordings that show it, and requests a stop if the alarm pauses the run."""
        folder = run_files.step_folder(alarm.step)
        shown = alarms.recordings_of(alarm, self._lines(f"{folder}/{run_files.ROLLOUTS}"))
        pauses = alarm.name in self._pause_on
        advice = alarms.advice(alarm.name, self.kind, self._config, self._backend)
        self.event(
            "alarm", alarm=alarm.name, step=alarm.step, message=alarm.message, evidence=dict(alarm.evidence),
            recordings=[f"{folder}/{name}" for name in shown], advice=advice, pauses=pauses,
        )  # fmt: skip
        if pauses and self._paused is None:
            self._paused = alarm

    def _raise_alarms(self, row: dict[str, float], limits: alarms.Limits) -> None:
        self._rows.append(row)
        for alarm in alarms.raised(self._rows, limits, self.kind):
            self.raise_alarm(alarm)

    def ended_early(self, step: int) -> None:
        """Writes why the run ends before its last optimizer step: an alarm paused it, or a user stopped it."""
        if self._paused is None:
            self.event("stopped", step=step)
        else:
            self.event("paused", step=step, alarm=self._paused.name, message=self._paused.message)

    def event(self, kind: str, /, **fields: Json) -> None:
        """Appends an event."""
        self._append(run_files.EVENTS, {"time": time.time(), "type": kind, **fields})

    def log(self, level: str, message: str) -> None:
        """Writes warnings and errors of the engine as events."""
        if level in ("warn", "error"):
            self.event("warning", message=message)

    def stop_on_signals(self) -> None:
        """Makes SIGTERM and SIGINT request a stop, like the file `stop`."""

        def ask(_signal: int, _frame: object) -> None:
            self._stopped = True

        signal.signal(signal.SIGTERM, ask)
        signal.signal(signal.SIGINT, ask)

    def should_stop(self) -> bool:
        """Returns whether a user or an alarm has requested a stop."""
        return self._stopped or self._paused is not None or self.stop_file.exists()

    def close(self) -> None:
        """Closes the trackers, and removes the files `pid` and `stop`."""
        if self._reports is not None:
            self._reports.close()
        if not self._writes:
            return
        (self.path / run_files.PID).unlink(missing_ok=True)
        self.stop_file.unlink(missing_ok=True)

    def _latest_step(self) -> int | None:
        checkpoints = list(self.checkpoints.glob("*"))
        for each in checkpoints:
            refuse_special_files(each)
        steps = [run_files.checkpoint_step(each.name) for each in checkpoints if _is_whole(each)]
        return max((step for step in steps if step is not None), default=None)

    def _incomplete_steps(self) -> list[int]:
        """Returns the steps after the latest complete checkpoint whose checkpoint a trainer left incomplete."""
        folders = [*self.checkpoints.glob("*"), *(self.checkpoints / run_files.UNFINISHED).glob("*")]
        steps = {run_files.checkpoint_step(each.name) for each in folders}
        return sorted(step for step in steps if step is not None and step > self._reached)

    def _append(self, name: str, value: Mapping[str, Json]) -> None:
        if not self._writes:
            return
        append_line(self.path / name, value)

    def _refuse_other_files(self) -> None:
        """Raises ConfigurationError if the folder has files, and none that a start of a run writes first.

        The command line has the same rule (src/cli/options/outFolder.ts). It writes `launch.json` before the trainer
        starts.
        """
        names = sorted(each.name for each in self.path.iterdir()) if self.path.is_dir() else []
        if names and not any(_is_started(self.path / name) for name in (run_files.LAUNCH, run_files.EVENTS)):
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise ConfigurationError(
                f"{self.path} is not empty, and does not contain a run to continue: it has {', '.join(names[:3])}"
                f"{more}; name a new or an empty folder"
            )

    def _has_rollouts(self) -> bool:
        return any(file.stat().st_size for file in self.path.glob(f"{run_files.TRAJECTORIES}/*/{run_files.ROLLOUTS}"))

    def _lines(self, name: str) -> list[dict[str, Json]]:
        return read_lines(self.path / name)


def refuse_finished(run: str | Path, steps: int) -> None:
    """Raises ConfigurationError for a run that has finished this many optimizer steps."""
    events = read_lines(Path(run) / run_files.EVENTS)
    done = max((int(each.get("step", 0)) for each in events if each.get("type") == "finished"), default=0)
    if done >= steps:
        raise ConfigurationError(
            f"steps: {run} is finished after {done} of {steps} optimizer steps. To continue, choose more steps"
        )


def _is_started(file: Path) -> bool:
    """Returns whether the text of a file begins as the configuration or the events of a run."""
    try:
        text = read_text(file)
        value = json.loads(text if file.name == run_files.LAUNCH else text.partition("\n")[0])
    except (OSError, ValueError):
        return False
    return isinstance(value, dict) and ("run" in value or "type" in value)


def _is_whole(checkpoint: Path) -> bool:
    """Returns whether a checkpoint is complete: an older version of the trainer could leave a partial one."""
    try:
        json.loads(read_text(checkpoint / run_files.CHECKPOINT_STATE))
    except (OSError, ValueError):
        return False
    return True
