"""Tests the rows of a rollout in verl's format, with truncated answers, for each algorithm."""

from __future__ import annotations

import pytest
from conftest import config_of

from rehearsal_trainer.backends.verl.agent_loop import outputs_of
from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan
from rehearsal_trainer.backends.verl.rollout_worker import ClusterRolloutWorker
from rehearsal_trainer.chat.masks import Row, Sampled
from rehearsal_trainer.gateway.session import SessionRow
from rehearsal_trainer.models.loading import load_tokenizer
from rehearsal_trainer.rollouts.engine import RolloutResult
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest
from rehearsal_trainer.sampler.answers import Sampling

GIVEN, SAMPLED, RESULT = [11, 12, 13], [21, 22], [31, 32]


def row_of(*finish_reasons: str) -> SessionRow:
    """A row with an answer for each reason, and a tool's result between two."""
    row, sampled = Row(), list[Sampled]()
    row.append_given(GIVEN)
    for at, _ in enumerate(finish_reasons):
        if at:
            row.append_given(RESULT)
        sampled.append(Sampled(len(row.ids), SAMPLED))
        row.append_sampled(SAMPLED, [-0.5, -0.25])
    return SessionRow(row, len(GIVEN), list(finish_reasons), sampled)


@pytest.mark.parametrize(
    ("algorithm", "finish_reasons", "mask"),
    [
        ("dapo", ["stop"], [1, 1]),
        ("dapo", ["length"], [0, 0]),
        ("dapo", ["stop", "length"], [0, 0, 0, 0, 0, 0]),
        ("dapo", ["length", "stop"], [1, 1, 0, 0, 1, 1]),  # the rollout continued after a truncated answer
        ("grpo", ["length"], [1, 1]),
        ("gspo", ["stop", "length"], [1, 1, 0, 0, 1, 1]),
    ],
)
def test_a_row_that_ends_cut_off_is_left_out_of_dapos_loss_alone(
    algorithm: str, finish_reasons: list[str], mask: list[int]
) -> None:
    plan = RolloutPlan.of(config_of(algorithm=algorithm), None)
    rollout_worker = ClusterRolloutWorker(plan, None, load_tokenizer("tiny"))
    request = RolloutRequest("task", 0, "seed", Sampling(), plan.settings(False))
    whole = row_of("stop")
    played = PlayedRollout(request, RolloutResult(1.0, "done", 2), [row_of(*finish_reasons), whole], 1, 0)
    cut, other = outputs_of(rollout_worker, played, step=4)
    assert cut.response_mask == mask
    assert (cut.prompt_ids, len(cut.response_ids), cut.reward_score) == (GIVEN, len(mask), 1.0)
    assert other.response_mask == [1, 1], "another row of the same rollout is trained on"
