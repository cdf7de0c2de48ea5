"""Builds TRL's trainers from a plan.

It adds three optimizations to TRL that save time and memory without changing the results. A prefix that all rows of a
batch share (the policy and the tools) is computed once, except under gradient checkpointing. The language model's head
is applied only at positions with a label. Rows of similar length are scored together, so that one long rollout does not
pad all the others. unpadded_trainer.py handles rollouts with several rows, and atomic_checkpoints.py keeps checkpoints
complete.
"""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import torch
import trl.trainer.utils as trl_utils
from datasets import Dataset
from peft import LoraConfig
from torch import Tensor
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer
from trl import __version__ as trl_version

from rehearsal_trainer.backends.atomic_checkpoints import AtomicCheckpoints, publish_checkpoint
from rehearsal_trainer.backends.progress_callback import ProgressCallback
from rehearsal_trainer.backends.shared_prefix import share_prefix
from rehearsal_trainer.backends.shared_rows import SharedOrder, filled
from rehearsal_trainer.backends.unpadded_trainer import UnpaddedTrainer
from rehearsal_trainer.backends.validation import validated
from rehearsal_trainer.chat.masks import Row, features_of
from rehearsal_trainer.grpo.step import StepRows
from rehearsal_trainer.metrics.measurements import Evaluate, Measurements
from rehearsal_trainer.models.loading import is_quantized, record_quantization
from rehearsal_trainer.processes import distributed
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.sampler.cpu_decoder.decoders import is_llama_like
from rehearsal_trainer.settings.keys import Algorithm
from rehearsal_trainer.settings.loading_options import is_word, loads_code, names_within
from rehearsal_trainer.settings.setting import keys_of
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.failures import ConfigurationError


@dataclass(frozen=True)
class Optimization:
    """The settings of a run that both trainers need."""

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
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that the configuration passes through to TRL."""


@dataclass(frozen=True)
class GrpoPlan:
    """The settings that only GRPO has; the defaults are those of MUA-RL."""

    group_size: int
    temperature: float
    beta: float
    epsilon: float
    epsilon_high: float | None
    algorithm: Literal["grpo", "dapo", "dr_grpo", "gspo"]
    context: int
    """The maximum length of a row, in tokens, which is also the constant that Dr. GRPO divides by."""
    skip_dead_groups: bool
    importance_sampling_cap: float | None


# TRL's settings for the loss of each paper. TRL's "dapo" is the mean over all tokens of a step, as in verl and so in
# MUA-RL. TRL's "grpo" is the mean of the means of the rows, which GSPO's sequence-level ratio requires.
LOSSES: Mapping[str, Mapping[str, Any]] = {
    "grpo": {"loss_type": "dapo", "scale_rewards": "group"},
    "dapo": {"loss_type": "dapo", "scale_rewards": "group", "mask_truncated_completions": True},
    "dr_grpo": {"loss_type": "dr_grpo", "scale_rewards": "none"},
    "gspo": {"loss_type": "grpo", "scale_rewards": "group", "importance_sampling_level": "sequence"},
}


MODEL_OPTIONS = (
    "attn_implementation",
    "device_map",
    "dtype",
    "low_cpu_mem_usage",
    "max_memory",
    "torch_dtype",
    "use_cache",
    "use_safetensors",
)
"""The options of `model_init_kwargs`, with which TRL loads the reference model."""

LOADED = "code that comes with a file or a model would run with your keys"


Rollouts = Callable[[Sequence[str], int], StepRows]
"""Takes the task of each rollout and the optimizer step, and returns the rows and rewards of these rollouts."""


class CheckpointedSftTrainer(AtomicCheckpoints, SFTTrainer):
    """TRL's SFT trainer with complete checkpoints, and with rows that several processes can share."""

    shared_order: SharedOrder | None = None
    """The order of the rows if several processes share them."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return self.shared_order or super()._get_train_sampler(train_dataset)


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
    """Returns a trainer for rows that are already tokenized and masked; TRL does not tokenize anything."""
    shared = filled(rows, plan.micro_batch * distributed.count())
    dataset = Dataset.from_list([features_of(row) for row in shared])
    progress = ProgressCallback(run, measured, evaluate)
    config = SFTConfig(**_sft_values(plan), **plan.options)
    loaded = _adapter_of(model)
    trainer = CheckpointedSftTrainer(
        model=model,
        peft_config=_lora(model, plan),
        args=config,
        train_dataset=dataset,
        processing_class=tokenizer,
        callbacks=[progress],
    )
    _restore_adapter(trainer.model, loaded)
    if distributed.count() > 1:
        trainer.shared_order = SharedOrder(len(rows), len(shared), plan.seed)
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
    """Returns a trainer whose rollouts come from the engine. `tasks` is the run's order, one entry per group."""

    def rollout_func(prompts: list[Any], trainer: Any) -> dict[str, Any]:
        check_groups(prompts, grpo.group_size)
        played = rollouts(prompts, trainer.state.global_step + 1)
        return trainer.columns_of(played, tokenizer.pad_token_id, plan.accumulation)

    def reward(engine_reward: list[float | None], **_: Any) -> list[float | None]:
        return engine_reward

    config = GRPOConfig(**_grpo_values(plan, grpo), **plan.options)
    loaded = _adapter_of(model)
    trainer = UnpaddedTrainer(
        model=model,
        peft_config=_lora(model, plan),
        reward_funcs=reward,
        args=config,
        train_dataset=Dataset.from_list([{"prompt": task} for task in tasks]),
        processing_class=tokenizer,
        callbacks=[ProgressCallback(run, measured, evaluate)],
        rollout_func=rollout_func,
    )
    _restore_adapter(trainer.model, loaded)
    trainer.skip_dead_groups = grpo.skip_dead_groups
    trainer.importance_sampling_cap = grpo.importance_sampling_cap
    trainer.drifts = measured.drifts
    _leave_out_positions(trainer.model)
    return trainer


