"""Divides the rows of SFT among several processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch.utils.data import Sampler

from rehearsal_trainer.chat.masks import Row
from rehearsal_trainer.processes import distributed


def filled(rows: Sequence[Row], at_once: int) -> Sequence[Row]:
    """Returns the rows, padded to a multiple of `at_once` with unlabelled rows if several processes share them.

    accelerate would pad with rows of the same epoch, which then count twice in the gradient.
    """
    if distributed.count() == 1:
        return rows
    token = rows[0].ids[:1]
    return [*rows, *[Row(token, [0], [None])] * (-len(rows) % at_once)]


class SharedOrder(Sampler[int]):
    """The order of accelerate's sampler in one process, with the padding rows at the end of every epoch."""

    def __init__(self, rows: int, filled: int, seed: int) -> None:
        """`rows` of `filled` have labels."""
        self._rows, self._filled, self._seed = rows, filled, seed
        self._epoch = 0

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self._seed + self._epoch)
        yield from torch.randperm(self._rows, generator=generator).tolist()
        yield from range(self._rows, self._filled)
        self._epoch += 1

    def __len__(self) -> int:
        return self._filled

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of an epoch."""
        self._epoch = epoch
