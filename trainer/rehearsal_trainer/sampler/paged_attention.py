"""Registers PyTorch's flash attention for the continuous batching of transformers.

transformers' `sdpa` concatenates the keys of all conversations of a batch and masks those of the others: time and
memory grow with the product of conversations and keys. Its flash variants need the package flash-attn, or `kernels`,
which downloads one. This module registers PyTorch's own kernel instead (torch.nn.attention.varlen).
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import torch
from torch.nn.attention.varlen import varlen_attn
from transformers import AttentionInterface, PreTrainedModel

NAME = "torch_flash"
"""The name of this attention in transformers; "flash" means that it needs the ends of conversations and not a mask."""

LARGEST_HEAD = 256
"""The largest head size that the kernel supports."""

SHARED_HEADS: dict[str, Any] = {"enable_gqa": True} if "enable_gqa" in signature(varlen_attn).parameters else {}
"""Tells the kernel that several query heads share keys. PyTorch 2.11 detects this itself."""


def can_use_kernel(model: Any) -> bool:
    """Returns whether the kernel supports every layer of a model: on a GPU, currently with `sdpa`, and in 16 bits.

    Latent attention has heads of two sizes, which the kernel does not support. accelerate makes float32 weights compute
    in bfloat16 (the profile `paper`), and keeps the forward that it replaces in `_original_forward`.
    """
    is_half = model.dtype.itemsize == 2 or hasattr(model, "_original_forward")
    largest = max(getattr(module, "head_dim", 0) for module in model.modules())
    is_on_gpu = model.device.type == "cuda" and torch.cuda.get_device_capability(model.device) >= (8, 0)
    return is_on_gpu and model.config._attn_implementation == "sdpa" and is_half and 0 < largest <= LARGEST_HEAD


def set_attention(model: Any, name: str) -> None:
    """Sets the attention of a model and of the models in it.

    transformers' own `set_attn_implementation` looks for a package for every name that contains "flash".
    """
    for module in model.modules():
        if isinstance(module, PreTrainedModel):
            module.config._attn_implementation_internal = name


def paged_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    _mask: torch.Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    cache: Any = None,
    **batch: Any,
) -> tuple[torch.Tensor, None]:
    """Stores the new keys and values, and attends from each token to the earlier ones in its conversation.

    query, key, value: [1, heads, tokens of all conversations, head size], with fewer heads for key and value if several
    query heads share one. batch: the arguments that transformers passes with a batch, such as the ends of its
    conversations. Returns [1, tokens, heads, head size].
    """
    keys, values = cache.update(key_states=key, value_states=value, layer_idx=module.layer_idx, kwargs=batch)
    device = query.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else query.dtype
    queries, keys, values = (each[0].transpose(0, 1).to(dtype).contiguous() for each in (query, keys, values))
    attended: Any = varlen_attn(
        queries,
        keys,
        values,
        batch["cu_seq_lens_q"],
        batch["cu_seq_lens_k"],
        batch["max_length_q"],
        batch["max_length_k"],
        scale=scaling,
        window_size=(sliding_window - 1 if sliding_window else -1, 0),
        **SHARED_HEADS,
    )
    return attended[None], None


AttentionInterface.register(NAME, paged_attention)
