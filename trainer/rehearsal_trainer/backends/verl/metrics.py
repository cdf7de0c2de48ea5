"""Renames verl's metrics to ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

METRIC_NAMES = {
    "actor/pg_loss": "loss",
    "actor/grad_norm": "grad_norm",
    "actor/lr": "learning_rate",
    "actor/kl_loss": "kl",
    "actor/entropy": "entropy",
    "actor/pg_clipfrac": "clipped",
    "rollout_corr/rollout_is_mean": "sampler_ratio",
    "rollout_corr/rollout_is_max": "sampler_ratio_max",
    "rollout_corr/rollout_is_ratio_fraction_high": "sampler_truncated",
    "critic/rewards/mean": "reward",
    "num_turns/mean": "turns",
    "response_length/clip_ratio": "truncated",
    "timing_s/step": "step_seconds",
    "timing_s/gen": "rollout_seconds",
    "timing_s/update_actor": "update_seconds",
    "timing_s/testing": "evaluate/seconds",
    "perf/throughput": "tokens_per_second_per_gpu",
    "perf/max_memory_allocated_gb": "gpu_memory",
    "train/loss": "loss",
    "train/grad_norm": "grad_norm",
    "train/lr": "learning_rate",
    "val/loss": "validation_loss",
}


def in_our_names(data: Mapping[str, object]) -> dict[str, float]:
    """Returns our metrics; verl's other metrics keep their own names, under `verl/`."""
    numbers = {name: float(value) for name, value in data.items() if isinstance(value, int | float)}
    ours = {METRIC_NAMES[name]: value for name, value in numbers.items() if name in METRIC_NAMES}
    return ours | {f"verl/{name}": value for name, value in numbers.items() if name not in METRIC_NAMES}


class MetricsFile:
    """The file that verl's file logger writes, read while it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0

    def fresh(self) -> Iterator[tuple[int, dict[str, float]]]:
        """Returns the complete lines that were added since the last call: optimizer step and metrics."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._read += len(line)
                value = json.loads(line)
                yield int(value["step"]), in_our_names(value["data"])
