"""Computes how often tasks were completed, with a confidence interval. Torch-free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rehearsal_trainer.rollouts.rollouts import PlayedRollout, task_of

_Z = 1.959964


def success_rate(played: Sequence[PlayedRollout]) -> dict[str, Any]:
    """Returns the mean success rate over tasks with its 95 % interval, and the counts of successes by kind of task.

    The kind of a task is its id up to the last dash. Rollouts without a reward are counted separately.
    """
    tasks: dict[tuple[str, str], list[int]] = {}
    kinds: dict[str, list[int]] = {}
    for rollout in played:
        if rollout.result.reward is not None:
            is_right = int(rollout.result.reward >= 1)
            tasks.setdefault(task_of(rollout.request), []).append(is_right)
            kind = rollout.request.task.rpartition("-")[0] or rollout.request.task
            kinds.setdefault(kind, []).append(is_right)
    means = [sum(values) / len(values) for values in tasks.values()]
    scored = sum(map(len, tasks.values()))
    return {
        "right": sum(map(sum, tasks.values())),
        "rollouts": scored,
        "not_scored": len(played) - scored,
        "success": sum(means) / len(means) if means else None,
        "interval": list(wilson(means)),
        "by_kind": {kind: [sum(values), len(values)] for kind, values in sorted(kinds.items())},
    }


def wilson(values: Sequence[float]) -> tuple[float, float]:
    """Returns Wilson's 95 % interval of a mean of values between 0 and 1, one per task; (0, 1) without values.

    The unit is the task, as in the engine's reports, because the trials of one task are not independent.
    """
    count = len(values)
    if count == 0:
        return 0.0, 1.0
    share, z2 = sum(values) / count, _Z * _Z
    middle = share + z2 / (2 * count)
    spread = _Z * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    low, high = (middle - spread) / (1 + z2 / count), (middle + spread) / (1 + z2 / count)
    return max(0.0, min(share, low)), min(1.0, max(share, high))
