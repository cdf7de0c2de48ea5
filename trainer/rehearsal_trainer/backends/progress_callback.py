"""Writes TRL's progress into a run's folder: its log as our metrics, its checkpoints as events."""

from __future__ import annotations

import time
from typing import Any

import torch
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from rehearsal_trainer.metrics.measurements import Evaluate, Measurements
from rehearsal_trainer.processes import distributed
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.values import run_files

METRIC_NAMES = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "kl": "kl",
    "entropy": "entropy",
    "reward_std": "reward_std",
    "clip_ratio/region_mean": "clipped",
    "clip_ratio/low_mean": "clipped_low",
    "clip_ratio/high_mean": "clipped_high",
    "mean_token_accuracy": "token_accuracy",
    "num_tokens": "tokens",
}
OF_NO_STEP = ("evaluate/seconds", "validation_seconds")
"""Times that are measured separately and not counted in the optimizer step that they follow."""


class ProgressCallback(TrainerCallback):
    """Writes metrics and checkpoints into the run's folder, and stops training on request."""

    def __init__(self, run: RunFolder, measured: Measurements, evaluate: Evaluate | None = None) -> None:
        self.run = run
        self.measured = measured
        self.evaluate = evaluate
        self._last = time.monotonic()

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: Any = None, **_: Any
    ) -> None:
        if not logs or "train_runtime" in logs:
            return
        now = time.monotonic()
        seconds = now - self._last - sum(self.measured.values.get(name, 0) for name in OF_NO_STEP)
        self._last = now
        known = {METRIC_NAMES[name]: value for name, value in logs.items() if name in METRIC_NAMES}
        values = {name: float(value) for name, value in known.items() if value is not None}
        values |= {**self.measured.taken(), **gpu_memory(), "step_seconds": seconds}
        if "rollout_seconds" in values:
            values["update_seconds"] = seconds - values["rollout_seconds"]
        self.run.metrics(state.global_step, values)
        # The metrics of this step can raise an alarm that pauses the run before the next step.
        self._end_if_asked(control)

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if self.evaluate and state.global_step == 0 and (values := self.evaluate(0)):
            self.run.metrics(0, values)
        self._last = time.monotonic()

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        # Runs before the line of the step is written, so that the line includes measurements of the new weights.
        if self.evaluate:
            self.measured.values |= self.evaluate(state.global_step)
        self._end_if_asked(control)

    def _end_if_asked(self, control: TrainerControl) -> None:
        if distributed.any_asked(self.run.should_stop()):
            control.should_training_stop = True
            control.should_save = True

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        step = state.global_step
        self.run.event("checkpoint", step=step, path=run_files.checkpoint_name(step))


def gpu_memory() -> dict[str, float]:
    """Returns the peak GPU memory in use since the last call, in GiB; empty without a GPU."""
    if not torch.cuda.is_available():
        return {}
    most = torch.cuda.max_memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    return {"gpu_memory": most / 2**30}
