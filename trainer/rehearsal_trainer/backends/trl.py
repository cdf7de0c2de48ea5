"""TRL behind the scripts: trainers made from a plan, their log as our metrics.

Besides TRL's own work it does three things, all exact and only to save time and memory: a prefix that all rows of
a batch share (the policy and the tools) is computed once, the language model's head is only applied where a label
stands, and rows of similar length are scored together, so that one long rollout does not pad all the others.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import torch
import trl.trainer.utils as trl_utils
from datasets import Dataset
from peft import LoraConfig
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from rehearsal_trainer import run_files
from rehearsal_trainer.backends.frugal_trainer import FrugalTrainer
from rehearsal_trainer.decoders import is_llama_like
from rehearsal_trainer.evaluation import Schedule
from rehearsal_trainer.masks import CompletionRow, Row, labels_of
from rehearsal_trainer.run_folder import RunFolder
from rehearsal_trainer.shared_prefix import share_prefix

METRIC_NAMES = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "kl": "kl",
    "entropy": "entropy",
    "reward_std": "reward_std",
    "completions/clipped_ratio": "truncated",
    "clip_ratio/region_mean": "clipped",
    "mean_token_accuracy": "token_accuracy",
    "num_tokens": "tokens",
}
OF_NO_STEP = ("evaluate/seconds", "validation_seconds")
"""Time that is measured apart, and is no time of the optimizer step that it follows."""


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


Evaluate = Callable[[int], Mapping[str, float]]
"""Evaluates after an optimizer step (0: before the first) where one is due; what it measured, or nothing."""


@dataclass
class Measurements:
    """What the script measured beside TRL's log, waiting for the step's line."""

    values: dict[str, float] = field(default_factory=dict)
    differences: list[tuple[float, float]] = field(default_factory=list)
    """Of each micro-batch, the mean and the largest difference of sampled and recomputed log-probabilities."""

    def taken(self) -> dict[str, float]:
        """What was measured since the last call."""
        values = self.values
        if self.differences:
            means, largest = zip(*self.differences, strict=True)
            values = {**values, "drift": sum(means) / len(means), "drift_max": max(largest)}
        self.values = {}
        self.differences.clear()
        return values


class ProgressCallback(TrainerCallback):
    """Writes metrics and checkpoints into the run folder and stops when asked to."""

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
        values |= {**self.measured.taken(), "step_seconds": seconds}
        if "rollout_seconds" in values:
            values["update_seconds"] = seconds - values["rollout_seconds"]
        self.run.metrics(state.global_step, values)
        # An alarm that pauses the run is raised by this step's numbers, and ends it before the next.
        self._end_if_asked(control)

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if self.evaluate and state.global_step == 0 and (values := self.evaluate(0)):
            self.run.metrics(0, values)
        self._last = time.monotonic()

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        # Before the step's line is written, so that what was measured on the new weights stands in it.
        if self.evaluate:
            self.measured.values |= self.evaluate(state.global_step)
        self._end_if_asked(control)

    def _end_if_asked(self, control: TrainerControl) -> None:
        if self.run.should_stop():
            control.should_training_stop = True
            control.should_save = True

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        step = state.global_step
        self.run.event("checkpoint", step=step, path=run_files.checkpoint_name(step))


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
    dataset = Dataset.from_list([_features(row) for row in rows])
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
        progress.evaluate = _validated(trainer, validation, plan, evaluate)
    return trainer


def _features(row: Row) -> dict[str, list[int]]:
    return {"input_ids": row.ids, "labels": labels_of(row)}


def _validated(trainer: SFTTrainer, rows: Sequence[Row], plan: Optimization, evaluate: Evaluate | None) -> Evaluate:
    """Measures the loss of rows that are not learned from, too: before the run, and up to 20 times in it."""
    schedule = Schedule(math.ceil(plan.steps / 20), plan.steps)

    def look(step: int) -> Mapping[str, float]:
        values = evaluate(step) if evaluate else {}
        if not schedule.is_due(step):
            return values
        started = time.monotonic()
        loss = _loss_of(trainer, rows, plan.micro_batch)
        return {**values, "validation_loss": loss, "validation_seconds": time.monotonic() - started}

    return look


def _loss_of(trainer: SFTTrainer, rows: Sequence[Row], micro_batch: int) -> float:
    """The mean loss of a token that could be learned from, in the trainer's own way of computing it."""
    model: Any = trainer.model
    total, tokens = 0.0, 0
    model.eval()
    with torch.no_grad(), trainer.compute_loss_context_manager():
        for start in range(0, len(rows), micro_batch):
            batch: Any = trainer.data_collator([_features(row) for row in rows[start : start + micro_batch]])
            inputs = trainer._prepare_inputs(batch)
            tokens += int((inputs["labels"][:, 1:] >= 0).sum())
            total += float(trainer.compute_loss(model, inputs, num_items_in_batch=1))
    model.train()
    trainer._metrics["eval"].clear()  # what TRL measured beside it would stand in its next line
    return total / tokens


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
