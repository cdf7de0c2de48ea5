"""Which of the new tokens of a pass are attended together: few of many sessions at once, a prompt by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

MAX_BATCHED_TOKENS = 8
"""New tokens of a session up to which its attention is computed with that of others; more are a prompt."""


@dataclass
class Span:
    """The sessions with few new tokens, in the slots low..high: their rows of the batch, and their places when all
    slots of the span have `new` of them.

    The first `shared` tokens of all of them are those of the slot `low`.

    `is_all` where these are all places of the span and all rows of the batch, so that nothing has to be picked out.
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
    """A session whose attention is computed by itself: its rows of the batch, its slot, its length afterwards, and what
    each of its new tokens sees (None: all of it)."""

    start: int
    end: int
    slot: int
    length: int
    seen: Tensor | None


class AttentionBatch:
    """The position of each new token: computed once per pass, used by every layer."""

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
            if new > 1:  # a single token's row holds for all query heads
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
