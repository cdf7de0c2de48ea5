"""A run on a cluster: what it depends on, the same numbers in verl's words, and verl's data set of a domain's tasks.

Torch-free, and without verl and Ray.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Literal, Self

from rehearsal_trainer.failures import ConfigurationError
from rehearsal_trainer.grpo_config import ALGORITHMS as GRPO_ALGORITHMS
from rehearsal_trainer.grpo_config import PROFILES as GRPO_PROFILES
from rehearsal_trainer.grpo_config import Config, check_purpose
from rehearsal_trainer.messages import Json
from rehearsal_trainer.rollouts import RolloutSettings
from rehearsal_trainer.setting import Setting

AGENT_LOOP = "rehearsal"
"""What the data set calls our agent loop."""
WORKERS = "rehearsal_trainer.backends.verl.workers.WatchedAgentLoops"
STORE = "rehearsal-store"


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

# An algorithm in verl's words: how tokens are averaged, whether advantages are divided by their deviation, and the
# ratio that is clipped.
_WORDS_OF_VERL = {
    "grpo": ("token-mean", True, "vanilla"),
    "dapo": ("token-mean", True, "vanilla"),
    "dr_grpo": ("seq-mean-token-sum-norm", False, "vanilla"),
    "gspo": ("seq-mean-token-mean", True, "gspo"),
}


@dataclass(frozen=True)
class Places:
    """Where the job keeps what verl reads and writes."""

    train_file: str
    test_file: str
    checkpoints: str
    name: str


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
    if config.refills or config.user_prices:
        raise ConfigurationError(
            "refills, user_prices: on a cluster verl draws the groups (algorithm=dapo replaces those without variance) "
            "and nobody counts the cost"
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


@dataclass(frozen=True)
class StationPlan:
    """What all rollouts of a run share, as it travels in verl's configuration."""

    model: str
    domain: str
    engine_command: list[str]
    engine_cwd: str
    dialect: str
    user: Json
    evaluate_user: Json
    basis: str
    evaluate_basis: str
    turn_cap: int | None
    max_tokens: int
    prompt_tokens: int
    response_tokens: int
    rollout_timeout_s: float
    seed: int
    agent: str | None
    store: str | None
    """The name of the actor that keeps what was played; without one nothing is kept."""

    @classmethod
    def of(cls, config: ClusterConfig, store: str | None) -> Self:
        """That of a run's configuration, which calls most of it the same."""
        same = {each.name: getattr(config, each.name, None) for each in fields(cls)}
        return cls(**{**same, "response_tokens": config.context - config.prompt_tokens, "store": store})

    def settings(self, is_evaluation: bool) -> RolloutSettings:
        """Those of a rollout in training, or in evaluation."""
        user = self.evaluate_user if is_evaluation else self.user
        basis = self.evaluate_basis if is_evaluation else self.basis
        return RolloutSettings(self.domain, user, basis, self.turn_cap, self.rollout_timeout_s, agent=self.agent)


