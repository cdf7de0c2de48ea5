"""Tests that computing shared prefixes once and leaving out padding do not change the results of scoring."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from rehearsal_trainer.backends import trl as backend
from rehearsal_trainer.backends.shared_prefix import share_prefix, shared_length
from rehearsal_trainer.backends.unpadded_trainer import UnpaddedTrainer, similar_lengths
from rehearsal_trainer.models.loading import load_model


def test_a_shared_prefix_changes_neither_states_nor_gradients() -> None:
    torch.manual_seed(0)
    plain, shared = load_model("tiny", torch.float32), load_model("tiny", torch.float32)
    share_prefix(shared.base_model, min_length=4)
    ids = torch.randint(100, 1000, (3, 24))
    ids[:, :10] = ids[0, :10]
    mask = torch.ones_like(ids)
    mask[1, 20:] = 0
    assert shared_length(ids, mask) == 10
    states = []
    for model in (plain, shared):
        state = model.base_model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        ((state * mask[..., None]) ** 2).sum().backward()
        states.append(state)
    torch.testing.assert_close(states[0] * mask[..., None], states[1] * mask[..., None], atol=1e-5, rtol=1e-5)
    for (name, left), right in zip(plain.named_parameters(), shared.parameters(), strict=True):
        assert left.grad is not None, name
        torch.testing.assert_close(left.grad, right.grad, atol=1e-3, rtol=1e-3)


def test_a_trl_that_scores_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(backend.trl_utils, "_use_triton")
    with pytest.raises(RuntimeError, match="utils has no _use_triton"):
        backend.score_labelled_positions()


def test_rows_of_similar_length_stand_together() -> None:
    assert similar_lengths([100, 900, 110, 105, 120], 3) == [[0, 3, 2], [4], [1]]
    assert similar_lengths([], 3) == []


def test_scoring_without_padding_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    from trl import GRPOTrainer  # noqa: TID251

    model = load_model("tiny", torch.float32).base_model
    seen: list[tuple[int, int]] = []

    def score(_self: Any, _model: Any, ids: Any, mask: Any, keep: int, **_: Any) -> Any:
        seen.append(tuple(ids.shape))
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state[:, -keep:] * mask[:, -keep:, None]
        return states.sum(-1), states.amax(-1), None

    monkeypatch.setattr(GRPOTrainer, "_get_per_token_logps_and_entropies", score)
    ids, mask = torch.randint(100, 1000, (5, 60)), torch.ones(5, 60, dtype=torch.long)
    for row, length in enumerate([10, 50, 12, 11, 45]):
        mask[row, 10 + length :] = 0
    whole = score(None, model, ids, mask, 50)
    seen.clear()
    trainer = UnpaddedTrainer.__new__(UnpaddedTrainer)
    found = trainer._get_per_token_logps_and_entropies(model, ids, mask, 50, batch_size=5, compute_entropy=True)
    assert seen == [(3, 22), (2, 60)]
    assert found[1] is not None
    torch.testing.assert_close(found[0], whole[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[1], whole[1], atol=1e-5, rtol=1e-5)
