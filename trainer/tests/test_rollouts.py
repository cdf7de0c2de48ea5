"""Tests groups of rollouts: which are dead, and their metrics."""

from __future__ import annotations

import pytest
from configs import rollout_of

from rehearsal_trainer.rollouts.engine import RolloutResult
from rehearsal_trainer.rollouts.rollout_metrics import measure
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, RolloutSettings, groups_of, is_dead
from rehearsal_trainer.sampler.answers import Sampling


@pytest.mark.parametrize(
    ("rewards", "dead"), [([1.0, 0.0], False), ([0.0, 0.0], True), ([None, 1.0], True), ([None, None], True)]
)
def test_a_dead_group(rewards: list[float | None], dead: bool) -> None:
    request = RolloutRequest("move-0", 0, "seed", Sampling(1.0, 1.0, 8), RolloutSettings("parcels"))
    assert is_dead([PlayedRollout(request, RolloutResult(each, "", 1), [], 0, 0) for each in rewards]) == dead


def test_groups_of_one_task_or_of_equal_ids_are_measured_apart() -> None:
    played = [
        *[rollout_of("desk", "a", member, float(member < 2), group=member // 2) for member in range(4)],
        *[rollout_of("other", "a", member, float(member)) for member in range(2)],
        *[rollout_of("other", "b", member, None) for member in range(2)],
    ]
    assert [is_dead(group) for group in groups_of(played)] == [True, True, False, True]
    values = measure(played)
    assert (values["all_correct"], values["all_wrong"], values["failed"]) == pytest.approx((1 / 3, 1 / 3, 2))
