"""Configurations of runs on a cluster: those of GRPO and SFT, and the settings of the machines that run verl.

Torch-free. Needs neither verl nor Ray.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from rehearsal_trainer.grpo.config import PROFILES as GRPO_PROFILES
from rehearsal_trainer.grpo.config import Config, check_purpose
from rehearsal_trainer.settings import keys
from rehearsal_trainer.settings.loading_options import is_computed, texts_within
from rehearsal_trainer.settings.setting import Setting
from rehearsal_trainer.sft import config as sft
from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.messages import Json


def _count(about: str, paper: str, verl: str, verl_sft: str | None = None) -> Setting:
    return Setting(about, paper=paper, verl=verl, verl_sft=verl_sft, ge=1)


Nodes = Annotated[int, _count("Machines that train.", "4", "trainer.nnodes")]
GpusPerNode = Annotated[int, _count("GPUs of each machine.", "8", "trainer.n_gpus_per_node")]
SequenceParallel = Annotated[
    int,
    _count(
        "GPUs that share one long row in training (Ulysses).",
        "4",
        "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
        "engine.ulysses_sequence_parallel_size",
    ),
]
Storage = Annotated[
    str,
    Setting(
        "A folder on the cluster for the run's folder and its checkpoints. With several machines, all must see it.",
        verl="trainer.default_local_dir",
    ),
]
HOME = "~/rehearsal-runs"


@dataclass(frozen=True)
class ClusterConfig(Config):
    """A GRPO run on a cluster. The machines are those of MUA-RL's script: 4 with 8 GPUs."""

    nodes: Nodes = 4
    gpus_per_node: GpusPerNode = 8
    tensor_parallel: Annotated[
        int,
        _count("GPUs that serve one copy of the model.", "2", "actor_rollout_ref.rollout.tensor_model_parallel_size"),
    ] = 2
    sequence_parallel: SequenceParallel = 4
    gpu_memory: Annotated[
        float,
        Setting(
            "Share of a GPU's memory that the model servers may use while they answer.",
            paper="0.8",
            verl="actor_rollout_ref.rollout.gpu_memory_utilization",
            gt=0,
            le=1,
        ),
    ] = 0.8
    offload: Annotated[
        bool,
        Setting(
            "Keeps the weights of the reference and the activations of the update in the machines' memory while the "
            "GPUs do not need them. This takes less GPU memory and more time. Only FSDP offloads the reference.",
            paper="true",
            verl="actor_rollout_ref.ref.fsdp_config.param_offload, actor_rollout_ref.model.enable_activation_offload",
        ),
    ] = True
    workers: Annotated[
        int,
        Setting(
            "Rollout workers, each with its own engine.",
            verl="actor_rollout_ref.rollout.agent.num_workers",
            ge=1,
        ),
    ] = 8
    server: Annotated[
        Literal["vllm", "sglang"], Setting("The server of the model.", verl="actor_rollout_ref.rollout.name")
    ] = "vllm"
    prompt_tokens: Annotated[
        int,
        Setting(
            "Room for the policy, the tools and the first message; the rest of `context` is for what follows.",
            unit="tokens",
            paper="5000",
            verl="data.max_prompt_length",
            ge=16,
        ),
    ] = 5000
    verl: keys.VerlOptions = field(default_factory=dict)
    storage: Storage = HOME


@dataclass(frozen=True)
class SftClusterConfig(sft.Config):
    """An SFT run on a cluster, on the machines of a GRPO run."""

    nodes: Nodes = 4
    gpus_per_node: GpusPerNode = 8
    sequence_parallel: SequenceParallel = 4
    verl: keys.VerlOptions = field(default_factory=dict)
    storage: Storage = HOME


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
            "offload": False,
            "workers": 2,
            "prompt_tokens": 1536,
        }
        for name, values in GRPO_PROFILES.items()
        if name != "paper"
    },
}
"""`paper` is MUA-RL's recipe on its machines; the others fit one GPU."""

SFT_PROFILES: Mapping[str, Mapping[str, Json]] = {
    "paper": {},
    **{
        name: {**values, "nodes": 1, "gpus_per_node": 1, "sequence_parallel": 1, "schedule": "constant_with_warmup"}
        for name, values in sft.PROFILES.items()
        if name != "paper"
    },
}
"""The profiles of SFT; verl does not support a linear decay of the learning rate."""


