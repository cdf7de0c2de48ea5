"""Computes the metrics of played rollouts; metrics.py describes each of them. Torch-free."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rehearsal_trainer.metrics.alarm_kind import LOOP
from rehearsal_trainer.rollouts.engine import RolloutFacts
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, groups_of

PERCENTILES = (10, 50, 90, 100)
"""The percentiles of the number of sampled tokens of a rollout."""

OF_A_DOMAIN = ("reward", "all_correct", "all_wrong", "turns", "failed")
"""The metrics that are also measured for each domain if a run has several."""


def measure(played: Sequence[PlayedRollout]) -> dict[str, float]:
    """Returns means over the rollouts that have a reward; `failed` counts the others.

    all_correct and all_wrong are the shares of groups whose rewarded rollouts all got 1, or all got 0; groups without a
    rewarded rollout are left out. Token use and the causes of failures are measured over all rollouts.
    """
    scored = [rollout for rollout in played if rollout.result.reward is not None]
    values: dict[str, float] = {"failed": len(played) - len(scored), **_of_all(played)}
    if not scored:
        return values
    rewards = [float(rollout.result.reward or 0.0) for rollout in scored]
    groups = [[rollout.result.reward or 0.0 for rollout in group] for group in groups_of(scored)]
    lengths = sorted(rollout.sampled for rollout in scored)
    values |= {
        "reward": _mean(rewards),
        "turns": _mean([rollout.result.turns for rollout in scored]),
        "response_length": _mean(lengths),
        **{f"response_length/p{share}": _percentile(lengths, share) for share in PERCENTILES},
        "all_correct": _mean([float(min(group) >= 1) for group in groups]),
        "all_wrong": _mean([float(max(group) <= 0) for group in groups]),
        "malformed_calls": _mean([rollout.malformed_calls for rollout in scored]),
        "changed_histories": _mean([rollout.changed_histories for rollout in scored]),
        "truncated": _mean([float(rollout.truncated) for rollout in scored]),
        **_of_rewards(rewards),
        **_of_trials(groups),
        **_of_calls([rollout.result.facts for rollout in scored]),
    }
    for name in sorted({name for rollout in scored for name in rollout.result.metrics}):
        given = [rollout.result.metrics[name] for rollout in scored if name in rollout.result.metrics]
        values[f"engine/{name}"] = _mean(given)
    return values


def _of_rewards(rewards: Sequence[float]) -> dict[str, float]:
    """Shares of the rollouts by reward, rounded to tenths: a histogram without its empty bars."""
    bars = [f"{round(reward, 1) + 0.0:.1f}" for reward in rewards]
    return {f"reward_share/{bar}": bars.count(bar) / len(bars) for bar in sorted(set(bars))}


def _of_trials(groups: Sequence[Sequence[float]]) -> dict[str, float]:
    """Returns pass@k and pass^k for the powers of two from 2, over the groups with at least k rewarded rollouts.

    A rollout succeeds with a reward of 1. Both are unbiased estimators over n rollouts of which c succeed: from Chen et
    al. 2021 (arXiv 2107.03374), and from Yao et al. 2024 (arXiv 2406.12045).
    """
    values: dict[str, float] = {}
    most, k = max(map(len, groups), default=0), 2
    while k <= most:
        counts = [(len(group), sum(reward >= 1 for reward in group)) for group in groups if len(group) >= k]
        values[f"pass_at/{k}"] = _mean([1 - math.comb(n - c, k) / math.comb(n, k) for n, c in counts])
        values[f"pass_hat/{k}"] = _mean([math.comb(c, k) / math.comb(n, k) for n, c in counts])
        k *= 2
    return values


def _percentile(ordered: Sequence[float], share: int) -> float:
    """Returns the smallest value that at least `share` percent of the values do not exceed (the nearest rank)."""
    return ordered[max(0, math.ceil(len(ordered) * share / 100) - 1)]


def _of_all(played: Sequence[PlayedRollout]) -> dict[str, float]:
    """Shares that broke or stalled, the slowest rollout, and the tokens of a model in the user's seat."""
    if not played:
        return {}
    failures = [rollout.result.failure for rollout in played]
    values = {
        "simulator_failed": _mean([float(failure is not None and failure.who == "simulator") for failure in failures]),
        "stalled": _mean([float(failure is not None and failure.code == "timeout") for failure in failures]),
        "slowest_rollout_seconds": max(rollout.seconds for rollout in played),
    }
    facts = [rollout.result.facts for rollout in played]
    used = {
        "user_input_tokens": sum(each.user_input_tokens or 0.0 for each in facts),
        "user_output_tokens": sum(each.user_output_tokens or 0.0 for each in facts),
    }
    return values | (used if any(used.values()) else {})


def _of_calls(facts: Sequence[RolloutFacts]) -> dict[str, float]:
    """Returns means of the engine's counts of the agent's calls and of the progress of the tasks."""
    calls = [each.calls for each in facts if each.calls is not None]
    values = {
        f"calls/{tool}": _mean([each.get(tool, 0.0) for each in calls])
        for tool in sorted({tool for each in calls for tool in each})
    }
    repeats = [each.longest_repeat for each in facts if each.longest_repeat is not None]
    if repeats:
        values |= {"longest_repeat": max(repeats), "looping": _mean([float(each >= LOOP) for each in repeats])}
    for name, given in (
        ("generic_calls", [each.generic_calls for each in facts]),
        ("handoff", [each.handed_off for each in facts]),
        ("completion", [each.completion for each in facts]),
    ):
        measured = [each for each in given if each is not None]
        if measured:
            values[name] = _mean(measured)
    return values


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
