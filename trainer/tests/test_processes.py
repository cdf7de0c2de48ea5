"""Tests SFT in two processes on a CPU, connected by gloo: they train like one process, and end together."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from configs import gold_recordings, grpo_config, lines, sft_config
from conftest import SCRIPTED_ENGINE, TESTS
from waiting import LIMIT_S, until

from rehearsal_trainer.backends.shared_rows import SharedOrder, filled
from rehearsal_trainer.chat.masks import Row
from rehearsal_trainer.commands import sft
from rehearsal_trainer.grpo.config import check as check_grpo
from rehearsal_trainer.models.loading import load_model
from rehearsal_trainer.processes import distributed
from rehearsal_trainer.values.failures import ConfigurationError

TRAINER = Path(__file__).resolve().parents[1]


@contextmanager
def started(config: sft.Config, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Starts `rehearsal_trainer sft`; its processes are killed at the end of the test."""
    file = Path(config.run).with_suffix(".json")
    file.write_text(json.dumps(asdict(config)))
    command = [sys.executable, "-m", "rehearsal_trainer", "sft", "--config", str(file), *more]
    environment = {**os.environ, "PYTHONPATH": str(TRAINER)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    try:
        yield process
    finally:
        # Each rank has its own session, and would keep the output open.
        for pid in [*children_of(process.pid), process.pid] if process.poll() is None else []:
            os.killpg(pid, signal.SIGKILL)
        process.communicate()


def ended(config: sft.Config, *more: str, code: int = 0) -> str:
    """Runs SFT to its end, and returns its error output."""
    with started(config, *more) as process:
        _, words = process.communicate(timeout=LIMIT_S)
        assert process.returncode == code, words
    return words


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def measured(run: Path) -> list[dict[str, Any]]:
    file = run / "metrics.jsonl"
    return lines(file) if file.exists() else []


def stopped_together(
    process: subprocess.Popen[str], run: Path, what: str, is_reached: Callable[[], bool], stop: Callable[[], None]
) -> None:
    """Asks a run to stop in an observed state. All its processes end after the same step, with its checkpoint."""

    def is_running() -> bool:
        assert process.poll() is None, process.communicate()
        return True

    until(what, is_reached, is_running)
    ranks = children_of(process.pid)
    assert len(ranks) == 2
    stop()
    _, words = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, words
    assert not any(map(is_alive, ranks))
    *_, checkpoint, stopped = lines(run / "events.jsonl")
    assert (checkpoint["type"], stopped["type"]) == ("checkpoint", "stopped")
    assert checkpoint["step"] == stopped["step"] == measured(run)[-1]["step"]
    states = {"rng_state_0.pth", "rng_state_1.pth", "trainer_state.json"}
    assert states <= {each.name for each in (run / "checkpoints" / f"checkpoint-{stopped['step']}").iterdir()}


# Each launch imports torch and trl in three processes, which takes longer than its steps. So a test checks several
# things in one run.


@pytest.mark.full
def test_two_processes_train_as_one_does_and_resume_and_stop_on_a_signal(tmp_path: Path) -> None:
    # Six rows in batches of four, and one row to validate on: the second batch of an epoch has no rows for one of the
    # processes. The first learning rate is 0, so both batches are computed on the same weights.
    recordings = gold_recordings(tmp_path / "gold", 7)
    values: dict[str, Any] = {
        "micro_batch": 2, "batch": 4, "learning_rate": 0.01, "save_every": 1, "lora_rank": 0, "validation_share": 0.2,
        "schedule": "constant_with_warmup", "keep_checkpoints": 1,
    }  # fmt: skip
    run = tmp_path / "two"
    sft.run_sft(sft_config(tmp_path / "one", recordings, steps=3, **values))
    ended(sft_config(run, recordings, steps=2, processes=2, **values))
    assert load_model(str(run / "checkpoints" / "final"), torch.float32)
    assert {each.name for each in (run / "checkpoints").iterdir() if each.is_dir()} == {"checkpoint-2", "final"}
    with started(sft_config(run, recordings, steps=100_000, processes=2, **values), "--resume") as process:
        stopped_together(
            process, run, "step 3", lambda: measured(run)[-1]["step"] >= 3, lambda: process.send_signal(signal.SIGTERM)
        )
    one, two = measured(tmp_path / "one"), measured(run)[:4]
    assert [line["step"] for line in two] == [line["step"] for line in one] == [0, 1, 2, 3]
    for name in ("loss", "grad_norm", "validation_loss", "token_accuracy", "learning_rate"):
        # The longer run validates less often.
        pairs = [(a[name], b[name]) for a, b in zip(one, two, strict=True) if name in a and name in b]
        assert len(pairs) >= 2 and [b for _, b in pairs] == pytest.approx([a for a, _ in pairs], rel=1e-4), name
    events = [event["type"] for event in lines(run / "events.jsonl")]
    before = ["started", "examples", "checkpoint", "checkpoint", "finished"]
    assert events[: len(before) + 3] == [*before, "resumed", "examples", "checkpoint"]
    assert set(events[len(before) + 3 :]) <= {"checkpoint", "stopped"}
    assert [each.name for each in (run / "checkpoints").glob("checkpoint-*")] == [
        f"checkpoint-{measured(run)[-1]['step']}"
    ]


@pytest.mark.full
def test_the_others_wait_while_the_first_evaluates_and_stop_on_its_file(tmp_path: Path) -> None:
    engine: dict[str, Any] = {"engine_command": SCRIPTED_ENGINE, "engine_cwd": TESTS, "domain": "parity"}
    values: dict[str, Any] = {"evaluate_every": 1, "evaluate_split": "test", "turn_cap": 1, "max_tokens": 4, **engine}
    run = tmp_path / "run"

    def evaluations() -> int:
        return sum("evaluate/reward" in line for line in measured(run))

    config = sft_config(
        run, gold_recordings(tmp_path / "gold"), steps=100_000, processes=2, save_every=50_000, **values
    )
    with started(config) as process:
        stopped_together(process, run, "two evaluations", lambda: evaluations() >= 2, (run / "stop").touch)
    assert evaluations() == len(measured(run))
    assert [event["type"] for event in lines(run / "events.jsonl")].count("evaluated") == evaluations()


@pytest.mark.full
def test_a_process_that_dies_ends_the_others(tmp_path: Path) -> None:
    run = tmp_path / "run"
    config = sft_config(run, gold_recordings(tmp_path / "gold"), steps=100_000, processes=2, save_every=50_000)
    with started(config) as process:
        until("a step", lambda: measured(run), lambda: process.poll() is None)
        ranks = children_of(process.pid)
        os.kill(ranks[1], signal.SIGKILL)
        _, words = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 1
        assert "error: process 1 of 2 was ended by SIGKILL" in words
    assert not any(map(is_alive, ranks))


def test_what_does_not_fit_is_one_message(tmp_path: Path) -> None:
    recordings = gold_recordings(tmp_path / "gold", 1)
    with pytest.raises(ConfigurationError, match=r"^micro_batch: 2 x processes = 3 does not divide batch = 4"):
        sft.check(sft_config(tmp_path / "run", recordings, processes=3, batch=4, micro_batch=2))
    with pytest.raises(
        ConfigurationError,
        match=r"^processes: GRPO trains in one process.*run `ray start --head`",
    ):
        check_grpo(grpo_config(tmp_path / "run", processes=2))


@pytest.mark.full
def test_a_run_that_cannot_begin_is_one_message(tmp_path: Path) -> None:
    words = ended(
        sft_config(tmp_path / "run", gold_recordings(tmp_path / "gold", 1), processes=2, least_reward=2.0), code=1
    )
    [message] = [line for line in words.splitlines() if "error" in line.lower()]
    assert message.startswith("error: nothing to learn from: of 1 recordings 0 have a reward")
    assert words.strip().splitlines()[-1] == message


def test_fewer_gpus_than_processes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    distributed.check(2)
    with pytest.raises(ConfigurationError, match=r"^processes: 3 processes need 3 GPUs, and 2 are visible"):
        distributed.check(3)


def test_rows_that_fill_up_come_last_and_have_no_label(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Row([number, number], [0, 1], [None, None]) for number in range(5)]
    assert filled(rows, 4) == rows
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert [any(row.mask) for row in filled(rows, 4)] == [True] * 5 + [False] * 3
    order = SharedOrder(5, 8, seed=1)
    first, second = list(order), list(order)
    assert sorted(first[:5]) == sorted(second[:5]) == list(range(5)) and first[:5] != second[:5]
    assert first[5:] == second[5:] == [5, 6, 7]
    order.set_epoch(0)
    assert list(order) == first
