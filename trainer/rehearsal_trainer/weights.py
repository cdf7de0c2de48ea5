"""The weights of a live module, with the LoRA adapters around it merged in."""

from __future__ import annotations

from typing import Any

from torch import Tensor


def merged_weight(linear: Any) -> Tensor:
    """The weight of a linear module with its active LoRA adapters added: (outputs, inputs)."""
    base = linear.get_base_layer() if hasattr(linear, "get_base_layer") else linear
    weight = base.weight.detach()
    if hasattr(linear, "get_delta_weight") and not linear.disable_adapters and not linear.merged:
        for adapter in linear.active_adapters:
            if adapter in linear.lora_A:
                weight = weight + linear.get_delta_weight(adapter).detach().to(weight.dtype)
    return weight


def without_adapters(model: Any) -> Any:
    """The module that adapters were put around; without any, the module itself."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def merged_weights(model: Any) -> tuple[Any, dict[str, Tensor]]:
    """A causal model's configuration, and all weights by the names under which it is saved."""
    inner = without_adapters(model)
    adapted = {name: module for name, module in inner.named_modules() if hasattr(module, "get_base_layer")}
    weights = {
        name.replace(".base_layer.", "."): value.detach().contiguous()
        for name, value in inner.state_dict().items()
        if ".lora_" not in name
    }
    weights |= {f"{name}.weight": merged_weight(module).contiguous() for name, module in adapted.items()}
    if inner.config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    return inner.config, weights
