"""Groups the new tokens of a pass for attention: few tokens of many sessions at once, a long prompt by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

MAX_BATCHED_TOKENS = 8
"""The maximum number of new tokens of a session whose attention is computed together with that of other sessions."""


@dataclass
class Span:
    """The sessions with few new tokens, in the slots low..high.

    `rows` are the rows of their tokens in the batch. `places` are the indices of their tokens if every slot of the span
    has `new` tokens. The first `shared` tokens of all sessions are those of the slot `low`. `is_all` means that these
    are all places of the span and all rows of the batch, so that no selection is needed.
    """

    slots: list[int]
    rows: Tensor
    places: Tensor
    low: int
    high: int
    new: int
    length: int
    seen: Tensor
    is_all: bool
    shared: int = 0


@dataclass
class SingleSession:
    """A session whose attention is computed by itself.

    It has the rows start..end of the batch, a slot, the length of the session afterwards, and the mask of the tokens
    that each new token sees (None: all tokens).
    """

    start: int
    end: int
    slot: int
    length: int
    seen: Tensor | None


class AttentionBatch:
    """The positions and groups of the new tokens, computed once per pass and used by every layer."""

    def __init__(
        self, slots: list[int], lengths: list[int], counts: list[int], group: int, device: Any, dtype: Any
    ) -> None:
        positions = [length + offset for length, count in zip(lengths, counts, strict=True) for offset in range(count)]
        self.places = torch.tensor(positions, device=device)
        self.slot_of = torch.tensor(
            [s for s, count in zip(slots, counts, strict=True) for _ in range(count)], device=device
        )
        starts = [sum(counts[:index]) for index in range(len(counts))]
        few = [index for index, count in enumerate(counts) if count <= MAX_BATCHED_TOKENS]
        span = max((slots[i] for i in few), default=0) + 1 - min((slots[i] for i in few), default=0)
        together = len(few) > 1 and span <= 2 * len(few)  # free slots in between cost as much as used ones
        self.others = [
            SingleSession(start, start + count, slot, length + count, _causal(count, length + count, device))
            for index, (start, count, slot, length) in enumerate(zip(starts, counts, slots, lengths, strict=True))
            if not (together and index in few)
        ]
        self.span = None
        if together:
            low, new = min(slots[i] for i in few), max(counts[i] for i in few)
            length = max(lengths[i] + counts[i] for i in few)
            ends = torch.ones(span, new, dtype=torch.long)
            for i in few:
                ends[slots[i] - low] = lengths[i] + 1 + torch.arange(new)
            if new > 1:  # the mask of a single token holds for all query heads
                ends = ends.repeat_interleave(group, 1)
            seen = torch.arange(length) < ends[..., None]
            bias = torch.zeros(seen.shape, dtype=dtype).masked_fill(~seen, float("-inf"))[:, None]
            at = [(starts[i] + offset, (slots[i] - low) * new + offset) for i in few for offset in range(counts[i])]
            rows, places = (torch.tensor(each, device=device) for each in zip(*at, strict=True))
            is_all = len(few) == len(counts) and len(at) == span * new
            self.span = Span(
                [slots[i] for i in few], rows, places, low, low + span, new, length, bias.to(device), is_all
            )


def _causal(count: int, length: int, device: Any) -> Tensor | None:
    if count == 1:
        return None
    return torch.ones(count, length, dtype=torch.bool, device=device).tril(length - count)