def check_options(kind: Literal["sft", "grpo"], config: Any) -> None:
    """Raises ConfigurationError for an option under `trl` that cannot be set, or whose value TRL does not take."""
    known = check_names(kind, config)
    try:
        known(output_dir=str(Path.cwd()), use_cpu=True, bf16=False, report_to="none", **config.trl)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"trl: {error}") from error


def check_names(kind: Literal["sft", "grpo"], config: Any) -> type[Any]:
    """Returns TRL's class of options.

    ConfigurationError for an option under `trl` that TRL does not have, that one of our keys sets, or that loads code.
    """
    known = SFTConfig if kind == "sft" else GRPOConfig
    example = Optimization(Path(), 1, 1.0, 0, 1, 1, 1, 1, 0, False, 0)
    algorithm: Algorithm = getattr(config, "algorithm", "grpo")
    grpo = GrpoPlan(2, 1.0, 0.0, 0.2, None, algorithm, 1, False, None)
    own = set(_sft_values(example) if kind == "sft" else _grpo_values(example, grpo))
    keys = {key.setting.trl: key.name for key in keys_of(type(config)).values() if key.setting.trl}
    types = {each.name: each.type for each in fields(known)}
    names = list(types)
    for name in config.trl:
        if name in keys:
            raise ConfigurationError(f"trl: {name} is the key {keys[name]} here; set that")
        if kind == "grpo" and name in LOSSES[algorithm]:
            raise ConfigurationError(f"trl: {name} is set by the key algorithm ({algorithm}) here; set that")
        if name in own:
            raise ConfigurationError(f"trl: {name} cannot be set, because Rehearsal's rollouts depend on its value")
        if "hub" in name:
            raise ConfigurationError(
                f"trl: {name} cannot be set, because a file that comes with a domain could publish the model with your "
                "token. Upload a checkpoint yourself: hf upload OWNER/NAME FOLDER"
            )
        if loads_code(name):
            raise ConfigurationError(f"trl: {name} cannot be set, because {LOADED}")
        if "vllm" in name:
            raise ConfigurationError(
                f"trl: {name} cannot be set, because Rehearsal plays the rollouts; see vllm_python"
            )
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ConfigurationError(f"trl: {known.__name__} of TRL {trl_version} has no option {name}{hint}")
        _check_nested(name, config.trl[name], "dict" in str(types[name]))
    return known


def _check_nested(name: str, value: Any, is_mapping: bool) -> None:
    """Raises ConfigurationError for options within an option that can make a library load code."""
    # The libraries read a text as JSON or as the path of a JSON file, which could name anything.
    if is_mapping and isinstance(value, str):
        raise ConfigurationError(f"trl: {name} must be a mapping. Write its options below it")
    for each in names_within(value):
        if loads_code(each):
            raise ConfigurationError(f"trl: {name}: {each} cannot be set, because {LOADED}")
    if name == "deepspeed" and isinstance(value, dict) and "compile" in value:
        raise ConfigurationError(f"trl: deepspeed: compile cannot be set, because {LOADED}")
    if name != "model_init_kwargs" or not isinstance(value, dict):
        return
    for each, set_to in value.items():
        if each not in MODEL_OPTIONS:
            raise ConfigurationError(
                f"trl: model_init_kwargs: {each} cannot be set. Options here are {', '.join(MODEL_OPTIONS)}"
            )
        if each == "attn_implementation" and not is_word(set_to):
            raise ConfigurationError(f"trl: model_init_kwargs: {each}: {set_to} cannot be set, because {LOADED}")


def check_groups(prompts: Sequence[Any], group_size: int) -> None:
    """Checks that TRL passes each prompt group_size times in a row; its documentation once said otherwise."""
    groups = [prompts[start : start + group_size] for start in range(0, len(prompts), group_size)]
    if len(prompts) % group_size or any(prompt != group[0] for group in groups for prompt in group):
        raise RuntimeError(
            f"expected every task {group_size} times in a row, got {list(prompts)[: 2 * group_size]}: this version of "
            "TRL hands prompts over differently, so groups would be mixed up"
        )


