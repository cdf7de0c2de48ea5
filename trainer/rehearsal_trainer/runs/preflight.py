"""Checks the requirements of a run: a model that is available and has a chat template, memory, and disk space.

`--check` prints the result, so that a user knows it before anything is played or written. Torch-free for the models
that Rehearsal brings; other models are built without their weights. The disk space includes a fixed amount for
recordings, and not the download of the weights, which is reported separately. The memory does not include activations,
keys and values.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rehearsal_trainer.models.locations import (
    CACHED,
    SMOLLM2,
    TINY,
    adapter_base,
    cache_folder,
    quantization_of,
    smollm2_package,
)
from rehearsal_trainer.processes.child_process import without_keys
from rehearsal_trainer.settings.rollout_keys import DomainShare
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.bounded_file import TEXT, read_text
from rehearsal_trainer.values.failures import ConfigurationError, ModelError
from rehearsal_trainer.values.messages import Json

WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
REST = 2**28
"""The bytes that recordings, logs and tokenizers are assumed to take."""
PROBE_S = 60
BYTES_IN_4BIT = (4 + 8 / 64 + 32 / (64 * 256)) / 8
"""The bytes of a weight in NF4 with double quantization.

A weight has 4 bits, 64 weights share a constant of 8 bits, and 256 of these constants share one of 32 bits (QLoRA,
arXiv 2305.14314, section 3).
"""
OLDEST_CAPABILITY = (6, 0)
"""The lowest compute capability of an NVIDIA GPU for which bitsandbytes supports NF4."""
BITSANDBYTES = Path(__file__).resolve().parents[1] / "requirements" / "bitsandbytes.txt"


@dataclass(frozen=True)
class Size:
    """The numbers of a model's parameters."""

    parameters: int
    ends: int
    """The total number of inputs and outputs of all layers that an adapter is applied to."""
    linear: int
    """The number of weights of these layers."""
    own_rank: int = 0
    """The rank of the adapter that the model brings."""


NAMED = {SMOLLM2: Size(134_515_008, 305_280, 106_168_320), TINY: Size(2_814_616, 1_888, 61_824)}


def needs(config: Any, run: Path, disk: Callable[[Size], int], on_this_machine: bool = True) -> dict[str, Json]:
    """Returns the requirements of a run, including the bytes that it will write and the free bytes on the disk.

    ConfigurationError for a domain, a model or a vLLM that is not available, and for a model that does not fit into the
    memory of this machine's device. Checkpoints of an earlier start are subtracted, because a resumed run replaces
    them.
    """
    if on_this_machine:
        check_domains(config)
    check_vllm(config.vllm_python)
    try:
        size = size_of(config.model)
        chat = check_chat(config)
    except ModelError as error:
        raise ConfigurationError(f"model: {error}") from error
    if on_this_machine:
        check_quantization(config)
    memory = check_memory(config, size) if on_this_machine else None
    there = run
    while not there.exists():
        there = there.parent
    before = sum(file.stat().st_size for file in (run / run_files.CHECKPOINTS).rglob("*") if file.is_file())
    served = _handed_to_vllm(config, size) if config.vllm_python else 0
    return {
        "disk": max(0, disk(size) + served + REST - before),
        "free": shutil.disk_usage(there).free,
        "parameters": size.parameters,
        "chat": chat,
        "download": download_of(config.model) if on_this_machine else 0,
        **({"memory": memory} if memory else {}),
    }


def download_of(name: str) -> int:
    """Returns the bytes of a model's weights that have to be downloaded from the hub; 0 if they are on this machine."""
    name = adapter_base(Path(name)) or name
    if name in NAMED or Path(name).is_dir():
        return 0
    from huggingface_hub import HfApi, try_to_load_from_cache

    if any(isinstance(try_to_load_from_cache(name, file), str) for file in WEIGHTS):
        return 0
    try:
        files = HfApi().model_info(name, files_metadata=True, timeout=10).siblings or []
    except Exception:  # the hub has just answered; the download itself reports an error
        return 0
    sizes = {each.rfilename: each.size or 0 for each in files}
    safe = sum(size for file, size in sizes.items() if file.endswith(".safetensors"))
    return safe or sum(size for file, size in sizes.items() if file.endswith(".bin"))


def _handed_to_vllm(config: Any, size: Size) -> int:
    """Returns the bytes of the files that vLLM reads: the newest adapter and the previous one, or all weights."""
    rank = size.own_rank or getattr(config, "lora_rank", 0)
    return 2 * 4 * rank * size.ends if rank else 4 * size.parameters


