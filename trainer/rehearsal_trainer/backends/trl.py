"""TRL behind the scripts: trainers made from a plan.

Besides TRL's own work it does three things, all exact and only to save time and memory: a prefix that all rows of
a batch share (the policy and the tools) is computed once, the language model's head is only applied where a label
stands, and rows of similar length are scored together, so that one long rollout does not pad all the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import torch
import trl.trainer.utils as trl_utils
from datasets import Dataset
from peft import LoraConfig
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from rehearsal_trainer.backends.frugal_trainer import FrugalTrainer
from rehearsal_trainer.backends.progress_callback import ProgressCallback
from rehearsal_trainer.backends.validation import validated
from rehearsal_trainer.decoders import is_llama_like
from rehearsal_trainer.masks import CompletionRow, Row, features_of
from rehearsal_trainer.measurements import Evaluate, Measurements
from rehearsal_trainer.run_folder import RunFolder
from rehearsal_trainer.shared_prefix import share_prefix


@dataclass(frozen=True)
class Optimization:
    """What both trainers need to know about a run."""

    run: Path
    steps: int
    learning_rate: float
    warmup_steps: int
    micro_batch: int
    accumulation: int
    save_every: int
    keep_checkpoints: int
    seed: int
    gradient_checkpointing: bool
    lora_rank: int
    """0 trains all weights."""
    schedule: Literal["constant_with_warmup", "linear"] = "constant_with_warmup"
    max_grad_norm: float = 1.0
    bf16: bool = False


@dataclass(frozen=True)
class GrpoPlan:
    """GRPO's own numbers; MUA-RL's by default."""

    group_size: int
    temperature: float
    beta: float
    epsilon: float
    epsilon_high: float | None
    algorithm: Literal["grpo", "dapo", "dr_grpo", "gspo"]
    context: int
    """The longest row, which is the constant that Dr. GRPO divides by."""
    skip_dead_groups: bool


# How TRL calls the loss of each paper. Its "dapo" is the mean over all tokens of a step, which is verl's and so
# MUA-RL's; its "grpo" is the mean of each row's mean, which GSPO's ratio of a whole sequence asks for.
LOSSES: Mapping[str, Mapping[str, Any]] = {
    "grpo": {"loss_type": "dapo", "scale_rewards": "group"},
    "dapo": {"loss_type": "dapo", "scale_rewards": "group", "mask_truncated_completions": True},
    "dr_grpo": {"loss_type": "dr_grpo", "scale_rewards": "none"},
    "gspo": {"loss_type": "grpo", "scale_rewards": "group", "importance_sampling_level": "sequence"},
}


Rollouts = Callable[[Sequence[str], int], tuple[Sequence[CompletionRow], Sequence[float | None]]]
"""(task of each row, optimizer step) to rows and rewards, in the same order."""


def sft_trainer(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Row],
    plan: Optimization,
    run: RunFolder,
    measured: Measurements,
    evaluate: Evaluate | None = None,
    validation: Sequence[Row] = (),
) -> SFTTrainer:
    """A trainer over rows that are tokenised and masked already; TRL tokenises nothing."""
    dataset = Dataset.from_list([features_of(row) for row in rows])
    progress = ProgressCallback(run, measured, evaluate)
    config = SFTConfig(max_length=None, packing=False, **_common(plan))
    trainer = SFTTrainer(
        model=model,
        peft_config=_lora(model, plan),
        args=config,
        train_dataset=dataset,
        processing_class=tokenizer,
        callbacks=[progress],
    )
    _leave_out_positions(trainer.model)
    if validation:
        progress.evaluate = validated(trainer, validation, plan.steps, plan.micro_batch, evaluate)
    return trainer


def grpo_trainer(
    model: Any,
    tokenizer: Any,
    tasks: Sequence[str],
    rollouts: Rollouts,
    plan: Optimization,
    grpo: GrpoPlan,
    run: RunFolder,
    measured: Measurements,
    evaluate: Evaluate | None = None,
) -> GRPOTrainer:
    """A trainer whose rollouts come from the engine. `tasks` is the whole run's order, one entry a group."""

    def rollout_func(prompts: list[Any], trainer: GRPOTrainer) -> dict[str, Any]:
        check_groups(prompts, grpo.group_size)
        rows, rewards = rollouts(prompts, trainer.state.global_step + 1)
        columns = {
            name: [row[name] for row in rows] for name in ("prompt_ids", "completion_ids", "env_mask", "logprobs")
        }
        return {**columns, "engine_reward": list(rewards)}

    def reward(engine_reward: list[float | None], **_: Any) -> list[float | None]:
        return engine_reward

    config = GRPOConfig(
        num_generations=grpo.group_size,
        steps_per_generation=plan.accumulation,
        temperature=grpo.temperature,
        beta=grpo.beta,
        epsilon=grpo.epsilon,
        epsilon_high=grpo.epsilon_high,
        max_completion_length=grpo.context,
        num_iterations=1,
        shuffle_dataset=False,
        **LOSSES[grpo.algorithm],
        **_common(plan),
    )
    trainer = FrugalTrainer(
        model=model,
        peft_config=_lora(model, plan),
        reward_funcs=reward,
        args=config,
        train_dataset=Dataset.from_list([{"prompt": task} for task in tasks]),
        processing_class=tokenizer,
        callbacks=[ProgressCallback(run, measured, evaluate)],
        rollout_func=rollout_func,
    )
    trainer.skip_dead_groups = grpo.skip_dead_groups
    trainer.differences = measured.differences
    _leave_out_positions(trainer.model)
    return trainer