def check_cluster(config: ClusterConfig) -> None:
    """Refuses configurations that verl can't run, before machines are allocated."""
    check_purpose(config)
    if not isinstance(config.domain, str) or config.held_out:
        raise ConfigurationError(
            "domain: on a cluster a run learns from one domain and is evaluated on it; train several elsewhere"
        )
    if config.format_reward or config.tool_reward:
        raise ConfigurationError(
            "format_reward, tool_reward: intermediate rewards are for this machine and SSH; a cluster has none"
        )
    if config.refills and config.algorithm != "dapo":
        raise ConfigurationError("refills: on a cluster only algorithm=dapo replaces groups without variance")
    if config.vllm_python is not None:
        raise ConfigurationError("vllm_python: on a cluster verl's own servers answer (server=vllm); leave it out")
    if config.prompt_tokens >= config.context:
        raise ConfigurationError(
            f"prompt_tokens: {config.prompt_tokens} leaves nothing of the context of {config.context}"
        )
    _check_machines(config, ("tensor_parallel", "sequence_parallel"))


def check_sft_cluster(config: SftClusterConfig) -> None:
    """Refuses configurations that verl's SFT can't run, before machines are allocated."""
    sft.check_recordings(config)
    _check_machines(config, ("sequence_parallel",))
    if config.evaluate_every:
        raise ConfigurationError(
            "evaluate_every: an SFT run on a cluster plays no rollouts. Set it to 0, and evaluate a checkpoint with "
            "rehearsal train evaluate"
        )
    if config.processes > 1:
        raise ConfigurationError("processes: on a cluster nodes and gpus_per_node say how many train; leave it out")
    if config.schedule == "linear":
        raise ConfigurationError(
            "schedule: verl has no schedule that falls linearly to zero. Set it to constant_with_warmup"
        )
    if config.batch % rows_at_once(config):
        raise ConfigurationError(
            f"batch: {config.batch} rows cannot be shared equally by the {rows_at_once(config)} parts that nodes x "
            "gpus_per_node / sequence_parallel GPUs make. Choose a multiple"
        )


def check_rows(config: SftClusterConfig, rows: int, validation: int) -> None:
    """Raises ConfigurationError if there are too few rows for a batch of training or validation."""
    if config.batch > rows:
        raise ConfigurationError(
            f"batch: a batch of {config.batch} rows cannot be filled from {rows} rows to learn from. Lower batch, or "
            "record more"
        )
    if 0 < validation < rows_at_once(config):
        raise ConfigurationError(
            f"validation_share: {validation} rows cannot be shared by the {rows_at_once(config)} parts that nodes x "
            "gpus_per_node / sequence_parallel GPUs make. Raise it, or set it to 0"
        )


def rows_at_once(config: SftClusterConfig) -> int:
    """Returns the number of rows that all GPUs together compute at once."""
    return config.nodes * config.gpus_per_node // config.sequence_parallel


def _check_machines(config: ClusterConfig | SftClusterConfig, divisors: Sequence[str]) -> None:
    _refuse_computed(config)
    if config.trl:
        raise ConfigurationError("trl: on a cluster verl trains; pass its options under verl")
    if config.quantization == "4bit":
        raise ConfigurationError("quantization: verl trains no adapter over 4-bit weights; leave it out on a cluster")
    if (Path(config.model) / "adapter_config.json").exists():
        raise ConfigurationError(
            f"model: {config.model} is an adapter, and a cluster starts from whole models. Write it as one with "
            "rehearsal export-model, and name that folder"
        )
    gpus = config.nodes * config.gpus_per_node
    for name in divisors:
        if gpus % getattr(config, name):
            raise ConfigurationError(
                f"{name}: {getattr(config, name)} does not divide the {gpus} GPUs of nodes x gpus_per_node"
            )


def epochs_of(config: ClusterConfig, tasks: int) -> int:
    """Returns the passes over the training tasks: enough for `steps` if that is set, else `epochs` rounded up."""
    of_one = _steps_of_epoch(config, tasks)
    return -(-config.steps // of_one) if config.steps else math.ceil(config.epochs)


def steps_of(config: ClusterConfig, tasks: int) -> int:
    """Returns the number of optimizer steps: `steps`, or else those of the epochs."""
    return config.steps or epochs_of(config, tasks) * _steps_of_epoch(config, tasks)


def _steps_of_epoch(config: ClusterConfig, tasks: int) -> int:
    if tasks < config.tasks_per_step:
        raise ConfigurationError(
            f"tasks_per_step: a step of {config.tasks_per_step} tasks can't be filled from {tasks} training tasks, "
            "and verl leaves what doesn't fill a step out; lower it"
        )
    return tasks // config.tasks_per_step


def _refuse_computed(config: ClusterConfig | SftClusterConfig) -> None:
    for key, value in asdict(config).items():
        for name, text in texts_within(value):
            if is_computed(text):
                raise ConfigurationError(
                    f"{key}: {f'{name}: ' if name else ''}{text} cannot be a value, because verl would replace it, for "
                    "example by a key of the cluster's environment. Write the value itself"
                )
