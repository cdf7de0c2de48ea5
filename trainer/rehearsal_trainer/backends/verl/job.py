"""The entry point of a Ray job that trains GRPO with verl on rollouts of the engine.

    python -m rehearsal_trainer.backends.verl.job --config grpo.json [--resume]

It starts in the folder that Ray unpacked on the cluster, which holds the engine, this package and the domain. The run's
folder and verl's checkpoints are in `storage`/<name of the run>, where a resumed run finds its checkpoints. The files
of the run's folder are also sent in the job's log (mirror.py).
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rehearsal_trainer.backends.verl.cluster_config import (
    PROFILES,
    ClusterConfig,
    SftClusterConfig,
    check_cluster,
    steps_of,
)
from rehearsal_trainer.backends.verl.metrics import MetricsFile
from rehearsal_trainer.backends.verl.mirror import Mirror
from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan, node_of_wheel
from rehearsal_trainer.backends.verl.sft_settings import SftPlaces, sft_settings
from rehearsal_trainer.backends.verl.steps import Steps
from rehearsal_trainer.backends.verl.verl_settings import Places, verl_settings, with_options
from rehearsal_trainer.grpo.config import ALGORITHMS
from rehearsal_trainer.grpo.task_sets import evaluated_sets, refuse_overlap, trained_sets
from rehearsal_trainer.rollouts.engine import running
from rehearsal_trainer.rollouts.task_sets import TaskSet, report_task_sets
from rehearsal_trainer.runs import preflight
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.settings.configuration import read_config
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.bounded_file import TEXT, read_text
from rehearsal_trainer.values.failures import ConfigurationError, TrainingError, reported
from rehearsal_trainer.values.messages import Json

STORE = "rehearsal-store"
"""The name of the actor that keeps the rollouts."""
POLL_S = 1.0
"""Seconds between two checks for new metrics and checkpoints."""


def main(argv: Sequence[str]) -> int:
    """Runs the job until training is over, it fails, or it is stopped."""
    config, resume = read_config(
        ClusterConfig, PROFILES, argv, "GRPO with verl on this Ray cluster.", check_here, ALGORITHMS, needs
    )
    folder = folder_of(config, resume)
    mirror = Mirror(folder)
    try:
        with RunFolder(folder, "grpo", replace(config, run=str(folder)), resume, reached(folder), "verl") as run:
            run.stop_on_signals()
            run.watch(config.alarms, config.pause_on)
            run.report_to(config.report_to)
            train(config, run, mirror)
    finally:
        tell(mirror)
    return 0


def train(config: ClusterConfig, run: RunFolder, mirror: Mirror) -> None:
    """Starts verl and follows it until it ends."""
    tell(mirror)
    [trained], evaluated = sets_of(config, run)
    verl = verl_config(config, run.path, trained, evaluated)
    logged = connect(verl, run)
    import ray

    runner, store = start(verl, run.path, trained.name)
    ending = runner.run.remote(verl)
    measured, steps = MetricsFile(logged), Steps(run, [trained], evaluated, config.alarms, config.user_prices)

    def write_metrics() -> None:
        for step, values in measured.fresh():
            played, tested = ray.get([store.finish.remote(step, is_tested) for is_tested in (False, True)])
            run.metrics(step, values | steps.measured(step, played, tested))
        steps.watch(ray.get(store.waiting.remote()))

    follow(ending, run, mirror, write_metrics)


def connect(verl: Any, run: RunFolder) -> Path:
    """Connects to Ray, and returns the file that verl will log its metrics to."""
    import ray

    ray.init(address="auto", log_to_driver=True, runtime_env={"env_vars": environment_of(verl, run.path)})
    run.stop_on_signals()  # again: Ray replaces the handler of SIGTERM when it connects
    logged = run.path / "verl.jsonl"
    logged.unlink(missing_ok=True)  # of the previous attempt
    return logged


def follow(ending: Any, run: RunFolder, mirror: Mirror, write_metrics: Callable[[], None]) -> None:
    """Follows verl until it ends or the run should stop, and writes events for each checkpoint and the end.

    `ending` is the reference of verl's task. `write_metrics` is called every `POLL_S` seconds.
    TrainingError if verl ends with an error.
    """
    import ray
    from ray.exceptions import RayTaskError

    checkpoint = reached(run.path)
    try:
        while True:
            ready, _ = ray.wait([ending], timeout=POLL_S)
            write_metrics()
            if reached(run.path) > checkpoint:
                checkpoint = reached(run.path)
                run.event("checkpoint", step=checkpoint, path=run_files.checkpoint_name(checkpoint))
            tell(mirror)
            if ready:
                ray.get(ending)
                run.event("finished", step=checkpoint, path=run_files.checkpoint_name(checkpoint))
                return
            if run.should_stop():
                run.ended_early(checkpoint)
                return
    except RayTaskError as error:
        raise TrainingError(f"verl ended with an error: {last_line(str(error))}") from error


class EngineTasks:
    """Lists the tasks of domains with an engine that is started for each request."""

    def __init__(self, config: ClusterConfig) -> None:
        self.config = config
        os.environ.setdefault("REHEARSAL_NODE", node_of_wheel())

    def tasks(self, domain: str, split: str | None) -> list[dict[str, Json]]:
        """Returns the tasks of a domain's split."""
        return asyncio.run(self._ask(domain, split))

    async def _ask(self, domain: str, split: str | None) -> list[dict[str, Json]]:
        async with running(self.config.engine_command, self.config.engine_cwd) as engine:
            return await engine.tasks(domain, split)


