"""Small random models of each architecture, saved with the tokenizer of their family."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from model_families import FAMILIES, Family, tokenizer_of

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": True,
}


def _qwen3_5(**sizes: Any) -> Any:
    linear: dict[str, Any] = {
        "layer_types": ["linear_attention", "full_attention"],
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
    }
    return transformers.Qwen3_5TextConfig(**sizes, **linear)


def _gemma4(**sizes: Any) -> Any:
    layers: dict[str, Any] = {
        "layer_types": ["sliding_attention", "full_attention"],
        "sliding_window": 64,
        "global_head_dim": 8,
    }
    per_layer = {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": sizes["vocab_size"]}
    return transformers.Gemma4TextConfig(**sizes, **layers, **per_layer, num_kv_shared_layers=0)


def _gpt_oss(**sizes: Any) -> Any:
    experts = {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 64}
    own: dict[str, Any] = {**sizes, **experts, "tie_word_embeddings": False}
    return transformers.GptOssConfig(**own)


ARCHITECTURES: dict[str, tuple[str, Callable[..., Any]]] = {
    "Qwen3": ("Qwen3", transformers.Qwen3Config),
    "Qwen3.5": ("Qwen3.5", _qwen3_5),
    "Llama": ("Llama 3.2", transformers.LlamaConfig),
    "Gemma 4": ("Gemma 4", _gemma4),
    "Mistral": ("Mistral", lambda **sizes: transformers.MistralConfig(**sizes, sliding_window=None)),
    "gpt-oss": ("gpt-oss", _gpt_oss),
}
"""For each architecture, the family whose template it uses, and a function from sizes to its configuration."""


def family_of(architecture: str) -> Family:
    name = ARCHITECTURES[architecture][0]
    return next(each for each in FAMILIES if each.name == name)


def save_small_model(architecture: str, folder: Path) -> Path:
    """Writes a model of a few thousand random parameters, the same ones each time."""
    family = family_of(architecture)
    tokenizer = tokenizer_of(family)
    ends = tokenizer.convert_tokens_to_ids(list(family.stops))
    config = ARCHITECTURES[architecture][1](
        **SIZES, vocab_size=len(tokenizer), pad_token_id=ends[0], eos_token_id=ends[0], bos_token_id=ends[0]
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model: Any = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.generation_config = transformers.GenerationConfig(eos_token_id=ends, pad_token_id=ends[0])
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
