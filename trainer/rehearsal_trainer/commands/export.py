"""Writes a checkpoint as a whole model: weights in safetensors with any adapter merged in, and the tokenizer.

    python -m rehearsal_trainer export --model runs/grpo/checkpoints/final --out models/desk

It does not support other formats, quantisation or uploads.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from rehearsal_trainer.values.failures import ConfigurationError


def export(model: str, out: Path, dtype: str) -> None:
    """Writes the model of this name, as `load_model` loads it, to a new or empty folder; else ConfigurationError."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigurationError(f"{out}: expected a new or an empty folder; name another with --out")
    # Importing torch takes seconds, which a refusal does not need.
    from rehearsal_trainer.models.loading import dtype_named, load_model, load_tokenizer

    loaded = load_model(model, dtype_named("bfloat16" if dtype == "bfloat16" else "float32"))
    if hasattr(loaded, "merge_and_unload"):
        loaded = loaded.merge_and_unload()
    loaded.save_pretrained(out)
    load_tokenizer(model).save_pretrained(out)


def main(argv: Sequence[str]) -> int:
    """Writes a model, and prints {"model", "bytes"}."""
    parser = argparse.ArgumentParser(
        prog="rehearsal_trainer export", description="Writes a checkpoint as a complete model."
    )
    parser.add_argument("--model", required=True, help="a checkpoint's folder, smollm2, tiny or a hub id")
    parser.add_argument("--out", required=True, type=Path, help="a new or empty folder")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    options = parser.parse_args(argv)
    export(options.model, options.out, options.dtype)
    size = sum(file.stat().st_size for file in options.out.glob("*.safetensors"))
    print(json.dumps({"model": str(options.out), "bytes": size}), flush=True)
    return 0
