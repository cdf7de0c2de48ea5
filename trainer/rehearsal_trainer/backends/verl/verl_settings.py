"""A run on a cluster in verl's words. Torch-free, and without verl and Ray."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from rehearsal_trainer.backends.verl.cluster_config import ClusterConfig, epochs_of
from rehearsal_trainer.backends.verl.station_plan import StationPlan
from rehearsal_trainer.messages import Json

AGENT_LOOP = "rehearsal"
"""What the data set calls our agent loop."""
WORKERS = "rehearsal_trainer.backends.verl.workers.WatchedAgentLoops"
"""Where verl finds the class that keeps the rollout workers."""

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
