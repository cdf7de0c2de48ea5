"""Short real runs of the tiny model that each raise one alarm, with the default limits unless a test sets others.

Runs in test_alarms.py raise the other alarms.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import scripted_engine
from configs import grpo_config, sft_config
from conftest import REPOSITORY
from test_alarms import alarms_of, history

from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.commands.sft import run_sft

ALL_WEIGHTS = {"lora_rank": 0, "warmup_steps": 0, "schedule": "constant_with_warmup"}


def record(folder: Path, task: str, name: str, agent: str = "gold", **more: Any) -> None:
    """Returns a recording of a scripted agent at a task, with a reward of 1 regardless of its actions."""
    params = {"task": task, "domain": "parity", "agent": agent, "basis": "train", "trial": 1, **more}
    scripted_engine.play({**params, "recording": str(folder / f"{name}.traj.jsonl")})


@pytest.mark.full
def test_entropy_collapses_where_a_step_goes_far_too_far(tmp_path: Path) -> None:
    # From step 4 on, equal runs differ by many powers of ten, and some are below the absolute limit at once. The test
    # is about the fall, which all of them show, so the absolute limit is made too low to be reached.
    changes: dict[str, Any] = {"lora_rank": 0, "beta": 0.0, "learning_rate": 0.3, "alarms": {"entropy": 1e-30}}
    run_grpo(grpo_config(tmp_path / "run", steps=6, **{**changes, "save_every": 100}))
    alarm = alarms_of(tmp_path / "run")["entropy-collapse"]
    assert alarm["evidence"]["entropy"] < alarm["evidence"]["limit"] < 3
    assert alarm["evidence"]["before"] > 5


@pytest.mark.full
def test_what_is_learned_by_heart_is_overfitting(tmp_path: Path) -> None:
    """One task is learned; the other's parcel has digits of which it knows nothing."""
    for task in ("move-0", "move-787867898778"):
        record(tmp_path / "gold", task, task)
    changes = {**ALL_WEIGHTS, "validation_share": 0.5, "learning_rate": 0.02, "batch": 1, "micro_batch": 1}
    run_sft(sft_config(tmp_path / "run", str(tmp_path / "gold"), steps=12, **changes))
    evidence = alarms_of(tmp_path / "run")["overfitting"]["evidence"]
    assert evidence["validation_loss"] > evidence["limit"] > evidence["lowest"] > evidence["loss"]


def test_a_learning_rate_that_is_too_high_explodes_the_gradient(tmp_path: Path) -> None:
    record(tmp_path / "gold", "move-0", "move-0")
    changes = {**ALL_WEIGHTS, "learning_rate": 10.0, "batch": 1, "micro_batch": 1, "pause_on": ["gradient-explosion"]}
    run_sft(sft_config(tmp_path / "run", str(tmp_path / "gold"), steps=4, **changes))
    evidence = alarms_of(tmp_path / "run")["gradient-explosion"]["evidence"]
    assert evidence["grad_norm"] > evidence["limit"]


@pytest.mark.full
def test_a_model_that_learned_to_repeat_one_call_is_a_tool_loop(tmp_path: Path) -> None:
    record(tmp_path / "loops", "move-0", "loop", "looping")
    learning = {**ALL_WEIGHTS, "learning_rate": 0.01, "batch": 1, "micro_batch": 1}
    learned = run_sft(sft_config(tmp_path / "sft", str(tmp_path / "loops"), steps=60, **learning))
    changes = {"domain": "one", "steps": 1, "tasks_per_step": 1, "turn_cap": 4, "max_tokens": 60, "temperature": 0.3}
    run_grpo(grpo_config(tmp_path / "run", model=str(learned), **changes))
    alarm = alarms_of(tmp_path / "run")["tool-loop"]
    assert alarm["evidence"]["looping"] >= alarm["evidence"]["limit"] == 0.1
    assert alarm["recordings"] != [] and all(Path(tmp_path / "run" / each).exists() for each in alarm["recordings"])


def test_weights_that_leap_out_of_their_numbers_are_no_number(tmp_path: Path) -> None:
    record(tmp_path / "gold", "move-0", "move-0")
    changes = {**ALL_WEIGHTS, "learning_rate": 1e30, "batch": 1, "micro_batch": 1}
    run_sft(sft_config(tmp_path / "run", str(tmp_path / "gold"), steps=3, **changes))
    alarm = alarms_of(tmp_path / "run")["not-a-number"]
    assert (alarm["step"], alarm["evidence"]) == (2, {"not_finite": 1.0})


def test_recordings_longer_than_the_context_are_rows_too_long(tmp_path: Path) -> None:
    """Three of four answer at once; the fourth is longer than what is learned from at a time."""
    for number in range(3):
        record(tmp_path / "some", f"move-{number}", f"{number}", "gold", turn_cap=1)
    record(tmp_path / "some", "move-3", "3", "looping", turn_cap=12)
    run_sft(sft_config(tmp_path / "run", str(tmp_path / "some"), steps=2, context=400))
    assert alarms_of(tmp_path / "run")["rows-too-long"]["evidence"] == {"too_long": 0.25, "limit": 0.1}


WATCHED = {"kl", "entropy", "looping", "simulator_failed", "dead_groups", "truncated", "drift", "stalled"}


@pytest.mark.parametrize("seed", [1, 2])
def test_the_log_of_a_long_healthy_run_raises_nothing(seed: int) -> None:
    """42 steps of SmolLM2 on `parcel-desk`. The log of seed 2 has every number that an alarm of GRPO looks at."""
    log = REPOSITORY / "docs" / "examples" / "experiments" / f"cpu-seed{seed}-grpo.csv"
    with log.open(newline="") as file:
        rows = [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]
    rows = [{"dead_groups": row["all_correct"] + row["all_wrong"], **row} for row in rows]
    assert len(rows) == 42
    assert seed == 1 or all(row.keys() >= WATCHED for row in rows)
    assert history(rows) == []
