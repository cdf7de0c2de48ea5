"""verl's data set as the file that verl reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rehearsal_trainer.messages import Json


def write_rows(rows: Sequence[Mapping[str, Json]], path: str) -> None:
    """One line per task, in the domain's order."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), path)