def check_groups(prompts: Sequence[Any], group_size: int) -> None:
    """TRL hands each prompt over group_size times, side by side; its documentation once said otherwise."""
    groups = [prompts[start : start + group_size] for start in range(0, len(prompts), group_size)]
    if len(prompts) % group_size or any(prompt != group[0] for group in groups for prompt in group):
        raise RuntimeError(
            f"expected every task {group_size} times in a row, got {list(prompts)[: 2 * group_size]}: this version of "
            "TRL hands prompts over differently, so groups would be mixed up"
        )


def train(trainer: Any, resume_from: Path | None) -> int:
    """Trains, from a checkpoint if given; returns the optimizer step that was reached."""
    trainer.train(resume_from_checkpoint=str(resume_from) if resume_from else None)
    return int(trainer.state.global_step)


def save(trainer: Any, tokenizer: Any, target: Path, merge: bool) -> None:
    """Saves the model: with the adapter merged in, or the adapter alone, which names its base."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    if merge and hasattr(model, "merge_and_unload"):
        model = model.merge_and_unload()
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


def _common(plan: Optimization) -> dict[str, Any]:
    return {
        "output_dir": str(plan.run),
        "max_steps": plan.steps,
        "learning_rate": plan.learning_rate,
        "lr_scheduler_type": plan.schedule,
        "warmup_steps": plan.warmup_steps,
        "per_device_train_batch_size": plan.micro_batch,
        "gradient_accumulation_steps": plan.accumulation,
        "gradient_checkpointing": plan.gradient_checkpointing,
        "max_grad_norm": plan.max_grad_norm,
        "bf16": plan.bf16,
        "save_strategy": "steps",
        "save_steps": plan.save_every,
        "save_total_limit": plan.keep_checkpoints,
        "logging_steps": 1,
        # A loss that is no number is said, not averaged away.
        "logging_nan_inf_filter": False,
        "report_to": "none",
        "disable_tqdm": True,
        "seed": plan.seed,
        "dataloader_pin_memory": False,
        "use_cpu": not torch.cuda.is_available(),
    }


def _lora(model: Any, plan: Optimization) -> LoraConfig | None:
    """A new adapter, whose reference is the model with the adapter off; none on a model that brings its own."""
    if plan.lora_rank == 0 or hasattr(model, "peft_config"):
        return None
    return LoraConfig(
        r=plan.lora_rank,
        lora_alpha=2 * plan.lora_rank,
        lora_dropout=0.0,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def score_labelled_positions() -> None:
    """Lets TRL apply the language model's head only where a label stands, on every device.

    RuntimeError where this version of TRL decides that elsewhere.
    """
    if not hasattr(trl_utils, "_use_triton"):
        raise RuntimeError(
            "trl.trainer.utils has no _use_triton, so this version of TRL decides elsewhere which positions are "
            "scored, and every token of the policy and the tools would be: install the version that "
            "trainer/requirements pins"
        )
    # TRL scores all positions where there is no Triton, lest a compiler begins anew for each number of labels. Nothing
    # is compiled here, and nothing else of that module asks whether there is Triton: its kernels ask for themselves.
    trl_utils._use_triton = lambda _device: True  # pyright: ignore


def _leave_out_positions(model: Any) -> None:
    """Those without a label are not scored, and those of a prefix that all rows of a batch share computed once."""
    score_labelled_positions()
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    if is_llama_like(inner):
        share_prefix(inner.base_model)
