"""Runs two optimizer steps with every profile, and compares the gradients with those of TRL's own loop."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from configs import gold_recordings, grpo_config, lines, sft_config
from conftest import all_in_full_suite
from transformers import TrainerCallback
from trl import GRPOTrainer  # noqa: TID251

from rehearsal_trainer.backends import trl as backend
from rehearsal_trainer.backends.unpadded_trainer import UnpaddedTrainer
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.commands.sft import run_sft

PROFILES = ["paper", "gpu", "cpu", "trial"]
COMPARED = all_in_full_suite(PROFILES, ["paper", "cpu", "trial"])
GRPO_STEPPED = all_in_full_suite(PROFILES, ["paper", "cpu", "trial"])
SFT_STEPPED = all_in_full_suite(PROFILES, ["paper", "gpu", "trial"])
Gradients = dict[str, torch.Tensor]


class GradientRecorder(TrainerCallback):
    """Keeps the gradients of each optimizer step."""

    def __init__(self) -> None:
        self.steps: list[Gradients] = []

    def on_pre_optimizer_step(self, *_: Any, model: Any, **__: Any) -> None:
        self.steps.append({name: each.grad.clone() for name, each in model.named_parameters() if each.grad is not None})


class PlainTrainer(UnpaddedTrainer):
    """TRL's loop as it is: it pads all rows to the longest and computes those without variance, too."""

    _get_per_token_logps_and_entropies = GRPOTrainer._get_per_token_logps_and_entropies
    _compute_loss = GRPOTrainer._compute_loss


def run_grpo_of(run: Path, profile: str, steps: int, **changes: str) -> None:
    # Only sizes are reduced; every setting that changes how a step is computed is that of the profile.
    sizes = {"context": 2048, "max_tokens": 8, "tasks_per_step": 2, "group_size": 4, "micro_batch": 2}
    run_grpo(grpo_config(run, profile=profile, dialect="compact", steps=steps, **sizes, **changes))


def run_sft_of(run: Path, recordings: str, profile: str, steps: int, **changes: str) -> None:
    sizes = {"context": 2048, "batch": 4, "micro_batch": 2}
    run_sft(sft_config(run, recordings, profile=profile, dialect="compact", steps=steps, **sizes, **changes))


def expect_two_steps(run: Path) -> None:
    steps = lines(run / "metrics.jsonl")
    assert [each["step"] for each in steps] == [1, 2]
    assert all(math.isfinite(each["loss"]) and each["grad_norm"] > 0 for each in steps)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> GradientRecorder:
    made, train = GradientRecorder(), backend.train

    def watched(trainer: Any, resume_from: Path | None) -> int:
        trainer.add_callback(made)
        return train(trainer, resume_from)

    monkeypatch.setattr(backend, "train", watched)
    return made


def make_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "UnpaddedTrainer", PlainTrainer)
    monkeypatch.setattr(backend, "_leave_out_positions", lambda _model: None)
    monkeypatch.setattr(backend.trl_utils, "_use_triton", lambda _device: False)


def expect_same(found: Gradients, expected: Gradients) -> None:
    assert found.keys() == expected.keys()
    largest = max(float(each.abs().max()) for each in expected.values())
    assert largest > 0
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, atol=1e-4 * largest, rtol=1e-3)


@pytest.mark.parametrize("profile", GRPO_STEPPED)
def test_grpo_takes_two_steps(tmp_path: Path, profile: str) -> None:
    run_grpo_of(tmp_path, profile, 2)
    expect_two_steps(tmp_path)
    assert [each["reward"] for each in lines(tmp_path / "metrics.jsonl")] == [0.5, 0.5]


@pytest.mark.parametrize("profile", SFT_STEPPED)
def test_sft_takes_two_steps(tmp_path: Path, profile: str) -> None:
    run_sft_of(tmp_path / "run", gold_recordings(tmp_path / "gold"), profile, 2)
    expect_two_steps(tmp_path / "run")


@pytest.mark.parametrize("profile", COMPARED)
def test_grpo_has_the_gradients_of_the_plain_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorder: GradientRecorder, profile: str
) -> None:
    run_grpo_of(tmp_path / "run", profile, 1, dtype="float32")
    make_plain(monkeypatch)
    run_grpo_of(tmp_path / "plain", profile, 1, dtype="float32")
    expect_same(*recorder.steps)


@pytest.mark.parametrize("profile", COMPARED)
def test_sft_has_the_gradients_of_the_plain_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorder: GradientRecorder, profile: str
) -> None:
    gold = gold_recordings(tmp_path / "gold")
    run_sft_of(tmp_path / "run", gold, profile, 1, dtype="float32")
    make_plain(monkeypatch)
    run_sft_of(tmp_path / "plain", gold, profile, 1, dtype="float32")
    expect_same(*recorder.steps)