def train(trainer: Any, resume_from: Path | None) -> int:
    """Trains, from a checkpoint if one is given, and returns the last optimizer step.

    A checkpoint of the last step is only loaded: transformers would train one more step from it.
    """
    reached = run_files.checkpoint_step(resume_from.name) if resume_from else None
    if reached is not None and reached >= trainer.args.max_steps:
        trainer._load_from_checkpoint(str(resume_from))
        return reached
    trainer.train(resume_from_checkpoint=str(resume_from) if resume_from else None)
    return int(trainer.state.global_step)


def save(trainer: Any, tokenizer: Any, target: Path, merge: bool) -> None:
    """Saves the model with the adapter merged in, or only the adapter, which names its base."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    if merge and hasattr(model, "merge_and_unload"):
        model = model.merge_and_unload()
    unfinished = target.parent / run_files.UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)  # left by an attempt that was killed
    model.save_pretrained(unfinished / target.name)
    tokenizer.save_pretrained(unfinished / target.name)
    record_quantization(model, unfinished / target.name)
    publish_checkpoint(target.parent, target.name)


def _sft_values(plan: Optimization) -> dict[str, Any]:
    return {"max_length": None, "packing": False, **_common(plan)}


def _grpo_values(plan: Optimization, grpo: GrpoPlan) -> dict[str, Any]:
    return {
        "num_generations": grpo.group_size,
        "steps_per_generation": plan.accumulation,
        "temperature": grpo.temperature,
        "beta": grpo.beta,
        "epsilon": grpo.epsilon,
        "epsilon_high": grpo.epsilon_high,
        "max_completion_length": grpo.context,
        "num_iterations": 1,
        "shuffle_dataset": False,
        **LOSSES[grpo.algorithm],
        **_common(plan),
    }


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
        # Its new name. Without it, transformers warns about the old one, which TRL sets by default.
        "activation_checkpointing": plan.gradient_checkpointing,
        "max_grad_norm": plan.max_grad_norm,
        "bf16": plan.bf16,
        "save_strategy": "steps",
        "save_steps": plan.save_every,
        "save_total_limit": plan.keep_checkpoints,
        "logging_steps": 1,
        # A loss that is NaN is reported; an average would hide it.
        "logging_nan_inf_filter": False,
        "report_to": "none",
        "disable_tqdm": True,
        "seed": plan.seed,
        "dataloader_pin_memory": False,
        "ddp_timeout": distributed.WAITING_S,
        "use_cpu": not torch.cuda.is_available(),
    }


def _lora(model: Any, plan: Optimization) -> LoraConfig | None:
    """Returns the settings of a new adapter, or None for a model that brings its own.

    The reference is the model with the adapter off.
    """
    if plan.lora_rank == 0 or hasattr(model, "peft_config"):
        return None
    return LoraConfig(
        r=plan.lora_rank,
        lora_alpha=2 * plan.lora_rank,
        lora_dropout=0.0,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def _adapter_of(model: Any) -> dict[str, Tensor]:
    """Returns a copy of the adapter that a model brings, by the names of its parameters."""
    return {name: value.detach().clone() for name, value in model.named_parameters() if "lora_" in name}


def _restore_adapter(model: Any, loaded: Mapping[str, Tensor]) -> None:
    """Keeps the adapter of a quantized model in float32, and restores an adapter that was loaded with the model.

    TRL rounds it to bfloat16, which keeps 8 bits of a weight: most of an update of 1e-5 would be lost.
    """
    if not is_quantized(model):
        return
    for name, value in model.named_parameters():
        if "lora_" in name:  # TRL copies an adapter that the model brought, for the reference
            value.data = loaded.get(name.replace(".ref.", ".default."), value.data).float().clone()


def score_labelled_positions() -> None:
    """Makes TRL apply the language model's head only at positions with a label, on every device.

    RuntimeError if this version of TRL decides that elsewhere.
    """
    if not hasattr(trl_utils, "_use_triton"):
        raise RuntimeError(
            "trl.trainer.utils has no _use_triton, so this version of TRL decides elsewhere which positions are "
            "scored, and every token of the policy and the tools would be: install the version that "
            "trainer/requirements pins"
        )
    # Without Triton, TRL scores all positions, so that a compiler does not restart for each number of labels. Nothing
    # is compiled here, and nothing else in that module uses this check: its kernels check for Triton themselves.
    trl_utils._use_triton = lambda _device: True  # pyright: ignore


def _leave_out_positions(model: Any) -> None:
    """Skips the scores of tokens without a label, and computes a prefix that all rows of a batch share once."""
    score_labelled_positions()
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    if is_llama_like(inner):
        share_prefix(inner.base_model)
