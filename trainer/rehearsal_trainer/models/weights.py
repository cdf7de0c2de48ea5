"""Reads the weights of a live module and of its LoRA adapters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Update = Callable[[Tensor], Tensor]
"""Computes what adapters add to a linear module's output: (rows, inputs) to (rows, outputs), in the adapters' dtype."""


def base_weight(linear: Any) -> Tensor:
    """Returns the weight of a linear module without its adapters: (outputs, inputs)."""
    base = linear.get_base_layer() if hasattr(linear, "get_base_layer") else linear
    return base.weight.detach()


def merged_weight(linear: Any) -> Tensor:
    """Returns the weight of a linear module with its active LoRA adapters added: (outputs, inputs).

    A weight in bfloat16 keeps 8 bits, so most of a small update is lost in the sum.
    """
    weight = base_weight(linear)
    for adapter in _active_adapters(linear):
        weight = weight + linear.get_delta_weight(adapter).detach().to(weight.dtype)
    return weight


def adapter_update(linear: Any) -> Update | None:
    """Returns the update that a linear module's active LoRA adapters add to its output, or None without adapters.

    It keeps the full precision of the update: the sum is rounded once per output, as in the module itself.
    """
    parts = [
        (linear.lora_A[name].weight.detach().clone(), linear.lora_B[name].weight.detach().clone(), linear.scaling[name])
        for name in _active_adapters(linear)
    ]
    if not parts:
        return None

    def update(rows: Tensor) -> Tensor:
        inputs = rows.to(parts[0][0].dtype)
        return torch.stack([(inputs @ down.T) @ up.T * scale for down, up, scale in parts]).sum(0)

    return update


def _active_adapters(linear: Any) -> list[str]:
    if not hasattr(linear, "get_delta_weight") or linear.disable_adapters or linear.merged:
        return []
    return [name for name in linear.active_adapters if name in linear.lora_A]


def without_adapters(model: Any) -> Any:
    """Returns the module inside the adapters, or the module itself if it does not have adapters."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model