def verl_settings(config: ClusterConfig, places: Places, station: StationPlan, tasks: int) -> dict[str, Json]:
    """The configuration of verl that stands for ours on so many training tasks, by the dotted names of its keys.

    `station` travels with the data's settings.
    """
    mean, is_divided, ratio = _WORDS_OF_VERL[config.algorithm]
    gpus = config.nodes * config.gpus_per_node
    actor, rollout, model = (f"actor_rollout_ref.{part}" for part in ("actor", "rollout", "model"))
    return {
        # The algorithm.
        "algorithm.adv_estimator": "grpo",
        "algorithm.norm_adv_by_std_in_grpo": is_divided,
        "algorithm.use_kl_in_reward": False,
        f"{actor}.use_kl_loss": config.beta > 0,
        f"{actor}.kl_loss_coef": config.beta,
        f"{actor}.kl_loss_type": "low_var_kl",
        f"{actor}.entropy_coeff": 0,
        f"{actor}.calculate_entropy": True,
        f"{actor}.clip_ratio": config.epsilon,
        f"{actor}.clip_ratio_low": config.epsilon,
        f"{actor}.clip_ratio_high": config.epsilon_high or config.epsilon,
        f"{actor}.loss_agg_mode": mean,
        f"{actor}.policy_loss.loss_mode": ratio,
        # Only DAPO plays other groups in the place of dead ones; with a model that never succeeds that has no end.
        "algorithm.filter_groups.enable": config.algorithm == "dapo",
        f"{actor}.ppo_epochs": 1,
        # The optimizer: every batch of rollouts is one update.
        f"{actor}.optim.lr": config.learning_rate,
        f"{actor}.optim.lr_warmup_steps": config.warmup_steps,
        "data.train_batch_size": config.tasks_per_step,
        f"{actor}.ppo_mini_batch_size": config.tasks_per_step,
        f"{actor}.use_dynamic_bsz": True,
        f"{actor}.ppo_max_token_len_per_gpu": -(-config.context // config.sequence_parallel),
        # The model and the machines.
        f"{model}.path": config.model,
        f"{model}.enable_gradient_checkpointing": config.gradient_checkpointing,
        f"{model}.use_remove_padding": True,
        f"{model}.lora_rank": config.lora_rank,
        f"{model}.lora_alpha": 2 * config.lora_rank or 16,
        f"{actor}.fsdp_config.fsdp_size": gpus,
        f"{actor}.fsdp_config.ulysses_sequence_parallel_size": config.sequence_parallel,
        f"{actor}.ulysses_sequence_parallel_size": config.sequence_parallel,
        "trainer.nnodes": config.nodes,
        "trainer.n_gpus_per_node": config.gpus_per_node,
        # Rollouts.
        f"{rollout}.name": config.server,
        f"{rollout}.mode": "async",
        f"{rollout}.n": config.group_size,
        f"{rollout}.temperature": config.temperature,
        f"{rollout}.top_p": config.top_p,
        f"{rollout}.top_k": -1,
        f"{rollout}.calculate_log_probs": True,
        f"{rollout}.tensor_model_parallel_size": config.tensor_parallel,
        f"{rollout}.gpu_memory_utilization": config.gpu_memory,
        f"{rollout}.max_model_len": config.context,
        "data.max_prompt_length": config.prompt_tokens,
        "data.max_response_length": config.context - config.prompt_tokens,
        f"{rollout}.multi_turn.enable": True,
        f"{rollout}.multi_turn.max_assistant_turns": config.turn_cap,
        f"{rollout}.agent.num_workers": config.workers,
        f"{rollout}.agent.default_agent_loop": AGENT_LOOP,
        f"+{rollout}.agent.agent_loop_manager_class": WORKERS,
        f"{rollout}.val_kwargs.n": config.evaluate_trials,
        f"{rollout}.val_kwargs.do_sample": True,
        f"{rollout}.val_kwargs.temperature": config.temperature,
        f"{rollout}.val_kwargs.top_p": config.top_p,
        # The tasks.
        "data.train_files": places.train_file,
        "data.val_files": places.test_file,
        "data.seed": config.seed,
        "data.dataloader_num_workers": 0,
        "data.filter_overlong_prompts": False,
        "+data.rehearsal": asdict(station),
        "reward.num_workers": 1,
        # The run.
        "trainer.total_epochs": epochs_of(config, tasks),
        "trainer.total_training_steps": config.steps,
        "trainer.save_freq": config.save_every,
        "trainer.test_freq": config.evaluate_every or -1,
        "trainer.val_before_train": config.evaluate_every > 0,
        "trainer.max_actor_ckpt_to_keep": config.keep_checkpoints,
        "trainer.default_local_dir": places.checkpoints,
        "trainer.resume_mode": "auto",
        "trainer.logger": ["console", "file"],
        "trainer.project_name": "rehearsal",
        "trainer.experiment_name": places.name,
    }


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


def rows_of(domain: str, tasks: Sequence[str], split: str) -> list[dict[str, Json]]:
    """verl's data set of a split. The conversation begins in the engine, so the prompt only names the task."""
    return [
        {
            "prompt": [{"role": "user", "content": f"{domain}: {task}"}],
            "data_source": domain,
            "agent_name": AGENT_LOOP,
            "reward_model": {"style": "rule", "ground_truth": task},
            "extra_info": {"index": index, "task": task, "split": split},
        }
        for index, task in enumerate(tasks)
    ]
