"""The entry point of a Ray job that runs verl's SFT on the rows that our own SFT trains on.

    python -m rehearsal_trainer.backends.verl.sft_job --config sft.json [--resume]

It starts in the same folder and sends back the same files as job.py.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rehearsal_trainer.backends.verl import job
from rehearsal_trainer.backends.verl.cluster_config import (
    SFT_PROFILES,
    SftClusterConfig,
    check_rows,
    check_sft_cluster,
)
from rehearsal_trainer.backends.verl.metrics import MetricsFile
from rehearsal_trainer.backends.verl.mirror import Mirror
from rehearsal_trainer.backends.verl.sft_settings import TRAINER, SftPlaces, sft_settings, validates_every
from rehearsal_trainer.backends.verl.verl_settings import with_options
from rehearsal_trainer.metrics.measurements import Cadence
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.settings.configuration import read_config
from rehearsal_trainer.sft.config import steps_of
from rehearsal_trainer.sft.examples import Examples
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.failures import ConfigurationError, ModelError, TrainingError, reported
from rehearsal_trainer.values.messages import Json


def main(argv: Sequence[str]) -> int:
    """Runs the job until training is over, it fails, or it is stopped."""
    config, resume = read_config(
        SftClusterConfig, SFT_PROFILES, argv, "SFT with verl on this Ray cluster.", check_here, needs=needs
    )
    tokenizer, examples = examples_of(config)
    folder = job.folder_of(config, resume)
    mirror = Mirror(folder)
    try:
        with RunFolder(folder, "sft", replace(config, run=str(folder)), resume, job.reached(folder), "verl") as run:
            run.stop_on_signals()
            run.watch(config.alarms, config.pause_on)
            run.report_to(config.report_to)
            steps = steps_of(config, len(examples.rows))
            run.event("examples", **examples.counts(), steps=steps)
            train(run, mirror, verl_config(config, run.path, tokenizer, examples, steps), examples)
    finally:
        job.tell(mirror)
    return 0


def check_here(config: SftClusterConfig) -> None:
    """Refuses a run that verl can't train on this cluster, or whose rows do not fill a batch."""
    check_sft_cluster(config)
    job.check_gpus(config)
    if all(Path(each).exists() for each in config.recordings):  # missing ones are recorded before the run begins
        try:
            examples_of(config)
        except (TrainingError, ModelError) as error:
            raise ConfigurationError(str(error)) from error


def needs(config: SftClusterConfig) -> dict[str, Json]:
    """Returns the requirements of the run; ConfigurationError for an option that verl's SFT does not have."""
    return job.needs(config, TRAINER)


def examples_of(config: SftClusterConfig) -> tuple[Any, Examples]:
    """Returns the tokenizer with the run's chat template, and the rows; ConfigurationError for too few rows."""
    from rehearsal_trainer.gateway.serving import chat_of
    from rehearsal_trainer.models.loading import load_tokenizer

    tokenizer = load_tokenizer(config.model)
    examples = Examples.of(
        config, chat_of(config.model, tokenizer, config.dialect, config.thinking, config.exact_history)
    )
    check_rows(config, len(examples.rows), len(examples.validation))
    return tokenizer, examples


def verl_config(config: SftClusterConfig, folder: Path, tokenizer: Any, examples: Examples, steps: int) -> Any:
    """Writes the rows and the tokenizer of the run, and returns verl's configuration."""
    from rehearsal_trainer.backends.verl.configured import configured
    from rehearsal_trainer.backends.verl.sft_rows import write_rows
    from rehearsal_trainer.models.loading import model_folder

    data, checkpoints = folder / "data", str(folder / run_files.CHECKPOINTS)
    validation = str(data / "validation.parquet") if examples.validation else None
    places = SftPlaces(str(data / "rows.parquet"), validation, str(data / "tokenizer"), checkpoints, folder.name)
    write_rows(examples.rows, places.rows)
    if validation:
        write_rows(examples.validation, validation)
    tokenizer.save_pretrained(places.tokenizer)
    config = replace(config, model=model_folder(config.model))
    return configured(with_options(config, sft_settings(config, places, steps)), TRAINER)


def train(run: RunFolder, mirror: Mirror, verl: Any, examples: Examples) -> None:
    """Starts verl and follows it until it ends."""
    job.tell(mirror)
    logged = job.connect(verl, run)
    ending = start(verl)
    lines = StepLines(logged, verl.trainer.total_training_steps, bool(examples.validation))
    first = {"too_long": examples.too_long_share}

    def write_metrics() -> None:
        for step, values in lines.fresh():
            run.metrics(step, values | (first if step == 1 else {}))

    job.follow(ending, run, mirror, write_metrics)


def start(verl: Any) -> Any:
    """Starts verl's trainer on this machine, which has the run's folder; returns the reference of its task."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from rehearsal_trainer.backends.verl.sft_trainer import SftRunner

    here = NodeAffinitySchedulingStrategy(node_id=ray.get_runtime_context().get_node_id(), soft=False)
    # It mostly waits for the workers, so it does not reserve a core.
    runner: Any = ray.remote(SftRunner).options(num_cpus=0, scheduling_strategy=here).remote()
    return runner.run.remote(verl)


class StepLines:
    """Joins verl's metrics into one line per optimizer step: verl writes the validation loss on a separate line."""

    def __init__(self, path: Path, steps: int, validates: bool) -> None:
        self._file = MetricsFile(path)
        self._cadence = Cadence(validates_every(steps), steps) if validates else None
        self._open: tuple[int, dict[str, float]] | None = None

    def fresh(self) -> list[tuple[int, dict[str, float]]]:
        """Returns the steps that are complete: number and metrics."""
        complete = []
        for step, values in self._file.fresh():
            if self._open and self._open[0] == step:
                values, self._open = self._open[1] | values, None
            elif self._cadence and self._cadence.is_due(step):
                self._open = (step, values)
                continue
            complete.append((step, values))
        return complete


if __name__ == "__main__":
    sys.exit(reported(main, sys.argv[1:]))
