"""The groups that rollouts are played in, and which of them hold a difference to learn from. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence

from rehearsal_trainer.rollouts import PlayedRollout, RolloutRequest


def task_of(request: RolloutRequest) -> tuple[str, str]:
    """What tells a task from all others: its domain and its id."""
    return request.settings.domain, request.task


def groups_of(played: Sequence[PlayedRollout]) -> list[list[PlayedRollout]]:
    """The groups that rollouts were played in: those of one task, and of one of its groups where it has several."""
    groups: dict[tuple[tuple[str, str], int], list[PlayedRollout]] = {}
    for rollout in played:
        groups.setdefault((task_of(rollout.request), rollout.request.group), []).append(rollout)
    return list(groups.values())


def is_dead(group: Sequence[PlayedRollout]) -> bool:
    """Whether a group holds no difference, and so no gradient: all right, all wrong, or at most one that counts."""
    return len({rollout.result.reward for rollout in group if rollout.result.reward is not None}) < 2
