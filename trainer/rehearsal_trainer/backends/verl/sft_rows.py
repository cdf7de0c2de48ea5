"""Writes the rows of an SFT run to a file, and reads them as verl's data set. They are ids: verl tokenizes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from rehearsal_trainer.chat.masks import Row


def write_rows(rows: Sequence[Row], path: str) -> None:
    """Writes token ids and loss masks to a Parquet file."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    table = {"input_ids": [row.ids for row in rows], "loss_mask": [row.mask for row in rows]}
    pq.write_table(pa.Table.from_pydict(table), path)


class RenderedRows(Dataset[dict[str, Tensor]]):
    """The rows of a file, each with `input_ids`, `position_ids` and `loss_mask`, [tokens]."""

    def __init__(self, path: str) -> None:
        table = pq.read_table(path)
        self._ids, self._masks = table["input_ids"], table["loss_mask"]

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        ids, mask = self._ids[index].as_py(), self._masks[index].as_py()
        return {
            "input_ids": torch.tensor(ids),
            "position_ids": torch.arange(len(ids)),
            "loss_mask": torch.tensor(mask),
        }


class Passes(Sampler[int]):
    """The order of all rows of a run: consecutive shuffled passes, so a batch can end in the next pass."""

    def __init__(self, rows: int, wanted: int, seed: int) -> None:
        """`rows`: the number of rows in a pass; `wanted`: the number in the run."""
        self._rows, self._wanted = rows, wanted
        self._generator = torch.Generator()
        self._seed = seed

    def __iter__(self) -> Iterator[int]:
        self._generator.manual_seed(self._seed)
        for first in range(0, self._wanted, self._rows):
            order = torch.randperm(self._rows, generator=self._generator)
            yield from order[: self._wanted - first].tolist()

    def __len__(self) -> int:
        return self._wanted

    def set_epoch(self, epoch: int) -> None:
        """Does nothing: verl calls this before each pass, and here the whole run is one pass."""
