"""The alarms that only GRPO has: problems of a model that learns from rollouts. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from rehearsal_trainer.metrics.alarm_kind import (
    FEW,
    LOOP,
    AlarmKind,
    Facts,
    Finding,
    Limit,
    Limits,
    Row,
    at_least,
    compared,
    values_of,
)

GRPO_LIMITS: Mapping[str, Limit] = {
    "kl": Limit(0.5, "KL to the reference, per token, at which it explodes"),
    "kl_growth": Limit(5, "multiple of the highest KL in the window at which KL also explodes"),
    "kl_least": Limit(0.05, "KL below which its growth is ignored"),
    "entropy": Limit(0.01, "entropy per token below which it has collapsed"),
    "entropy_share": Limit(0.2, "share of the run's first entropies below which it has also collapsed"),
    "looping": Limit(0.1, f"share of rollouts with a call made {LOOP} times in a row"),
    "simulator": Limit(0.1, "share of rollouts that the simulated user broke"),
    "dead_groups": Limit(0.9, "share of groups without a difference in reward"),
    "truncated": Limit(0.25, "share of rollouts in which an answer was cut off"),
    "drift": Limit(0.05, "mean difference of sampled and recomputed log-probabilities"),
    "stalled": Limit(0.02, "share of rollouts that ran into their time limit"),
    "stall_growth": Limit(10, "multiple of the window's median time that the rollouts of an optimizer step may take"),
    "idle_s": Limit(600, "seconds without a finished rollout of an optimizer step; reported while it still waits"),
    "stall_least_s": Limit(
        120, "duration of an optimizer step's rollouts, in seconds, below which its growth is ignored"
    ),
}
"""The limits of these alarms, by name."""


def _kl_explosion(rows: Sequence[Row], limits: Limits) -> Finding | None:
    now = rows[-1].get("kl")
    if now is None:
        return None
    # KL begins at 0 and may rise during a whole run, so only a jump above all earlier values is an explosion.
    earlier = values_of(rows[:-1], "kl")[-int(limits["window"]) :]
    before = max(earlier) if len(earlier) >= FEW else None
    if now >= limits["kl"]:
        return f"KL is {now:.3g}; the limit is {limits['kl']:g}", {"kl": now, "limit": limits["kl"]}
    if before is not None and now >= limits["kl_least"] and now > limits["kl_growth"] * before:
        said = (
            f"KL is {now:.3g}, {now / before:.0f} times its earlier value"
            if before > 0
            else f"KL rose from 0 to {now:.3g}"
        )
        return said, {"kl": now, "before": before, "limit": limits["kl_growth"] * before}
    return None


def _entropy_collapse(rows: Sequence[Row], limits: Limits) -> Finding | None:
    values = values_of(rows, "entropy")
    patience, window = int(limits["patience"]), int(limits["window"])
    if len(values) < patience or "entropy" not in rows[-1]:
        return None
    last = values[-patience:]
    if max(last) < limits["entropy"]:
        return f"entropy is {last[-1]:.3g}, below {limits['entropy']:g}", {
            "entropy": last[-1],
            "limit": limits["entropy"],
        }
    first = values[: min(window, len(values) - patience)]
    if len(first) < FEW:
        return None
    least = limits["entropy_share"] * median(first)
    if max(last) >= least:
        return None
    said = f"entropy fell from {median(first):.3g} to {last[-1]:.3g}"
    return said, {"entropy": last[-1], "before": median(first), "limit": least}


def _stalled_rollouts(rows: Sequence[Row], limits: Limits) -> Finding | None:
    share = rows[-1].get("stalled", 0.0)
    if share >= limits["stalled"]:
        return f"{share:.0%} of the rollouts ran into their time limit", {"stalled": share, "limit": limits["stalled"]}
    now, before = compared(rows, "rollout_seconds", limits)
    if now is None or before is None or now < limits["stall_least_s"] or now <= limits["stall_growth"] * before:
        return None
    said = f"the rollouts took {now:.0f} s; before, they took {before:.0f} s"
    return said, {"rollout_seconds": now, "before": before, "limit": limits["stall_growth"] * before}


def _number(facts: Facts, name: str) -> float:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _failed(facts: Facts, who: str, code: str | None = None) -> bool:
    failure = facts.get("failure")
    return isinstance(failure, dict) and failure.get("who") == who and code in (None, failure.get("code"))


GRPO_KINDS: Mapping[str, AlarmKind] = {
    "kl-explosion": AlarmKind(
        _kl_explosion,
        "`kl` reaches {kl:g}, or jumps above both {kl_least:g} and {kl_growth:g} times the highest of the last "
        "{window:g} optimizer steps.",
        "The model drifts too far from its reference. Raise {beta} or lower {learning_rate}.",
    ),
    "entropy-collapse": AlarmKind(
        _entropy_collapse,
        "`entropy` is below {entropy:g}, or below {entropy_share:.0%} of its first values, {patience:g} optimizer "
        "steps in a row.",
        "The model became deterministic too early. Sample at a higher {temperature}, raise {beta} or lower "
        "{learning_rate}.",
    ),
    "tool-loop": AlarmKind(
        at_least("looping", "looping", f"{{value:.0%}} of the rollouts make one call {LOOP} times in a row or more"),
        "`looping` reaches {looping:.0%}.",
        "The model makes the same call again and again. Check the loss mask and whether the reward is clear.",
        lambda facts: _number(facts, "longest_repeat") >= LOOP,
    ),
    "simulator-breakdown": AlarmKind(
        at_least("simulator_failed", "simulator", "the simulated user broke {value:.0%} of the rollouts"),
        "`simulator_failed` reaches {simulator:.0%}.",
        "The simulated user answers incoherently or not at all. Check its prompt and the user's model.",
        lambda facts: _failed(facts, "simulator"),
    ),
    "dead-groups": AlarmKind(
        at_least(
            "dead_groups",
            "dead_groups",
            "{value:.0%} of the groups have the same reward for all rollouts, {steps}",
            lasting=True,
        ),
        "`dead_groups` reaches {dead_groups:.0%}, {patience:g} optimizer steps in a row.",
        "Nothing can be learned from a group whose rollouts all have the same reward. If all are wrong, start with "
        "SFT or with easier tasks. If all are right, train on harder ones. Otherwise, a larger {group_size} and a "
        "higher {temperature} give more diverse rollouts.",
    ),
    "truncation": AlarmKind(
        at_least(
            "truncated",
            "truncated",
            "{value:.0%} of the rollouts have an answer that was cut off, {steps}",
            lasting=True,
        ),
        "`truncated` reaches {truncated:.0%}, {patience:g} optimizer steps in a row.",
        "Answers are cut off before the model ends them. Raise {max_tokens} or {context}, or look for endless answers.",
        lambda facts: facts.get("truncated") is True,
    ),
    "token-drift": AlarmKind(
        at_least("drift", "drift", "sampled and recomputed log-probabilities differ by {value:.3g} on average"),
        "`drift` reaches {drift:g}.",
        "The trainer scores different tokens or weights from those that were sampled. Check that the gateway has the "
        "newest weights, the chat template and {dtype}.",
        advice_with_verl="The trainer scores different tokens or weights from those that were sampled. Check that the "
        "model servers have the newest weights, and the chat template.",
    ),
    "stalled-rollouts": AlarmKind(
        _stalled_rollouts,
        "`stalled` reaches {stalled:.0%}, the rollouts of an optimizer step take {stall_growth:g} times as long as "
        "those before and more than {stall_least_s:g} s, or none of them ends for {idle_s:g} s.",
        "Rollouts hang. Check the user's model, tools and MCP servers for time-outs, and lower {concurrency}.",
        lambda facts: _failed(facts, "infrastructure", "timeout"),
    ),
}
"""The alarms that only GRPO has, by name."""
