"""Defines the alarms of a run: their conditions, and advice for each. Pure and torch-free.

An alarm is a condition on rows of `metrics.jsonl`, so it gives the same result live, after a resume, and years later.
It is raised at the optimizer step at which its condition becomes true, and again only after the condition was false.
Alarms of only one kind of run are in grpo_alarms.py and sft_alarms.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rehearsal_trainer.metrics.alarm_kind import AlarmKind, Facts, Finding, Limit, Limits, Row, RunKind
from rehearsal_trainer.metrics.grpo_alarms import GRPO_KINDS, GRPO_LIMITS
from rehearsal_trainer.metrics.sft_alarms import SFT_KINDS, SFT_LIMITS
from rehearsal_trainer.settings.setting import Backend, option_names
from rehearsal_trainer.values.failures import ConfigurationError

OPTION = re.compile(r"[\w.]+")
"""One option of a backend; some keys set several."""

MOST_RECORDINGS = 5
"""Recordings that an alarm names as its evidence."""

LIMITS: Mapping[str, Limit] = {
    "window": Limit(
        10,
        "number of optimizer steps that a value is compared with: the last ones, or for entropy the first ones",
        ge=1,
    ),
    "patience": Limit(
        3, "number of optimizer steps in a row for which entropy, truncation, dead groups or loss must be bad", ge=1
    ),
    **GRPO_LIMITS,
    **SFT_LIMITS,
}
"""The limits by name."""


@dataclass(frozen=True)
class Alarm:
    """Something is going wrong: since which optimizer step, and by which numbers."""

    name: str
    step: int
    message: str
    evidence: Mapping[str, float]


def completed(limits: Limits) -> dict[str, float]:
    """Returns all limits: the given ones, and defaults for the others; ConfigurationError for an invalid limit."""
    for name, value in limits.items():
        if name not in LIMITS:
            raise ConfigurationError(f"alarms: there is no limit {name}; known are {', '.join(LIMITS)}")
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            raise ConfigurationError(f"alarms: {name}: expected a number above 0, found {value!r}")
        if value < LIMITS[name].ge:
            raise ConfigurationError(f"alarms: {name}: expected at least {LIMITS[name].ge:g}, found {value!r}")
    return {name: limits.get(name, limit.default) for name, limit in LIMITS.items()}


def when_raised(kind: AlarmKind) -> str:
    """Returns the description of when an alarm is raised, with the default limits."""
    return kind.about.format(**completed({}))


def advice(name: str, run: RunKind, config: type[Any] | None = None, backend: Backend = "trl") -> str:
    """Returns the advice for an alarm, with the keys of a configuration and the options of the backend."""
    options = option_names(config, backend, run == "sft") if config else {}
    names = {
        key: f"{key} ({option} in {'TRL' if backend == 'trl' else backend})"
        for key, option in options.items()
        if option != key and OPTION.fullmatch(option)
    }
    return KINDS[name].advice_by(backend, names)


def known(names: Sequence[str], run: RunKind) -> list[str]:
    """Returns the names of alarms unchanged; ConfigurationError for an alarm that this kind of run does not have."""
    for name in names:
        if name not in kinds_of(run):
            raise ConfigurationError(f"pause_on: {run} has no alarm {name}; known are {', '.join(kinds_of(run))}")
    return list(names)


def kinds_of(run: RunKind) -> dict[str, AlarmKind]:
    """Returns the alarms of a kind of run by name."""
    return {name: kind for name, kind in KINDS.items() if run in kind.runs}


def raised(rows: Sequence[Row], limits: Limits, run: RunKind) -> list[Alarm]:
    """Returns the alarms of the last row that the row before it does not have; rows must ascend by `step`."""
    found = []
    for name, kind in kinds_of(run).items():
        bad = kind.condition(rows, limits) if rows else None
        if bad is not None and (len(rows) < 2 or kind.condition(rows[:-1], limits) is None):
            message, evidence = bad
            found.append(Alarm(name, int(rows[-1]["step"]), message, evidence))
    return found


def stalled(step: int, open_rollouts: int, limits: Limits) -> Alarm:
    """Returns the alarm of a step whose rollouts are stalled now, before the step has metrics."""
    seconds = limits["idle_s"]
    return Alarm(
        "stalled-rollouts",
        step,
        f"no rollout ended for {seconds:g} s, and {open_rollouts} are open",
        {"idle_s": seconds, "open": open_rollouts},
    )


def recordings_of(alarm: Alarm, rollouts: Sequence[Facts]) -> list[str]:
    """Returns the names of recordings that show an alarm, from the rollouts of its step."""
    shows = KINDS[alarm.name].shows
    return [str(facts["recording"]) for facts in rollouts if facts.get("recording") and shows(facts)][:MOST_RECORDINGS]


def _not_a_number(rows: Sequence[Row], _limits: Limits) -> Finding | None:
    if not rows[-1].get("not_finite"):
        return None
    return "the loss or the norm of its gradient became NaN or infinite", {"not_finite": 1.0}


KINDS: Mapping[str, AlarmKind] = {
    **GRPO_KINDS,
    "not-a-number": AlarmKind(
        _not_a_number,
        "The loss or the norm of its gradient became NaN or infinite.",
        "The weights are lost from this optimizer step on. Delete the later checkpoints, and resume from the one "
        "before with a lower {learning_rate}, or with {dtype} float32.",
        runs=("sft", "grpo"),
        advice_with_verl="The weights are lost from this optimizer step on. Delete the later checkpoints, and resume "
        "from the one before with a lower {learning_rate}.",
    ),
    **SFT_KINDS,
}
"""The alarms by name."""
