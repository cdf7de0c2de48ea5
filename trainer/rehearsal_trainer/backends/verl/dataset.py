"""verl's data set of a domain's tasks, and the file from which verl reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rehearsal_trainer.backends.verl.verl_settings import AGENT_LOOP
from rehearsal_trainer.values.messages import Json


def rows_of(domain: str, tasks: Sequence[str], split: str) -> list[dict[str, Json]]:
    """Returns verl's data set of a split. The engine starts the conversation, so the prompt only names the task."""
    return [
        {
            "prompt": [{"role": "user", "content": f"{domain}: {task}"}],
            "data_source": domain,
            "agent_name": AGENT_LOOP,
            "reward_model": {"style": "rule", "ground_truth": task},
            "extra_info": {"index": index, "task": task, "split": split},
        }
        for index, task in enumerate(tasks)
    ]


def write_rows(rows: Sequence[Mapping[str, Json]], path: str) -> None:
    """Returns one row per task, in the domain's order."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), path)