def check_chat(config: Any) -> str:
    """Returns the format of the model's conversations, and the reason for it, for display; does not load its weights.

    ModelError for a model whose chat template cannot be trained with.
    """
    without_tools = "compact, because the model's chat template shows it no tools"
    if config.dialect != "template" and _is_named(config.model):
        return "compact, as dialect says" if config.dialect == "compact" else without_tools
    from rehearsal_trainer.gateway.serving import chat_of
    from rehearsal_trainer.models.loading import load_tokenizer

    tokenizer = load_tokenizer(config.model)
    template = tokenizer.chat_template
    chat = chat_of(config.model, tokenizer, config.dialect, config.thinking)
    if config.dialect == "compact":
        return "compact, as dialect says"
    if not template:
        return (
            "compact, because the model's tokenizer has no chat template, as those of base models. To use another "
            "format, choose an instruct model, or put a chat_template.jinja into the model's folder"
        )
    if chat.tokenizer.chat_template != template:
        return without_tools
    thinking = "; the model thinks before it answers" if config.thinking else ""
    return f"the model's chat template, with calls as in {chat.form.name}{thinking}"


def check_quantization(config: Any) -> None:
    """Raises ConfigurationError if 4-bit weights are requested and cannot be loaded here or cannot be trained."""
    if quantization_of(config.model, config.quantization) == "none":
        return
    if getattr(config, "lora_rank", 1) == 0 and adapter_base(Path(config.model)) is None:
        raise ConfigurationError(
            "quantization: 4-bit weights cannot be trained, only an adapter over them. Set lora_rank above 0, or "
            "quantization to none"
        )
    if config.vllm_python is not None:
        raise ConfigurationError(
            "quantization: vLLM cannot sample from 4-bit weights here. Leave vllm_python out, or set quantization to "
            "none"
        )
    if importlib.util.find_spec("bitsandbytes") is None:
        raise ConfigurationError(
            f"quantization: 4-bit weights need the package bitsandbytes, which {sys.executable} does not have. "
            f'Install it with: "{sys.executable}" -m pip install -r "{BITSANDBYTES}"'
        )
    import bitsandbytes  # pyright: ignore[reportMissingImports]
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    capability = torch.cuda.get_device_capability() if device == "cuda" else OLDEST_CAPABILITY
    if device not in bitsandbytes.supported_torch_devices or capability < OLDEST_CAPABILITY:
        found = f"compute capability {capability[0]}.{capability[1]}" if device == "cuda" else device
        raise ConfigurationError(
            f"quantization: bitsandbytes {bitsandbytes.__version__} has no 4-bit weights for this device ({found}). "
            f"Use an NVIDIA GPU with compute capability {OLDEST_CAPABILITY[0]}.{OLDEST_CAPABILITY[1]} or higher, or "
            "set quantization to none"
        )


def check_domains(config: Any) -> None:
    """Raises ConfigurationError for a domain whose folder has no domain.yaml."""
    given = config.domain
    trained = given if isinstance(given, list) else [DomainShare(given)] if given else []
    for key, shares in (("domain", trained), ("held_out", getattr(config, "held_out", []))):
        for share in shares:
            folder = Path(config.engine_cwd, share.folder).absolute()
            if not (folder / "domain.yaml").is_file():
                raise ConfigurationError(
                    f"{key}: {folder} is not a domain, because it has no domain.yaml. A domain is a folder with "
                    "domain.yaml, a policy, tools and tasks. Correct the path, or create a domain with `npx rehearsal "
                    "new FOLDER --template support-desk`"
                )


def check_memory(config: Any, size: Size) -> dict[str, Json]:
    """Returns the bytes that weights, gradients, optimizer and reference need, and the bytes that the device has.

    With vLLM, also those that it may use. ConfigurationError if the run needs more than the device has.
    """
    device, room = device_memory(config.model)
    lacking = _lacking(config, size, device, room)
    if lacking is None:
        served = {"vllm": round(config.vllm_memory * room)} if _samples_with_vllm(config) else {}
        return {"needed": _needed(config, size), "available": room, **served}
    advice = _settings_that_fit(config, size, room)
    if advice:
        raise ConfigurationError(f"{lacking}. To continue, choose a smaller model, or {', or '.join(advice)}")
    raise ConfigurationError(f"{lacking}. No setting makes it fit. Choose a smaller model or a larger device")


def _needed(config: Any, size: Size) -> int:
    changed = 3 * trained(config, size) if hasattr(config, "lora_rank") else 0  # the gradient and Adam's two moments
    return in_memory(config, size) + changed + reference(config, size)


