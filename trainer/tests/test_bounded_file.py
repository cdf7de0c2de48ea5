"""Tests that pipes, devices and files without an end are refused where they are named, without reading them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rehearsal_trainer.models.locations import adapter_base
from rehearsal_trainer.processes.trainer_process import running_process
from rehearsal_trainer.runs.preflight import size_of
from rehearsal_trainer.sft.trajectories import find_recordings, read_recording
from rehearsal_trainer.values.bounded_file import lines_of, read_bytes
from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.lines import read_lines

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SKIPPED: only POSIX has pipes and devices in folders")


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [os.mkfifo, zeros, Path.mkdir])
def test_only_regular_files_are_read(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "a.traj.jsonl"
    make(path)
    message = f"^{re.escape(str(path))} is not a regular file; put a file in its place, or remove it$"
    (found,) = find_recordings([str(tmp_path)])
    for read in (read_recording, read_lines, read_bytes):
        with pytest.raises(TrainingError, match=message):
            read(found)


@pytest.mark.parametrize("make", [os.mkfifo, zeros])
@pytest.mark.parametrize("name", ["adapter_config.json", "config.json", "model.safetensors"])
def test_a_model_folder_with_a_pipe_or_a_device_is_refused(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    make(folder / name)
    with pytest.raises(TrainingError, match=f"^{re.escape(str(folder / name))} is not a regular file"):
        size_of(str(folder))
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(folder)}))
    with pytest.raises(TrainingError, match=f"^{re.escape(str(folder / name))} is not a regular file"):
        adapter_base(tmp_path)


def test_a_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"1\n2\n3\n")
    assert read_bytes(path, 6) == b"1\n2\n3\n"
    assert list(lines_of(path, 6)) == [b"1\n", b"2\n", b"3\n"]
    for read in (read_bytes, lambda path, limit: list(lines_of(path, limit))):
        with pytest.raises(TrainingError, match=rf"^{re.escape(str(path))} is larger than"):
            read(path, 5)


def test_a_process_file_that_is_a_pipe_names_no_process(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pid")
    assert running_process(tmp_path / "pid") is None


def test_a_recording_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.traj.jsonl"
    path.write_bytes(b"\xff\xfe\xfd\n")
    with pytest.raises(TrainingError, match=r"a\.traj\.jsonl:1: expected a recorded event"):
        read_recording(path)
