"""Tests truncated importance sampling: gradients of a given drift, computed by hand, and with TRL's own loss."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from configs import grpo_config, lines
from torch import Tensor

from rehearsal_trainer.backends.unpadded_trainer import UnpaddedTrainer
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.metrics.measurements import Drift, Measurements

ADVANTAGES = [2.0, -1.0, 0.5]
MASK = [[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 0]]
LOGPS = [[-1.0, -2.0, -0.5, -3.0], [-0.1, -0.2, -0.3, -0.4], [-2.0, -1.0, -4.0, -1.5]]
DRIFT = [[0.0, 0.7, 9.0, -0.7], [2.0, 9.0, -0.2, 0.0], [9.0, 1.2, -3.0, -9.0]]
"""The trainer's log-probabilities minus the sampler's; at tokens that were given it says nothing."""


class ScoredByHand(UnpaddedTrainer):
    """TRL's loss over log-probabilities that a test gives: the parameter is what the model would compute."""

    def _get_per_token_logps_and_entropies(self, model: Any, *_: Any, **__: Any) -> Any:
        assert self._part is not None
        scored = model.logps[self._part["row"]]
        self._weigh(self._part, scored.detach())
        return scored, torch.zeros_like(scored), None


def trainer_of(loss_type: str, cap: float | None, beta: float) -> ScoredByHand:
    trainer: Any = ScoredByHand.__new__(ScoredByHand)
    trainer.args = SimpleNamespace(
        per_device_train_batch_size=2, use_bias_correction_kl=False, delta=None, steps_per_generation=1
    )
    trainer.accelerator = SimpleNamespace(
        num_processes=1, gather=lambda value: value, reduce=lambda value, reduction: value, backward=_backward
    )
    trainer.model = SimpleNamespace(training=True)
    trainer.loss_type, trainer.beta = loss_type, beta
    trainer.importance_sampling_level = "sequence" if loss_type == "grpo" else "token"
    trainer.epsilon_low = trainer.epsilon_high = 0.2
    trainer.max_completion_length = 100
    trainer.current_gradient_accumulation_steps = 1
    trainer.aux_loss_enabled = trainer.use_vllm = trainer._entropy_bonus_enabled = False
    trainer.off_policy_mask_threshold, trainer.top_entropy_quantile = None, 1.0
    trainer._metrics = {"train": _Lists()}
    trainer.importance_sampling_cap, trainer.drifts = cap, []
    return trainer


class _Lists(dict[str, list[float]]):
    def __missing__(self, key: str) -> list[float]:
        return self.setdefault(key, [])


def _backward(loss: Tensor) -> None:
    loss.backward()


def gradient(trainer: ScoredByHand, drift: list[list[float]]) -> Tensor:
    logps = torch.tensor(LOGPS, requires_grad=True)
    mask, ones = torch.tensor(MASK), torch.ones(3, 4, dtype=torch.long)
    inputs: dict[str, Any] = {
        "prompt_ids": ones[:, :1], "prompt_mask": ones[:, :1], "completion_ids": ones, "completion_mask": ones,
        "tool_mask": mask, "advantages": torch.tensor(ADVANTAGES), "row": torch.arange(3),
        "sampling_per_token_logps": torch.tensor(LOGPS) - torch.tensor(drift),
        "ref_per_token_logps": torch.tensor(LOGPS) - 0.25, "num_items_in_batch": mask.sum(),
        "scored_rows": torch.tensor(3),
    }  # fmt: skip
    trainer._compute_loss(SimpleNamespace(logps=logps), inputs).backward()
    assert logps.grad is not None
    return logps.grad


@pytest.mark.parametrize("loss_type", ["dapo", "dr_grpo", "grpo"])
@pytest.mark.parametrize("beta", [0.0, 0.1])
def test_the_gradient_of_a_token_is_scaled_by_its_truncated_ratio(loss_type: str, beta: float) -> None:
    weights = (torch.tensor(DRIFT).exp().clamp(max=3.0)) * torch.tensor(MASK)
    found = gradient(trainer_of(loss_type, 3.0, beta), DRIFT)
    of_kl = gradient(trainer_of(loss_type, None, beta), DRIFT) - gradient(trainer_of(loss_type, None, 0.0), DRIFT)
    plain = gradient(trainer_of(loss_type, None, 0.0), DRIFT)
    if loss_type == "grpo":  # GSPO's ratio is one for the row, so the row's weights meet in the gradient of each token
        means = weights.sum(1, keepdim=True) / torch.tensor(MASK).sum(1, keepdim=True)
        expected = plain * means + of_kl
    else:
        expected = plain * weights + of_kl
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-7)
    assert not torch.allclose(found, plain + of_kl, rtol=1e-2)


@pytest.mark.parametrize("loss_type", ["dapo", "dr_grpo", "grpo"])
def test_nothing_changes_where_sampler_and_trainer_agree(loss_type: str) -> None:
    none = [[0.0] * 4] * 3
    assert torch.equal(
        gradient(trainer_of(loss_type, 3.0, 0.1), none), gradient(trainer_of(loss_type, None, 0.1), none)
    )


def test_the_truncated_share_is_of_the_sampled_tokens() -> None:
    trainer = trainer_of("dapo", 3.0, 0.0)
    gradient(trainer, DRIFT)
    # Rows are computed two at a time: of their six sampled tokens one has a ratio above 3, of the last row's two one.
    measured = Measurements()
    measured.drifts.extend(trainer.drifts or [])
    assert measured.taken()["sampler_truncated"] == pytest.approx((1 / 6 + 1 / 2) / 2)
    measured.drifts.append(Drift(0.0, 0.0, 1.0, 1.0, None))
    assert "sampler_truncated" not in measured.taken()


@pytest.mark.full
def test_a_run_weighs_tokens_unless_it_is_turned_off(tmp_path: Path) -> None:
    losses = {}
    for name, cap in (("weighed", 3.0), ("tight", 1e-3), ("plain", None)):
        run_grpo(grpo_config(tmp_path / name, steps=1, importance_sampling_cap=cap))
        losses[name] = lines(tmp_path / name / "metrics.jsonl")[0]
    assert losses["weighed"]["sampler_truncated"] == 0
    assert losses["tight"]["sampler_truncated"] == 1
    assert "sampler_truncated" not in losses["plain"]
    assert losses["weighed"]["grad_norm"] == pytest.approx(losses["plain"]["grad_norm"], rel=1e-4)
    assert losses["tight"]["grad_norm"] < 0.1 * losses["plain"]["grad_norm"]