def _lacking(config: Any, size: Size, device: str, room: int) -> str | None:
    """Returns what the memory of a device is too small for, or None."""
    needed, weights = _needed(config, size), in_memory(config, size)
    billions = f"{size.parameters / 1e9:.1f} billion parameters"
    if needed > room:
        copy = reference(config, size)
        return (
            f"model: {config.model} is too large for {device}. It has {billions}; weights, "
            f"gradients{', optimizer and the reference of beta' if copy else ' and optimizer'} take "
            f"{_gib(needed)} of {_gib(room)}"
        )
    if not _samples_with_vllm(config):
        return None
    share = config.vllm_memory * room
    if weights > share:
        return (
            f"vllm_memory: vLLM has {_gib(share)} of {device}, and its copy of {config.model} ({billions}) takes "
            f"{_gib(weights)}"
        )
    # vLLM sleeps in the update, where the gradient is.
    kept = needed - trained(config, size) if hasattr(config, "lora_rank") else needed
    if kept + share > room:
        return (
            f"vllm_memory: while it samples, vLLM takes {_gib(share)}, and the trainer keeps {_gib(kept)} of weights "
            f"and optimizer ({billions}); {device} has {_gib(room)}"
        )
    return None


def _settings_that_fit(config: Any, size: Size, room: int) -> list[str]:
    """Returns the changes of a configuration with which a run fits, each in words.

    A change sets several keys only where a single key is not enough.
    """
    is_trained = hasattr(config, "lora_rank")
    adapted = {} if size.own_rank or getattr(config, "lora_rank", 1) else {"lora_rank": 16}
    of_adapter = [("set lora_rank above 0", adapted)] if adapted else []
    changes: list[tuple[str, dict[str, Any]]] = [*of_adapter]
    if is_trained and config.dtype != "bfloat16":
        changes.append(("set dtype to bfloat16", {"dtype": "bfloat16"}))
    if _samples_with_vllm(config):
        least = math.ceil(20 * (1.25 * in_memory(config, size) / room)) / 20
        changes.append((f"set vllm_memory to {least:g}", {"vllm_memory": min(least, 1.0)}))
        changes.append(("leave vllm_python out", {"vllm_python": None}))
    elif quantization_of(config.model, config.quantization) == "none" and not adapted:
        changes.append(("set quantization to 4bit", {"quantization": "4bit"}))
    together = [
        ("set lora_rank above 0 and dtype to bfloat16", {**adapted, "dtype": "bfloat16"}),
        ("set lora_rank above 0 and quantization to 4bit", {**adapted, "quantization": "4bit", "vllm_python": None}),
    ]
    for some in (changes, together if adapted else []):
        fitting = [words for words, each in some if _lacking(replace(config, **each), size, "", room) is None]
        if fitting:
            return fitting
    return []


def _samples_with_vllm(config: Any) -> bool:
    """Returns whether a run starts vLLM; SFT only does for its evaluations."""
    return config.vllm_python is not None and (not hasattr(config, "recordings") or config.evaluate_every > 0)


def _gib(size: float) -> str:
    return f"{size / 2**30:.1f} GiB"


def device_memory(model: str) -> tuple[str, int]:
    """Returns the name of the device that a model runs on, for display, and the bytes of its memory."""
    if not _is_named(model):  # named models fit anywhere, and are checked without torch
        import torch

        if torch.cuda.is_available():
            return f"the GPU ({torch.cuda.get_device_name(0)})", torch.cuda.get_device_properties(0).total_memory
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return "this machine's CPU", os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return "this machine's CPU", sys.maxsize  # the standard library does not report the memory on Windows


