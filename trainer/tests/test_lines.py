"""Tests the JSON lines of a run's folder, including incomplete ones after a power failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.lines import append_line, read_lines


@pytest.mark.parametrize(
    ("text", "read", "with_another"),
    [
        ('{"a":1}\n', [{"a": 1}], '{"a":1}\n{"b": 2}\n'),
        ('{"a":1}\n\n{"a":', [{"a": 1}], '{"a":1}\n\n{"b": 2}\n'),
        ('{"a":1}', [{"a": 1}], '{"a":1}\n{"b": 2}\n'),
        ('{"a', [], '{"b": 2}\n'),
        ("7", [], '{"b": 2}\n'),
        ("", [], '{"b": 2}\n'),
    ],
)
def test_a_torn_last_line_is_left_out_and_written_over(
    tmp_path: Path, text: str, read: list[dict[str, int]], with_another: str
) -> None:
    file = tmp_path / "events.jsonl"
    assert read_lines(file) == []
    file.write_text(text)
    assert read_lines(file) == read
    append_line(file, {"b": 2})
    assert file.read_text() == with_another


@pytest.mark.parametrize("broken", ['{"a"', "[1]", "null", '{"a"\n{"a":1}\n{"a"'])
def test_any_other_broken_line_is_named(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text('{"a":1}\n' + broken + "\n")
    with pytest.raises(
        TrainingError, match=r"events.jsonl:2: expected a JSON object; delete this line, then use --resume"
    ):
        read_lines(file)
