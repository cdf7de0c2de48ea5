"""The values that the profiles of smaller machines change for every kind of run. Torch-free.

The profile `paper` is MUA-RL's recipe, which is in the defaults of each configuration. sft/config.py, grpo/config.py
and commands/evaluate.py add their own values to the other profiles.
"""

from __future__ import annotations

from collections.abc import Mapping

from rehearsal_trainer.values.messages import Json

PLAYED_ON_CPU: Mapping[str, Json] = {
    "turn_cap": None,
    "max_tokens": 128,
    "context": 2048,
    "dtype": "float32",
    "concurrency": 32,
    "rollout_timeout_s": 600,
}
"""Rollouts on a laptop."""

TRAINED_ON_CPU: Mapping[str, Json] = {**PLAYED_ON_CPU, "lora_rank": 16, "gradient_checkpointing": False}

PLAYED_ON_GPU: Mapping[str, Json] = {"context": 16384}
"""Rollouts on one GPU."""

TRAINED_ON_GPU: Mapping[str, Json] = {**PLAYED_ON_GPU, "micro_batch": 2, "lora_rank": 32}
"""Trains an adapter instead of all weights, because one GPU has room for that."""

TRIAL: Mapping[str, Json] = {"max_tokens": 32}
"""Shortens a run on a CPU to seconds, to check that everything works."""