def check_vllm(python: str | None) -> None:
    """Raises ConfigurationError if the path for vLLM is not a Python or does not have vLLM."""
    if python is None:
        return
    # The working folder is not a place of modules, though Python looks there first.
    own = "import sys; sys.path[:] = [each for each in sys.path if each]"
    probe = f"{own}; import importlib.util as u; print(u.find_spec('vllm') is not None)"
    try:
        found = subprocess.run(
            [python, "-c", probe], capture_output=True, text=True, timeout=PROBE_S, check=False, env=without_keys()
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigurationError(
            f"vllm_python: {python} can't be started ({error}); name a Python that has vLLM"
        ) from error
    if found.stdout.strip() != "True":
        raise ConfigurationError(
            f"vllm_python: {python} has no vLLM; install it there ({python} -m pip install vllm), or leave the key out"
        )


def checkpoints(config: Any, size: Size) -> int:
    """Returns the maximum bytes of a run's checkpoints: the newest is written before the oldest is deleted.

    Each has the trained weights and Adam's two moments of them.
    """
    count = config.keep_checkpoints + 1
    if config.steps:
        count = min(count, math.ceil(config.steps / config.save_every))
    return count * 3 * trained(config, size)


def trained(config: Any, size: Size) -> int:
    """Returns the bytes of the weights that a run changes; those of an adapter are float32."""
    rank = size.own_rank or config.lora_rank
    return 4 * rank * size.ends if rank else whole(config, size)


def can_merge(config: Any, size: Size) -> bool:
    """Returns whether SFT merges its adapter into the weights at the end, as `can_merge` does for a loaded model."""
    is_quantized = quantization_of(config.model, config.quantization) != "none"
    return not is_quantized and _bytes_of(config.dtype, size.own_rank or config.lora_rank) == 4


def whole(config: Any, size: Size) -> int:
    """Returns the bytes of all weights of a model, in the type that they are trained in."""
    return size.parameters * _bytes_of(config.dtype, size.own_rank or config.lora_rank)


def in_memory(config: Any, size: Size) -> int:
    """Returns the bytes of all weights of a model as they are loaded, without those of an adapter."""
    rank = size.own_rank or getattr(config, "lora_rank", 1)
    each = _bytes_of(config.dtype, rank) if hasattr(config, "lora_rank") else 4
    if quantization_of(config.model, config.quantization) == "none":
        return size.parameters * each
    return round(size.linear * BYTES_IN_4BIT) + (size.parameters - size.linear) * _bytes_of(config.dtype, rank)


def reference(config: Any, size: Size) -> int:
    """Returns the bytes of TRL's reference for the KL term: a copy of an adapter or of all weights in float32.

    None are needed for a new adapter: there the reference is the model without it.
    """
    if getattr(config, "beta", 0) == 0:
        return 0
    if size.own_rank:
        return trained(config, size)
    return 0 if config.lora_rank else 4 * size.parameters


def _bytes_of(dtype: str, rank: int) -> int:
    if dtype != "auto" or rank == 0:
        return 2 if dtype == "bfloat16" else 4
    from rehearsal_trainer.models.loading import dtype_named

    return dtype_named("auto").itemsize


def size_of(name: str) -> Size:
    """Returns the size of a model by its name; ModelError if it is not available."""
    if name in NAMED:
        if not (cache_folder() / "models" / CACHED[name] / "config.json").exists():
            smollm2_package()
        return NAMED[name]
    folder = Path(name)
    base = adapter_base(folder)
    if base is not None:
        adapter = json.loads(read_text(folder / "adapter_config.json", TEXT))
        of_base = size_of(base)
        return Size(of_base.parameters, of_base.ends, of_base.linear, int(adapter.get("r", 0)))
    if folder.is_dir():
        for what in (("config.json",), WEIGHTS):
            if not any((folder / file).exists() for file in what):
                raise ModelError(f"{name} does not contain a model: it has no {what[0]}")
        return _measured(name, is_here=True)
    return _measured(name, is_here=not _hub_has(name))


def _is_named(model: str) -> bool:
    """Returns whether a model, or the base model of an adapter, comes with Rehearsal."""
    return (adapter_base(Path(model)) or model) in NAMED


def _hub_has(name: str) -> bool:
    """Returns whether the hub provides a model; False if only the local cache has it, ModelError if neither does."""
    from huggingface_hub import HfApi, errors, hf_hub_download, try_to_load_from_cache

    unknown = ModelError(
        f"{name!r} is neither smollm2, tiny, a folder with a model or adapter, nor a model that the Hugging Face hub "
        "knows: check the name; one that is not public needs HF_TOKEN"
    )
    try:
        HfApi().model_info(name, timeout=10)  # the only call that fails at once if the hub can't be reached
        hf_hub_download(name, "config.json")
    except errors.HFValidationError:
        raise unknown from None
    except errors.EntryNotFoundError:
        raise ModelError(f"{name} does not contain a model: it has no config.json") from None
    except (errors.GatedRepoError, errors.DisabledRepoError):
        raise ModelError(
            f"the Hugging Face hub denies access to {name!r}: request access on its page, and set HF_TOKEN"
        ) from None
    except errors.RepositoryNotFoundError:
        raise unknown from None
    except Exception as error:  # the run would meet the same network error
        if any(isinstance(try_to_load_from_cache(name, file), str) for file in WEIGHTS):
            return False
        raise ModelError(
            f"the Hugging Face hub is unreachable from here ({_first_line(error)}), and {name!r} is not in its cache: "
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
        raise ModelError(f"{name!r} is not a model that can be trained: {_first_line(error)}") from error
    head = model.get_output_embeddings()
    linear = [each for each in model.modules() if isinstance(each, torch.nn.Linear) and each is not head]
    ends = sum(each.in_features + each.out_features for each in linear)
    return Size(model.num_parameters(), ends, sum(each.weight.numel() for each in linear))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
