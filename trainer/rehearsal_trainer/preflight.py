"""What a run needs beside its configuration: a model that can be had, and room on the disk.

`--check` answers with it, so that who starts a run knows before anything is played or written. Torch-free for the
models that Rehearsal brings; any other is laid out without its weights. What it leaves out: the room for recordings
beyond a lump sum, the download of a model's weights, and memory.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehearsal_trainer import run_files
from rehearsal_trainer.failures import ConfigurationError, ModelError
from rehearsal_trainer.messages import Json
from rehearsal_trainer.model_places import CACHED, SMOLLM2, TINY, adapter_base, cache_folder, smollm2_package

WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
REST = 2**28
"""Recordings, logs and tokenizers."""
LOOK_S = 60


@dataclass(frozen=True)
class Size:
    """How many numbers a model has."""

    parameters: int
    ends: int
    """The inputs and outputs of all layers that an adapter stands on, counted together."""
    own_rank: int = 0
    """The rank of the adapter that the model brings."""


NAMED = {SMOLLM2: Size(134_515_008, 305_280), TINY: Size(2_814_616, 1_888)}


def needs(config: Any, run: Path, disk: Callable[[Size], int]) -> dict[str, Json]:
    """The bytes that a run will write and those that are free for it; ConfigurationError for a model or a vLLM that it
    can't have.

    What lies in its folder from before counts as written: the checkpoints of a run that goes on are replaced.
    """
    check_vllm(config.vllm_python)
    try:
        size = size_of(config.model)
    except ModelError as error:
        raise ConfigurationError(f"model: {error}") from error
    there = run
    while not there.exists():
        there = there.parent
    before = sum(file.stat().st_size for file in (run / run_files.CHECKPOINTS).rglob("*") if file.is_file())
    served = 4 * size.parameters if config.vllm_python else 0
    return {"disk": max(0, disk(size) + served + REST - before), "free": shutil.disk_usage(there).free}


def check_vllm(python: str | None) -> None:
    """ConfigurationError where a Python that was named for vLLM is none, or has no vLLM."""
    if python is None:
        return
    look = "import importlib.util as u; print(u.find_spec('vllm') is not None)"
    try:
        found = subprocess.run([python, "-c", look], capture_output=True, text=True, timeout=LOOK_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigurationError(
            f"vllm_python: {python} can't be started ({error}); name a Python that has vLLM"
        ) from error
    if found.stdout.strip() != "True":
        raise ConfigurationError(
            f"vllm_python: {python} has no vLLM; install it there ({python} -m pip install vllm), or leave the key out"
        )


def checkpoints(config: Any, size: Size) -> int:
    """The bytes of a run's checkpoints at their most: the newest is written before the oldest is deleted.

    Each holds what is trained and Adam's two averages of it.
    """
    count = config.keep_checkpoints + 1
    if config.steps:
        count = min(count, math.ceil(config.steps / config.save_every))
    return count * 3 * trained(config, size)


def trained(config: Any, size: Size) -> int:
    """The bytes of the weights that a run changes: those of an adapter are float32."""
    rank = size.own_rank or config.lora_rank
    return 4 * rank * size.ends if rank else whole(config, size)


def whole(config: Any, size: Size) -> int:
    """The bytes of all weights of a model, in the numbers that they are trained in."""
    return size.parameters * _bytes_of(config.dtype, size.own_rank or config.lora_rank)


def _bytes_of(dtype: str, rank: int) -> int:
    if dtype != "auto" or rank == 0:
        return 2 if dtype == "bfloat16" else 4
    from rehearsal_trainer.models import dtype_named

    return dtype_named("auto").itemsize


def size_of(name: str) -> Size:
    """The size of a model by its name; ModelError says why it can't be had."""
    if name in NAMED:
        if not (cache_folder() / "models" / CACHED[name] / "config.json").exists():
            smollm2_package()
        return NAMED[name]
    folder = Path(name)
    base = adapter_base(folder)
    if base is not None:
        adapter = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        of_base = size_of(base)
        return Size(of_base.parameters, of_base.ends, int(adapter.get("r", 0)))
    if folder.is_dir():
        for what in (("config.json",), WEIGHTS):
            if not any((folder / file).exists() for file in what):
                raise ModelError(f"{name} holds no model: it has no {what[0]}")
        return _measured(name, is_here=True)
    return _measured(name, is_here=not _hub_has(name))


def _hub_has(name: str) -> bool:
    """Whether the hub hands out a model; False where only its cache here has it. ModelError for neither."""
    from huggingface_hub import HfApi, errors, hf_hub_download, try_to_load_from_cache

    unknown = ModelError(
        f"{name!r} is neither smollm2, tiny, a folder with a model or adapter, nor a model that the Hugging Face hub "
        "knows: check the name; one that is not public needs HF_TOKEN"
    )
    try:
        HfApi().model_info(name, timeout=10)  # the one call that says at once that the hub can't be reached
        hf_hub_download(name, "config.json")
    except errors.HFValidationError:
        raise unknown from None
    except errors.EntryNotFoundError:
        raise ModelError(f"{name} holds no model: it has no config.json") from None
    except (errors.GatedRepoError, errors.DisabledRepoError):
        raise ModelError(
            f"the Hugging Face hub does not give out {name!r}: ask for access on its page there, and set HF_TOKEN"
        ) from None
    except errors.RepositoryNotFoundError:
        raise unknown from None
    except Exception as error:  # whatever the network has, the run would meet it, too
        if any(isinstance(try_to_load_from_cache(name, file), str) for file in WEIGHTS):
            return False
        raise ModelError(
            f"the Hugging Face hub can't be asked from here ({_first_line(error)}), and {name!r} is not in its cache: "
            "check the network, or name a folder with the model"
        ) from error
    return True


def _measured(name: str, is_here: bool) -> Size:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    try:
        AutoTokenizer.from_pretrained(name, local_files_only=is_here)
        config = AutoConfig.from_pretrained(name, local_files_only=is_here)
        with torch.device("meta"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model: Any = AutoModelForCausalLM.from_config(config)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ModelError(f"{name!r} is no model that can be trained: {_first_line(error)}") from error
    head = model.get_output_embeddings()
    linear = [each for each in model.modules() if isinstance(each, torch.nn.Linear) and each is not head]
    return Size(model.num_parameters(), sum(each.in_features + each.out_features for each in linear))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
