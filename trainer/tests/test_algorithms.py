"""Each algorithm takes a real step with the tiny model, with the loss arguments of its paper."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from configs import grpo_config, lines

from rehearsal_trainer.backends import trl as backend
from rehearsal_trainer.backends.unpadded_trainer import UnpaddedTrainer
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.models import loading
from rehearsal_trainer.models.loading import load_model


@pytest.mark.parametrize(
    ("algorithm", "arguments"),
    [
        ("grpo", {"loss_type": "dapo", "scale_rewards": "group", "importance_sampling_level": "token", "beta": 0.001}),
        ("dapo", {"loss_type": "dapo", "epsilon_high": 0.28, "beta": 0.0, "mask_truncated_completions": True}),
        ("dr_grpo", {"loss_type": "dr_grpo", "scale_rewards": "none", "beta": 0.0, "max_completion_length": 2048}),
        (
            "gspo",
            {"loss_type": "grpo", "importance_sampling_level": "sequence", "epsilon": 3e-4, "epsilon_high": 4e-4},
        ),
    ],
)
def test_an_algorithm_takes_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str, arguments: dict[str, Any]
) -> None:
    seen: list[Any] = []
    train = backend.train

    def watched(trainer: Any, resume_from: Path | None) -> int:
        seen.append(trainer.args)
        # A random model never ends a response, and DAPO leaves out truncated ones, so here every token is an end token.
        trainer.eos_token_ids = list(range(len(trainer.processing_class)))
        return train(trainer, resume_from)

    monkeypatch.setattr(backend, "train", watched)
    run_grpo(grpo_config(tmp_path / "run", steps=1, algorithm=algorithm))
    assert {name: getattr(seen[0], name) for name in arguments} == arguments
    (entry,) = lines(tmp_path / "run" / "metrics.jsonl")
    assert math.isfinite(entry["loss"])
    assert entry["grad_norm"] > 0
    assert ("kl" in entry) == (arguments.get("beta") == 0.001)


@pytest.mark.full
def test_all_weights_train_by_small_steps_under_a_frozen_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "dtype_named", lambda _name: torch.bfloat16)
    final = run_grpo(grpo_config(tmp_path / "run", lora_rank=0, learning_rate=1e-6, dtype="auto"))
    assert not (final / "adapter_config.json").exists()
    before, after = load_model("tiny", torch.float32), load_model(str(final), torch.float32)
    pairs = zip(before.named_parameters(), after.parameters(), strict=True)
    # The weights of the norms are 1, the largest of the model, and a step of 1e-6 still changes them.
    assert [name for (name, one), other in pairs if torch.equal(one, other)] == []
    assert lines(tmp_path / "run" / "metrics.jsonl")[1]["kl"] > 0


def test_in_which_numbers_weights_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    real = loading.dtype_named
    monkeypatch.setattr(loading, "dtype_named", lambda name: torch.bfloat16 if name == "auto" else real(name))
    assert loading.training_dtype("auto", 0) == (torch.float32, True)
    assert loading.training_dtype("auto", 16) == (torch.bfloat16, False)
    assert loading.training_dtype("bfloat16", 0) == (torch.bfloat16, False)
    assert loading.training_dtype("float32", 0) == (torch.float32, False)


@pytest.mark.parametrize("loss_type", ["dapo", "grpo", "dr_grpo"])
def test_leaving_dead_rows_out_changes_no_loss(monkeypatch: pytest.MonkeyPatch, loss_type: str) -> None:
    from trl import GRPOTrainer  # noqa: TID251

    def mean(_self: Any, _model: Any, inputs: dict[str, Any]) -> Any:
        row_losses = inputs["advantages"] * inputs["completion_mask"].sum(1)
        return row_losses.sum() / (10 if loss_type == "dapo" else len(row_losses))

    monkeypatch.setattr(GRPOTrainer, "_compute_loss", mean)
    trainer = UnpaddedTrainer.__new__(UnpaddedTrainer)
    trainer.loss_type = loss_type
    trainer.args = SimpleNamespace(per_device_train_batch_size=4)  # pyright: ignore
    trainer.current_gradient_accumulation_steps = 1
    inputs = {
        "advantages": torch.tensor([0.0, 1.0, 0.0, -3.0]),
        "completion_mask": torch.ones(4, 5),
        "scored_rows": torch.tensor(4),
    }
    losses = []
    for skip in (False, True):
        trainer.skip_dead_groups = skip
        losses.append(trainer._compute_loss(None, inputs).item())
    assert losses[0] == pytest.approx(losses[1])
    assert losses[0] != 0


@pytest.mark.parametrize("loss_type", ["grpo", "dr_grpo"])
def test_a_rollout_that_was_not_scored_counts_in_no_mean(monkeypatch: pytest.MonkeyPatch, loss_type: str) -> None:
    from trl import GRPOTrainer  # noqa: TID251

    monkeypatch.setattr(GRPOTrainer, "_compute_loss", lambda _self, _model, inputs: inputs["advantages"].mean())
    trainer = UnpaddedTrainer.__new__(UnpaddedTrainer)
    trainer.loss_type = loss_type
    trainer.args = SimpleNamespace(per_device_train_batch_size=4)  # pyright: ignore
    trainer.current_gradient_accumulation_steps = 1
    mask = torch.tensor([[1, 1], [1, 0], [0, 0], [0, 0]])
    inputs = {
        "advantages": torch.tensor([2.0, 4.0, 0.0, 0.0]),
        "completion_mask": torch.ones(4, 2),
        "tool_mask": mask,
        "scored_rows": torch.tensor(2),
    }
    assert trainer._compute_loss(None, inputs).item() == 3


def test_rows_without_a_sampled_token_are_in_no_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    from trl import GRPOTrainer  # noqa: TID251

    def measured(trainer: Any, _model: Any, inputs: dict[str, Any]) -> Any:
        trainer._metrics["train"]["entropy"].append(float(inputs["entropies"].mean()))
        return inputs["advantages"].mean()

    monkeypatch.setattr(GRPOTrainer, "_compute_loss", measured)
    trainer = UnpaddedTrainer.__new__(UnpaddedTrainer)
    trainer._metrics = {"train": {"entropy": [2.0]}}  # pyright: ignore
    filler = {
        "advantages": torch.zeros(2),
        "completion_mask": torch.ones(2, 1),
        "tool_mask": torch.zeros(2, 1),
        "entropies": torch.zeros(2),
    }
    assert trainer._compute_loss(None, filler).item() == 0
    assert trainer._metrics["train"]["entropy"] == [2.0]
