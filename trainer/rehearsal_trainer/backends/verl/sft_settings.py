"""Translates the configuration of an SFT run to verl's. Torch-free. Needs neither verl nor Ray."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rehearsal_trainer.backends.verl.cluster_config import SftClusterConfig
from rehearsal_trainer.values.messages import Json

TRAINER = "sft_trainer_engine"
"""verl's name for the configuration of its SFT."""
TYPES = {"auto": "fp32", "float32": "fp32", "bfloat16": "bf16"}
"""verl's names for the types of the weights. As elsewhere, `auto` only computes in bfloat16."""


@dataclass(frozen=True)
class SftPlaces:
    """The paths of the files that verl reads and writes."""

    rows: str
    validation: str | None
    tokenizer: str
    """A folder with the tokenizer and the chat template that the rows were rendered with."""
    checkpoints: str
    name: str


def sft_settings(config: SftClusterConfig, places: SftPlaces, steps: int) -> dict[str, Json]:
    """Returns the settings of verl's SFT for our configuration, by their dotted names."""
    computed = {"+engine.mixed_precision": dict.fromkeys(("param_dtype", "reduce_dtype", "buffer_dtype"), "fp32")}
    return {
        # The model and the machines.
        "model.path": config.model,
        "model.tokenizer_path": places.tokenizer,
        "model.enable_gradient_checkpointing": config.gradient_checkpointing,
        "model.use_remove_padding": True,
        "model.lora_rank": config.lora_rank,
        "model.lora_alpha": 2 * config.lora_rank or 16,
        "engine.model_dtype": TYPES[config.dtype],
        **(computed if config.dtype == "float32" else {}),
        "engine.fsdp_size": config.nodes * config.gpus_per_node,
        "engine.ulysses_sequence_parallel_size": config.sequence_parallel,
        "trainer.nnodes": config.nodes,
        "trainer.n_gpus_per_node": config.gpus_per_node,
        # The process that controls the workers does not have a GPU.
        "trainer.device": "cpu",
        # The optimizer, with the same settings as on one machine.
        "optim.lr": config.learning_rate,
        "optim.lr_warmup_steps": config.warmup_steps,
        "optim.lr_scheduler_type": "constant",
        "optim.weight_decay": 0.0,
        "optim.clip_grad": 1.0,
        # The rows, which are already token ids.
        "data.train_files": places.rows,
        "data.val_files": places.validation,
        "data.train_batch_size": config.batch,
        "data.max_length": config.context,
        "data.use_dynamic_bsz": True,
        "data.max_token_len_per_gpu": -(-config.context // config.sequence_parallel),
        # The run, which is one long pass for verl: the order of the rows contains all epochs.
        "trainer.total_epochs": 1,
        "trainer.total_training_steps": steps,
        "trainer.seed": config.seed,
        "trainer.save_freq": config.save_every,
        "trainer.test_freq": validates_every(steps) if places.validation else -1,
        "trainer.max_ckpt_to_keep": config.keep_checkpoints,
        "trainer.default_local_dir": places.checkpoints,
        "trainer.resume_mode": "auto",
        "trainer.logger": ["console", "file"],
        "trainer.project_name": "rehearsal",
        "trainer.experiment_name": places.name,
    }


def validates_every(steps: int) -> int:
    """Returns the number of optimizer steps between measurements of the validation loss: up to 20 in a run."""
    return math.ceil(steps / 20)
