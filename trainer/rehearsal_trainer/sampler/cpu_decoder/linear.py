"""Multiplies a few rows with a weight that stays the same for many passes.

On a CPU, BLAS lays the weight out again for every call, which takes longer than multiplying when there are only a few
rows. oneDNN takes a weight that was laid out once (`torch.compile` freezes weights through the same two operators).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

Product = Callable[[Tensor], Tensor]
"""(rows, inputs) to (rows, outputs)."""


def product_of(weight: Tensor) -> Product:
    """Returns the product with a weight of (outputs, inputs), which must not change afterwards."""
    if not _can_be_packed(weight):
        return lambda rows: F.linear(rows, weight)
    packed = torch.ops.mkldnn._reorder_linear_weight(weight)
    return lambda rows: torch.ops.mkldnn._linear_pointwise(rows, packed, None, "none", [], "")


def _can_be_packed(weight: Tensor) -> bool:
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )
