"""Tests the run folder: complete lines on a full disk, and one trainer at a time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from rehearsal_trainer.backends.atomic_checkpoints import publish_checkpoint
from rehearsal_trainer.processes.trainer_process import beginning_by_proc, beginning_by_ps, running_process
from rehearsal_trainer.runs.run_folder import RunFolder, _is_whole
from rehearsal_trainer.values.failures import ConfigurationError, TrainingError
from rehearsal_trainer.values.lines import read_lines

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and /dev/full")


@dataclass
class Config:
    run: str = "here"


def opened(path: Path, resume: bool = False) -> RunFolder:
    return RunFolder(path, "sft", Config(), resume)


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_with_other_files_stays_as_it_is(tmp_path: Path, resume: bool) -> None:
    (tmp_path / "config.json").write_text('{"mine": 1}')
    (tmp_path / "model.safetensors").write_text("")
    message = r"not empty, .* has config\.json, model\.safetensors; name a new or an empty folder"
    with pytest.raises(ConfigurationError, match=message):
        opened(tmp_path, resume)
    assert (tmp_path / "config.json").read_text() == '{"mine": 1}'


@pytest.mark.parametrize(
    ("name", "text"), [("launch.json", '{"run": "here"}'), ("events.jsonl", '{"type": "started"}\n')]
)
def test_a_run_that_has_trained_nothing_starts_again(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    opened(tmp_path)
    assert (tmp_path / "config.json").exists()


@linux
def test_a_full_disk_is_one_message_that_names_the_file(tmp_path: Path) -> None:
    run = opened(tmp_path / "run")
    (run.path / "metrics.jsonl").symlink_to("/dev/full")
    with pytest.raises(TrainingError, match=r"metrics\.jsonl: the disk is full; what was written before is kept"):
        run.metrics(1, {"loss": 1.0})


@linux
def test_what_was_written_before_a_full_disk_stays_whole(tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.values.failures import TrainingError
from dataclasses import make_dataclass
run = RunFolder(Path(sys.argv[1]), "sft", make_dataclass("Config", [])())
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    for step in range(1, 100):
        run.metrics(step, {"loss": 0.5})
except TrainingError as error:
    print(step, error)
"""
    trainer = str(Path(__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run"), trainer], capture_output=True, text=True, check=True
    )
    failed_at, message = done.stdout.split(" ", 1)
    assert "File too large; what was written before is kept" in message
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == int(failed_at) - 1 > 3
    assert all(line.endswith("}") for line in lines)


@linux
def test_a_folder_has_one_trainer_at_a_time(tmp_path: Path) -> None:
    run = opened(tmp_path / "run").path
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (run / "pid").write_text(str(other.pid))
        assert running_process(run / "pid") == other.pid
        with pytest.raises(ConfigurationError, match=f"is being trained by process {other.pid}; stop that first"):
            opened(run, resume=True)
        other.kill()
    # A trainer that was killed leaves its file behind, which does not block the next one.
    assert running_process(run / "pid") is None
    opened(run, resume=True)
    assert (run / "pid").read_text() == str(os.getpid())


@linux
def test_the_number_of_a_killed_trainer_may_belong_to_another_program(tmp_path: Path) -> None:
    run = opened(tmp_path / "run").path
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (run / "pid").write_text(str(other.pid))
        os.utime(run / "pid", (1, 1))
        assert running_process(run / "pid") is None
        other.kill()


@linux
@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps")
def test_without_proc_the_system_is_asked(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        assert beginning_by_ps(other.pid) == pytest.approx(beginning_by_proc(other.pid), abs=2)
        os.kill(other.pid, 9)
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        assert (beginning_by_ps(other.pid), beginning_by_proc(other.pid)) == (None, None)
    with pytest.raises(ValueError):
        beginning_by_ps(other.pid)


def test_without_a_number_there_is_no_trainer(tmp_path: Path) -> None:
    assert running_process(tmp_path / "pid") is None
    (tmp_path / "pid").write_text("")
    assert running_process(tmp_path / "pid") is None


def test_a_run_goes_on_from_the_step_that_another_writer_of_checkpoints_names(tmp_path: Path) -> None:
    with opened(tmp_path) as run:
        run.metrics(1, {"loss": 1.0})
    with RunFolder(tmp_path, "sft", Config(), True, reached=20):
        resumed = read_lines(tmp_path / "events.jsonl")[-1]
    assert (resumed["type"], resumed["attempt"], resumed["step"]) == ("resumed", 2, 20)


def test_the_latest_checkpoint_is_the_complete_one_with_the_highest_step(tmp_path: Path) -> None:
    run = opened(tmp_path / "run")
    assert run.latest_checkpoint() is None
    for name in ("checkpoint-9", "checkpoint-10", "checkpoint-11.part", "checkpoint-", "12", "final"):
        (run.checkpoints / name).mkdir()
        (run.checkpoints / name / "trainer_state.json").write_text("{}")
    # The trainer was killed while it wrote these.
    for name, state in (("checkpoint-11", None), ("checkpoint-12", ""), ("checkpoint-13", '{"epoch":')):
        (run.checkpoints / name).mkdir()
        if state is not None:
            (run.checkpoints / name / "trainer_state.json").write_text(state)
    assert run.latest_checkpoint() == run.checkpoints / "checkpoint-10"
    (run.checkpoints / "unfinished" / "checkpoint-15").mkdir(parents=True)
    (run.checkpoints / "unfinished" / "old-checkpoint-16").mkdir()
    assert opened(run.path, resume=True)._reached == 10
    resumed = read_lines(run.path / "events.jsonl")[-1]
    assert (resumed["step"], resumed["incomplete"]) == (10, [11, 12, 13, 15])


@linux
def test_a_run_does_not_continue_from_a_checkpoint_with_a_pipe(tmp_path: Path) -> None:
    with opened(tmp_path) as run:
        checkpoint = run.checkpoints / "checkpoint-1"
        checkpoint.mkdir()
        (checkpoint / "trainer_state.json").write_text("{}")
        os.mkfifo(checkpoint / "optimizer.pt")
    assert _is_whole(checkpoint)
    with pytest.raises(TrainingError, match=r"optimizer\.pt is not a regular file"):
        opened(tmp_path, resume=True)


def test_a_checkpoint_takes_the_place_of_an_older_one_and_the_oldest_go(tmp_path: Path) -> None:
    for age, name in enumerate(("checkpoint-1", "checkpoint-2", "checkpoint-3", "final")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights").write_text("old")
        os.utime(tmp_path / name, (age, age))
    (tmp_path / "unfinished" / "checkpoint-3").mkdir(parents=True)
    (tmp_path / "unfinished" / "checkpoint-3" / "weights").write_text("new")
    publish_checkpoint(tmp_path, "checkpoint-3", kept=2)
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint-2", "checkpoint-3", "final"}
    assert (tmp_path / "checkpoint-3" / "weights").read_text() == "new"
