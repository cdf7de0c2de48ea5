"""Computes a prefix that all rows of a batch share, such as the policy and the tools, only once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def share_prefix(body: Any, min_length: int = 32) -> None:
    """Makes a transformer body compute the prefix that all rows of a batch share only once.

    Exact: causal attention gives a prefix the same hidden states in every row, and the gradient of the one copy
    is the sum over the rows. Only for bodies whose cache holds plain keys and values. While the body trains with
    gradient checkpointing it keeps no cache, so every row is computed in full.
    """
    original = body.forward

    def forward(input_ids: Tensor | None = None, attention_mask: Tensor | None = None, **rest: Any) -> Any:
        keeps_cache = not (body.training and body.is_activation_checkpointing)
        is_start = input_ids is not None and rest.get("past_key_values") is None
        length = shared_length(input_ids, attention_mask) if input_ids is not None and is_start and keeps_cache else 0
        if input_ids is None or length < min_length:
            return original(input_ids=input_ids, attention_mask=attention_mask, **rest)
        rest = {
            name: value for name, value in rest.items() if name not in ("use_cache", "position_ids", "past_key_values")
        }
        head = original(input_ids=input_ids[:1, :length], use_cache=True, **rest)
        cache = head.past_key_values
        cache.batch_repeat_interleave(len(input_ids))
        tail = original(
            input_ids=input_ids[:, length:],
            attention_mask=attention_mask,
            past_key_values=cache,
            use_cache=True,
            **rest,
        )
        shared = head.last_hidden_state.expand(len(input_ids), -1, -1)
        tail.last_hidden_state = torch.cat([shared, tail.last_hidden_state], 1)
        tail.past_key_values = None
        return tail

    body.forward = forward


def shared_length(input_ids: Tensor, attention_mask: Tensor | None) -> int:
    """Returns the number of leading tokens that all rows share, without padding; the last token is never counted."""
    if len(input_ids) < 2:
        return 0
    same = (input_ids == input_ids[:1]).all(0)
    if attention_mask is not None:
        same &= attention_mask.bool().all(0)
    return min(int(same.long().cumprod(0).sum()), input_ids.shape[1] - 1)
