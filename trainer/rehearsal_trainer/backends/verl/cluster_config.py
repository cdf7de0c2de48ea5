"""What a GRPO run on a cluster depends on: that of every GRPO run, and machines with verl on them.

Torch-free, and without verl and Ray.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from rehearsal_trainer.failures import ConfigurationError
from rehearsal_trainer.grpo_config import ALGORITHMS as GRPO_ALGORITHMS
from rehearsal_trainer.grpo_config import PROFILES as GRPO_PROFILES
from rehearsal_trainer.grpo_config import Config, check_purpose
from rehearsal_trainer.messages import Json
from rehearsal_trainer.setting import Setting


def _count(about: str, paper: str, verl: str) -> Setting:
    return Setting(about, paper=paper, verl=verl, least=1)


@dataclass(frozen=True)
class ClusterConfig(Config):
    """A GRPO run on a cluster. The machines are those of MUA-RL's script: 4 with 8 GPUs."""

    nodes: Annotated[int, _count("Machines that train.", "4", "trainer.nnodes")] = 4
    gpus_per_node: Annotated[int, _count("GPUs of each machine.", "8", "trainer.n_gpus_per_node")] = 8
    tensor_parallel: Annotated[
        int,
        _count(
            "GPUs that one copy of the model answers on.", "2", "actor_rollout_ref.rollout.tensor_model_parallel_size"
        ),
    ] = 2
    sequence_parallel: Annotated[
        int,
        _count(
            "GPUs that share one long row in training (Ulysses).",
            "4",
            "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
        ),
    ] = 4
    gpu_memory: Annotated[
        float,
        Setting(
            "The part of a GPU's memory that the model servers may take while they answer.",
            paper="0.8",
            verl="actor_rollout_ref.rollout.gpu_memory_utilization",
            above=0,
            most=1,
        ),
    ] = 0.8
    workers: Annotated[
        int,
        Setting(
            "Rollout workers, each with an engine beside it.",
            verl="actor_rollout_ref.rollout.agent.num_workers",
            least=1,
        ),
    ] = 8
    server: Annotated[
        Literal["vllm", "sglang"], Setting("What answers for the model.", verl="actor_rollout_ref.rollout.name")
    ] = "vllm"
    prompt_tokens: Annotated[
        int,
        Setting(
            "Room for the policy, the tools and the first message; the rest of `context` is for what follows.",
            unit="tokens",
            paper="5000",
            verl="data.max_prompt_length",
            least=16,
        ),
    ] = 5000
    storage: Annotated[
        str,
        Setting(
            "A folder of the cluster for the run's folder and its checkpoints; with several machines one that all see.",
            verl="trainer.default_local_dir",
        ),
    ] = "~/rehearsal-runs"


PROFILES: Mapping[str, Mapping[str, Json]] = {
    "paper": {},
    **{
        name: {
            **values,
            "nodes": 1,
            "gpus_per_node": 1,
            "tensor_parallel": 1,
            "sequence_parallel": 1,
            "gpu_memory": 0.5,
            "workers": 2,
            "prompt_tokens": 1536,
        }
        for name, values in GRPO_PROFILES.items()
        if name != "paper"
    },
}
"""`paper` is MUA-RL's recipe on its machines; the others fit one GPU."""

ALGORITHMS: Mapping[str, Mapping[str, Json]] = {
    name: {key: value for key, value in values.items() if key != "refills"} for name, values in GRPO_ALGORITHMS.items()
}
"""Those of the trainer, but that verl itself draws other groups in the place of those without variance."""


def check_cluster(config: ClusterConfig) -> None:
    """Refuses what verl can't run, before a machine is taken."""
    check_purpose(config)
    if not isinstance(config.domain, str) or config.held_out:
        raise ConfigurationError(
            "domain: on a cluster a run learns from one domain and is evaluated on it; train several elsewhere"
        )
    if config.format_reward or config.tool_reward:
        raise ConfigurationError(
            "format_reward, tool_reward: intermediate rewards are for this machine and SSH; a cluster has none"
        )
    if config.refills:
        raise ConfigurationError(
            "refills: on a cluster verl draws the groups (algorithm=dapo replaces those without variance)"
        )
    if config.vllm_python is not None:
        raise ConfigurationError("vllm_python: on a cluster verl's own servers answer (server=vllm); leave it out")
    if config.prompt_tokens >= config.context:
        raise ConfigurationError(
            f"prompt_tokens: {config.prompt_tokens} leaves nothing of the context of {config.context}"
        )
    gpus = config.nodes * config.gpus_per_node
    for name in ("tensor_parallel", "sequence_parallel"):
        if gpus % getattr(config, name):
            raise ConfigurationError(
                f"{name}: {getattr(config, name)} does not divide the {gpus} GPUs of nodes x gpus_per_node"
            )


def epochs_of(config: ClusterConfig, tasks: int) -> int:
    """Passes over the training tasks, enough for all optimizer steps where those are counted."""
    of_one = _steps_of_epoch(config, tasks)
    return -(-config.steps // of_one) if config.steps else math.ceil(config.epochs)


def steps_of(config: ClusterConfig, tasks: int) -> int:
    """Optimizer steps: as many as asked for, else as many as the epochs have."""
    return config.steps or epochs_of(config, tasks) * _steps_of_epoch(config, tasks)


def _steps_of_epoch(config: ClusterConfig, tasks: int) -> int:
    if tasks < config.tasks_per_step:
        raise ConfigurationError(
            f"tasks_per_step: a step of {config.tasks_per_step} tasks can't be filled from {tasks} training tasks, "
            "and verl leaves what doesn't fill a step out; lower it"
        )
    return tasks // config.tasks_per_step
