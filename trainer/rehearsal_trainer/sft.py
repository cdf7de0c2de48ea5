"""SFT: teaches the model the conversations that went well.

    python -m rehearsal_trainer sft --config sft.json
    python -m rehearsal_trainer sft --set recordings='[".rehearsal/runs/gold"]' --set run=runs/sft

One page: read recordings, keep the successful ones, tokenise them with the gateway's own dialect, train on the
assistant's blocks, save. What it leaves out of MUA-RL's cold start: its 2,000 synthesized trajectories (bring
recordings of a teacher, or of the `gold` seat), the LLM grader, and batch 128 on 32 GPUs (profile `paper` has
the numbers). Also left out: packing, and truncation (a row that is longer than `context` is dropped and counted).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rehearsal_trainer import keys
from rehearsal_trainer.configuration import read_config
from rehearsal_trainer.failures import TrainingError


@dataclass(frozen=True)
class Config:
    """Everything that an SFT run depends on; MUA-RL's cold start by default. keys.py says what each key does."""

    recordings: keys.Recordings
    run: keys.Run
    domain: keys.SftDomain = None
    profile: keys.Profile = "cpu"
    model: keys.Model = "smollm2"
    dialect: keys.Dialect = "compact"
    least_reward: keys.LeastReward = 1.0
    epochs: keys.SftEpochs = 2.0
    steps: keys.SftSteps = None
    batch: keys.SftBatch = 128
    micro_batch: keys.MicroBatch = 8
    learning_rate: keys.SftLearningRate = 5e-6
    warmup_steps: keys.WarmupSteps = 0
    schedule: keys.Schedule = "constant_with_warmup"
    lora_rank: keys.LoraRank = 0
    context: keys.Context = 32768
    dtype: keys.Dtype = "auto"
    gradient_checkpointing: keys.GradientCheckpointing = True
    save_every: keys.SaveEvery = 10
    keep_checkpoints: keys.KeepCheckpoints = 2
    seed: keys.Seed = 1
    threads: keys.Threads = None


_CPU = {
    "batch": 8,
    "steps": 40,
    "learning_rate": 1e-3,
    "warmup_steps": 3,
    "schedule": "linear",
    "lora_rank": 16,
    "context": 2048,
    "dtype": "float32",
    "gradient_checkpointing": False,
    "save_every": 50,
}

# The recipe with an adapter in place of all weights, which is what one GPU has room for.
_GPU = {"micro_batch": 2, "learning_rate": 1e-4, "lora_rank": 32, "context": 16384}

PROFILES = {"paper": {}, "gpu": _GPU, "cpu": _CPU, "trial": _CPU}


def main(argv: Sequence[str]) -> int:
    """Runs SFT; the model lies in <run>/checkpoints/final, whole, with any adapter merged in."""
    config, resume = read_config(Config, PROFILES, argv, "Learns from successful recordings.")
    run_sft(config, resume)
    return 0


def run_sft(config: Config, resume: bool = False) -> Path:
    """The whole run; returns the folder of the trained model (or of the last checkpoint, when stopped)."""
    import torch

    from rehearsal_trainer.backends.trl import Measurements, Optimization, save, sft_trainer, train
    from rehearsal_trainer.chat import Chat
    from rehearsal_trainer.dialect import dialect_named
    from rehearsal_trainer.models import dtype_named, load_model, load_tokenizer
    from rehearsal_trainer.progress import RunFolder
    from rehearsal_trainer.trajectories import find_recordings, read_recording, successful

    if config.threads:
        torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)

    # Data: what went well, as token ids. The dialect is the gateway's, so the ids are those of a rollout.
    files = find_recordings(config.recordings)
    conversations = successful(map(read_recording, files), config.least_reward)
    tokenizer = load_tokenizer(config.model)
    chat = Chat(tokenizer, dialect_named(config.dialect))
    every = [chat.row_of(conversation) for conversation in conversations]
    rows = [row for row in every if len(row.ids) <= config.context]
    if not rows:
        raise TrainingError(
            f"nothing to learn from: of {len(files)} recordings {len(conversations)} have a reward of at least "
            f"{config.least_reward:g} and are no previews, and {len(rows)} of them fit into {config.context} tokens"
        )
    if empty := [row for row, each in zip(every, conversations, strict=True) if not any(row.mask)]:
        raise TrainingError(f"{len(empty)} recordings have no token to learn from: the agent says nothing in them")
    steps = config.steps or max(1, round(config.epochs * len(rows) / config.batch))
    micro = min(config.micro_batch, config.batch)
    accumulation = max(1, config.batch // micro)

    # Model and run folder.
    with RunFolder(config.run, "sft", config, resume) as run:
        run.event(
            "data", recordings=len(files), rows=len(rows), too_long=len(every) - len(rows),
            tokens=sum(len(row.ids) for row in rows), trained_tokens=sum(sum(row.mask) for row in rows), steps=steps,
        )  # fmt: skip
        run.stop_on_signals()
        model = load_model(config.model, dtype_named(config.dtype), trainable_adapter=True)
        plan = Optimization(
            run=run.checkpoints, steps=steps, learning_rate=config.learning_rate, warmup_steps=config.warmup_steps,
            micro_batch=micro, accumulation=accumulation, save_every=config.save_every,
            keep_checkpoints=config.keep_checkpoints, seed=config.seed,
            gradient_checkpointing=config.gradient_checkpointing, lora_rank=config.lora_rank, schedule=config.schedule,
        )  # fmt: skip

        # Train, save, say so.
        trainer = sft_trainer(model, tokenizer, rows, plan, run, Measurements())
        print(
            f"SFT: {len(rows)} rows, {steps} optimizer steps, batch {micro * accumulation}", file=sys.stderr, flush=True
        )
        reached = train(trainer, run.latest_checkpoint() if resume else None)
        if reached < steps:
            run.event("stopped", step=reached)
            return run.checkpoints / f"checkpoint-{reached}"
        save(trainer, tokenizer, run.checkpoints / "final", merge=True)
        run.event("finished", step=reached, path="final")
        return run.checkpoints / "final"