def sets_of(config: ClusterConfig, run: RunFolder) -> tuple[list[TaskSet], list[TaskSet]]:
    """Returns the tasks to train on and those to evaluate on, and records them in the run's events.

    ConfigurationError if a task is in both.
    """
    lister = EngineTasks(config)
    trained, evaluated = trained_sets(config, lister), evaluated_sets(config, run, lister)
    refuse_overlap(trained, evaluated)
    report_task_sets(run, trained, evaluated, sum(steps_of(config, len(each.tasks)) for each in trained))
    return trained, evaluated


def verl_config(config: ClusterConfig, folder: Path, trained: TaskSet, evaluated: Sequence[TaskSet]) -> Any:
    """Writes the data sets of the run, and returns verl's configuration."""
    from rehearsal_trainer.backends.verl.configured import configured
    from rehearsal_trainer.backends.verl.dataset import rows_of, write_rows
    from rehearsal_trainer.models.loading import model_folder

    data = folder / "data"
    places = Places(
        str(data / "train.parquet"), str(data / "test.parquet"), str(folder / run_files.CHECKPOINTS), folder.name
    )
    test = [task for each in evaluated for task in each.tasks]
    write_rows(rows_of(trained.name, trained.tasks, "train"), places.train_file)
    write_rows(rows_of(trained.name, test or trained.tasks[:1], "test"), places.test_file)
    config = replace(config, model=model_folder(config.model), evaluate_every=config.evaluate_every if test else 0)
    settings = verl_settings(config, places, RolloutPlan.of(config, STORE), len(trained.tasks))
    return configured(with_options(config, settings))


def folder_of(config: ClusterConfig | SftClusterConfig, resume: bool = False) -> Path:
    """Returns the run's folder on the cluster; ConfigurationError if a run to resume has no checkpoint there."""
    folder = Path(config.storage).expanduser() / Path(config.run).name
    if resume and not newest_of(folder).exists():
        raise ConfigurationError(
            f"{folder} on the cluster has no checkpoint to resume from: name the storage that the run was started with"
        )
    return folder


def needs(config: ClusterConfig | SftClusterConfig, trainer: str = "ppo_trainer") -> dict[str, Json]:
    """Returns the requirements of the run. Each checkpoint of verl holds the weights of the base and the trained ones.

    ConfigurationError for an option that this trainer of verl does not have.
    """

    def disk(size: preflight.Size) -> int:
        base = preflight.whole(config, size) if config.lora_rank else 0
        return preflight.checkpoints(config, size) + (config.keep_checkpoints + 1) * base

    if config.verl:
        from rehearsal_trainer.backends.verl.configured import configured

        configured(with_options(config, _example_of(config)), trainer)
    return preflight.needs(config, folder_of(config), disk, on_this_machine=False)


def _example_of(config: ClusterConfig | SftClusterConfig) -> dict[str, Json]:
    """Returns the settings of a run before its tasks and files are known, to check options against."""
    if isinstance(config, SftClusterConfig):
        return sft_settings(config, SftPlaces("", None, "", "", ""), 1)
    return verl_settings(config, Places("", "", "", ""), RolloutPlan.of(config, None), config.tasks_per_step)


def environment_of(verl: Any, folder: Path) -> dict[str, str]:
    """Returns the environment variables of every process of the run."""
    from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

    ours = {"TRANSFER_QUEUE_ENABLE": "1", "VERL_FILE_LOGGER_PATH": str(folder / "verl.jsonl")}
    return {**get_ppo_ray_runtime_env(verl)["env_vars"], **ours}


def check_here(config: ClusterConfig) -> None:
    """Refuses a run that verl can't train, or that needs more GPUs than the cluster has: verl would wait forever."""
    check_cluster(config)
    check_gpus(config)


def check_gpus(config: ClusterConfig | SftClusterConfig) -> None:
    """Raises ConfigurationError for a run that needs more GPUs than the cluster has."""
    import ray

    with ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR):
        have = int(ray.cluster_resources().get("GPU", 0))
    want = config.nodes * config.gpus_per_node
    if have < want:
        raise ConfigurationError(
            f"nodes, gpus_per_node: the run needs {config.nodes} x {config.gpus_per_node} GPUs, and the cluster has "
            f"{have}; set them to what the cluster has, or use a smaller profile"
        )


def start(verl: Any, folder: Path, domain: str) -> tuple[Any, Any]:
    """Starts verl's runner and our store on this machine, which has the run's folder, and returns both."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
    from verl.trainer.main_ppo import TaskRunnerV1

    from rehearsal_trainer.backends.verl.store import RolloutStore

    here = NodeAffinitySchedulingStrategy(node_id=ray.get_runtime_context().get_node_id(), soft=False)
    actor = ray.remote(RolloutStore).options(name=STORE, num_cpus=0, scheduling_strategy=here)
    store = actor.remote(str(folder), domain)
    runner: Any = TaskRunnerV1
    return runner.options(scheduling_strategy=here).remote(), store


def newest_of(folder: Path) -> Path:
    """Returns the file in which verl records the newest complete checkpoint."""
    return folder / run_files.CHECKPOINTS / "latest_checkpointed_iteration.txt"


def reached(folder: Path) -> int:
    """Returns the optimizer step of verl's last checkpoint; 0 without a checkpoint."""
    file = newest_of(folder)
    text = read_text(file, TEXT).strip() if file.exists() else ""
    return int(text) if text.isdigit() else 0


def tell(mirror: Mirror) -> None:
    """Writes new data of the run's folder into the job's log."""
    for line in mirror.lines():
        sys.stdout.write(f"{line}\n")  # one write: the output of workers can appear between two writes
    sys.stdout.flush()


def last_line(text: str) -> str:
    """Returns the last line of an error's text."""
    return text.strip().splitlines()[-1] if text.strip() else "no reason given"


if __name__ == "__main__":
    sys.exit(reported(main, sys.argv[1:]))
