"""SFT with verl's trainer as a job of a real Ray head, on two cores and without a GPU: real optimizer steps."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import DOMAIN, REPOSITORY, TRAINER
from test_job import NODE, Head, events_of, said, started_head, stopped, until_written
from waiting import LIMIT_S

from rehearsal_trainer.backends.verl import sft_job
from rehearsal_trainer.backends.verl.cluster_config import SFT_PROFILES, SftClusterConfig
from rehearsal_trainer.chat.chat import COMPACT
from rehearsal_trainer.chat.masks import Row, labels_of
from rehearsal_trainer.models.loading import load_model, load_tokenizer, model_folder
from rehearsal_trainer.settings.configuration import from_values

ON_A_CPU = {
    "engine.strategy": "fsdp2",
    "model.use_remove_padding": False,
    "+model.override_config.attn_implementation": "eager",
}
"""Options of verl without which it needs a GPU."""


@pytest.fixture(scope="module")
def sft_head() -> Iterator[Head]:
    modules = os.pathsep.join([str(TRAINER / "tests_verl"), str(TRAINER / "tests")])
    with started_head(
        gpus=1,
        cpus=2,
        PYTHONPATH=modules,
        VERL_USE_EXTERNAL_MODULES="cpu_platform",
        VERL_ENGINE_DEVICE="cuda",
        OMP_NUM_THREADS="1",
        RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0",
    ) as started:
        yield started


def train(head: Head, run: Path, *more: Any, **keys: Any) -> subprocess.Popen[str]:
    """Starts SFT on the tiny model over the gold seat's rollouts, one of each training task."""
    values: dict[str, Any] = {
        "storage": str(run.parent / "storage"),
        "verl": ON_A_CPU,
        "save_every": 1,
        "warmup_steps": 0,
        **keys,
    }
    sets = [part for name, value in values.items() for part in ("--set", f"{name}={json.dumps(value)}")]
    args = ["sft", DOMAIN, "--model", model_folder("tiny"), "--profile", "trial", "--out", run]
    return head.rehearsal(*args, "--target", head.target, *sets, *more)


def ended(process: subprocess.Popen[str]) -> str:
    out, words = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, words
    return out


def metrics_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The training tasks of parcel-desk, played by the gold seat."""
    played = tmp_path_factory.mktemp("recorded") / "run"
    command = [str(NODE), str(REPOSITORY / "dist" / "rehearsal.mjs"), "eval", str(DOMAIN), "--agent", "gold"]
    subprocess.run([*command, "--split", "train", "--out", str(played)], check=True, capture_output=True)
    return played


@pytest.fixture(scope="module")
def rows(recordings: Path) -> Sequence[Row]:
    """Returns the rows that SFT trains on with every backend."""
    values = {"recordings": [str(recordings)], "run": "r", "model": "tiny", "profile": "trial", "batch": 1}
    config = from_values(SftClusterConfig, SFT_PROFILES, {**values, "dialect": "compact"})
    return sft_job.examples_of(config)[1].rows


def mean_loss(model: Any, rows: Sequence[Row]) -> float:
    """Returns the mean loss over the tokens that are learned from, computed row by row."""
    total = 0.0
    with torch.no_grad():
        for row in rows:
            logits = model(torch.tensor([row.ids])).logits[0, :-1]
            total += float(torch.nn.functional.cross_entropy(logits, torch.tensor(labels_of(row)[1:]), reduction="sum"))
    return total / sum(sum(row.mask) for row in rows)


@pytest.mark.parametrize("rank", [0, 4])
def test_verl_learns_from_our_rows(
    sft_head: Head, tmp_path: Path, recordings: Path, rows: Sequence[Row], rank: int
) -> None:
    run, start = tmp_path / "run", load_model("tiny", torch.float32)
    # All rows are one batch, so the loss is known whatever their order.
    keys = {"batch": len(rows), "lora_rank": rank, "learning_rate": 0.01}
    ended(train(sft_head, run, "--recordings", recordings, "--steps", "2", **keys))
    events, [first, second] = events_of(run), metrics_of(run)
    assert [event["type"] for event in events[:2]] == ["started", "examples"]
    assert (events[1]["rows"], events[1]["steps"]) == (len(rows), 2)
    assert (events[-1]["type"], events[-1]["step"]) == ("finished", 2)
    assert first["loss"] == pytest.approx(mean_loss(start, rows), abs=1e-3)
    assert second["loss"] < first["loss"]
    assert {"grad_norm", "learning_rate", "too_long"} <= set(first)

    # What comes back is a checkpoint like any other, with the template that it was trained with.
    folder = ended(sft_head.rehearsal("fetch", run)).strip()
    assert folder == str(run / "checkpoints" / "checkpoint-2")
    assert load_tokenizer(folder).chat_template == COMPACT.read_text(encoding="utf-8")
    learned = mean_loss(load_model(folder, torch.float32), rows)
    assert learned < second["loss"]
    if rank == 0:  # an adapter resumes in the same way
        ended(sft_head.rehearsal("resume", run, "--set", "steps=3"))
        *_, third = metrics_of(run)
        assert [(line["step"], line["attempt"]) for line in metrics_of(run)] == [(1, 1), (2, 1), (3, 2)]
        assert third["loss"] == pytest.approx(learned, abs=2e-2)  # verl merges a checkpoint into bfloat16
        assert [event["step"] for event in events_of(run) if event["type"] == "resumed"] == [2]


def test_a_run_that_is_stopped_ends_with_what_it_has(sft_head: Head, tmp_path: Path) -> None:
    run = tmp_path / "run"
    following = train(sft_head, run, "--trials", "1", "--steps", "10000", batch=4, save_every=1000)
    until_written(following, run / "metrics.jsonl", '"loss"', times=2)
    stopped(sft_head, run, following)
    assert events_of(run)[-1]["type"] == "stopped"


def test_what_cannot_be_trained_is_one_message_before_anything_is_played(sft_head: Head, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert "evaluate_every: an SFT run on a cluster plays no rollouts" in said(train(sft_head, run, evaluate_every=5))
    wrong = {"trainer.no_such_key": 1}
    assert "does not take trainer.no_such_key" in said(train(sft_head, run, verl=wrong))
    assert not (run / "gold").exists() and not (run / "ray.json").exists()


def test_a_batch_larger_than_the_recordings_is_refused_before_the_run(
    sft_head: Head, tmp_path: Path, recordings: Path
) -> None:
    words = said(train(sft_head, tmp_path / "run", "--recordings", recordings, batch=500))
    assert "batch: a batch of 500 rows cannot be filled from" in words
    assert not (tmp_path / "run" / "ray.json").exists()
