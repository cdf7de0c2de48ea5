"""Translates the configuration of a GRPO run to verl's. Torch-free. Needs neither verl nor Ray."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from rehearsal_trainer.backends.verl.cluster_config import ClusterConfig, SftClusterConfig, epochs_of
from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan, workers_of
from rehearsal_trainer.settings.loading_options import is_word, loads_code, names_within
from rehearsal_trainer.settings.setting import option_names
from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.messages import Json

AGENT_LOOP = "rehearsal"
"""The name of our agent loop in the data set."""
WORKERS = "rehearsal_trainer.backends.verl.workers.WatchedAgentLoops"
"""The import path of the class that manages the rollout workers, for verl."""

TUNABLE = (
    "actor_rollout_ref.actor.fsdp_config.",
    "actor_rollout_ref.actor.use_dynamic_bsz",
    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu",
    "actor_rollout_ref.model.use_remove_padding",
    "actor_rollout_ref.model.enable_activation_offload",
    "actor_rollout_ref.ref.fsdp_config.",
    "trainer.logger",
    "trainer.project_name",
    "trainer.experiment_name",
    "algorithm.rollout_correction.rollout_is",
)
"""The options set here that a user may override, because rollouts do not depend on them."""

TUNABLE_SFT = (
    "data.use_dynamic_bsz",
    "data.max_token_len_per_gpu",
    "engine.",
    "model.use_remove_padding",
    "optim.",
    "trainer.logger",
    "trainer.project_name",
    "trainer.experiment_name",
)
"""The options of verl's SFT that a user may override."""

CHOOSING = ("engine", "model_engine", "optim")
"""The options that choose files of verl's configuration."""

WORDS = frozenset({"attn_implementation", "controller_nsight_options", "engine_kwargs", "worker_nsight_options"})
"""The parts of names of options whose values must be words.

An implementation of attention can be a repository with code. The servers' own options can be modules and files. Ray
puts nsight's options into a command.
"""

_NAME = re.compile(r"\+*[\w-]+(\.[\w-]+)*")

FSDP = (
    "actor_rollout_ref.actor.fsdp_config.",
    "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
    "actor_rollout_ref.ref.fsdp_config.",
)
"""The options that only FSDP has; they are left out if the option `model_engine` chooses another engine."""

FSDP_SFT = ("engine.", "optim.lr_scheduler_type")
"""The options that only FSDP has in verl's SFT, where the option `engine` chooses the engine."""

# verl's settings of each algorithm: how tokens are averaged, whether advantages are divided by their standard
# deviation, and the ratio that is clipped.
_WORDS_OF_VERL = {
    "grpo": ("token-mean", True, "vanilla"),
    "dapo": ("token-mean", True, "vanilla"),
    "dr_grpo": ("seq-mean-token-sum-norm", False, "vanilla"),
    "gspo": ("seq-mean-token-mean", True, "gspo"),
}


@dataclass(frozen=True)
class Places:
    """The paths of the files that verl reads and writes."""

    train_file: str
    test_file: str
    checkpoints: str
    name: str


def with_options(config: ClusterConfig | SftClusterConfig, settings: Mapping[str, Json]) -> dict[str, Json]:
    """Returns the settings and the options that a configuration passes through to verl, by their dotted names.

    ConfigurationError for an option that a key of the configuration sets, or that our rollouts or rows depend on.
    """
    is_sft = isinstance(config, SftClusterConfig)
    tunable, depending = (TUNABLE_SFT, "rows") if is_sft else (TUNABLE, "rollouts")
    keys = {option: key for key, option in option_names(type(config), "verl", is_sft).items()}
    options = dict(_dotted(config.verl))
    settings = _without_fsdp(config, settings, options.get("engine" if is_sft else "model_engine"))
    own = {name.lstrip("+") for name in settings}
    for name in options:
        plain = name.lstrip("+")
        if not _NAME.fullmatch(name):
            raise ConfigurationError(f"verl: {name} is not the name of an option. Write its parts with dots")
        if plain in keys:
            raise ConfigurationError(f"verl: {plain} is the key {keys[plain]} here; set that")
        _check_loading(plain, options[name])
        if plain in own and not plain.startswith(tunable):
            raise ConfigurationError(
                f"verl: {plain} cannot be set, because Rehearsal's {depending} depend on its value"
            )
    return {**settings, **options}


def _check_loading(name: str, value: Json) -> None:
    """Raises ConfigurationError for an option that can make verl, Ray or a server load code."""
    parts = name.split(".")
    if any(map(loads_code, [*parts, *names_within(value)])):
        raise ConfigurationError(
            f"verl: {name} cannot be set, because the code that it names would run on the cluster with your keys"
        )
    if (name in CHOOSING or not WORDS.isdisjoint(parts)) and not is_word(value):
        raise ConfigurationError(
            f"verl: {name} must be a word, because code that another text names would run on the cluster with your keys"
        )


def _without_fsdp(
    config: ClusterConfig | SftClusterConfig, settings: Mapping[str, Json], engine: Json
) -> Mapping[str, Json]:
    """Returns the settings that other engines of verl also have; ConfigurationError for keys that only FSDP has."""
    if engine in (None, "dp", "fsdp"):
        return settings
    if config.sequence_parallel > 1:
        raise ConfigurationError(
            f"sequence_parallel: it is FSDP's, and under verl the engine is {engine}. Set sequence_parallel to 1, and "
            "split long rows by the engine's own option under verl (context_parallel_size of Megatron)"
        )
    if config.lora_rank:
        raise ConfigurationError(
            f"lora_rank: adapters are for FSDP here, and under verl the engine is {engine}. Set lora_rank to 0"
        )
    only = FSDP_SFT if isinstance(config, SftClusterConfig) else FSDP
    return {name: value for name, value in settings.items() if not name.lstrip("+").startswith(only)}


def _dotted(options: Mapping[str, Json], within: str = "") -> Iterator[tuple[str, Json]]:
    for name, value in options.items():
        if isinstance(value, dict) and value:
            yield from _dotted(value, f"{within}{name}.")
        else:
            yield f"{within}{name}", value


def _correction(config: ClusterConfig) -> dict[str, Json]:
    """Returns verl's settings of truncated importance sampling; without a cap, those that turn it off."""
    name, cap = "algorithm.rollout_correction.rollout_is", config.importance_sampling_cap
    return {name: None} if cap is None else {name: "token", f"{name}_threshold": cap}


def verl_settings(config: ClusterConfig, places: Places, rollout_plan: RolloutPlan, tasks: int) -> dict[str, Json]:
    """Returns verl's settings for our configuration and this many training tasks, by their dotted names.

    The settings of the data include `rollout_plan`.
    """
    mean, is_divided, ratio = _WORDS_OF_VERL[config.algorithm]
    gpus = config.nodes * config.gpus_per_node
    actor, ref, rollout, model = (f"actor_rollout_ref.{part}" for part in ("actor", "ref", "rollout", "model"))
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
        **_correction(config),
        # verl does not limit replacements; `PromptBudget` does.
        "algorithm.filter_groups.enable": config.refills > 0,
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
        f"{model}.enable_activation_offload": config.offload,
        f"{actor}.fsdp_config.fsdp_size": gpus,
        f"{ref}.fsdp_config.param_offload": config.offload,
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
        f"{rollout}.agent.num_workers": workers_of(config),
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
        "+data.rehearsal": asdict(rollout_plan),
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
