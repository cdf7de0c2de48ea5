"""What a machine asks of every kind of run, where that is not MUA-RL's recipe. Torch-free.

`paper` is the recipe, the defaults of each configuration; sft/config.py, grpo/config.py and commands/evaluate.py
add to the others what each has for itself.
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
"""An adapter in place of all weights, which is what one GPU has room for."""

TRIAL: Mapping[str, Json] = {"max_tokens": 32}
"""What makes a CPU's run one of seconds, to see that everything works."""
