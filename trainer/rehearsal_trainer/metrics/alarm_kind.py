"""Defines a kind of alarm, which is a condition on rows of `metrics.jsonl`, and helpers for conditions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from rehearsal_trainer.settings.setting import Backend
from rehearsal_trainer.values.messages import Json

Row = Mapping[str, float]
Limits = Mapping[str, float]
Facts = Mapping[str, Json]
"""A line of a step's `rollouts.jsonl`."""

RunKind = Literal["sft", "grpo", "evaluate"]
"""The commands of the trainer that write a run's folder."""

Finding = tuple[str, dict[str, float]]
"""The message of a condition that is met, and the values that are evidence of it."""

FEW = 3
"""The minimum number of earlier values that a comparison needs."""

LOOP = 4
"""The number of identical consecutive calls that counts as a loop."""


@dataclass(frozen=True)
class Limit:
    """A threshold of an alarm; a run's `alarms` can override it."""

    default: float
    about: str
    ge: float = 0
    """Smaller values are refused, and so is 0."""


@dataclass(frozen=True)
class AlarmKind:
    """A kind of alarm. `condition` returns the message and the evidence if the last row meets it, else None."""

    condition: Callable[[Sequence[Row], Limits], Finding | None]
    about: str
    """Describes when it is raised; `{name}` refers to a limit."""
    advice: str
    """Advice for the user; `{name}` refers to a key of the configuration."""
    shows: Callable[[Facts], bool] = lambda _facts: False
    """Returns whether a rollout shows the problem, so that its recording is evidence."""
    runs: Sequence[RunKind] = ("grpo",)
    """The kinds of run that it applies to. For example, a fall of the entropy is expected in SFT."""
    advice_with_verl: str | None = None
    """Advice for runs that verl trains, if it differs."""

    def advice_by(self, backend: Backend, names: Mapping[str, str]) -> str:
        """Returns the advice for a run of a backend, with these names for keys; other keys keep their own names."""
        words = self.advice_with_verl if backend == "verl" else None
        return (words or self.advice).format_map(_Names(names))


class _Names(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key


def at_least(
    metric: str, limit: str, said: str, lasting: bool = False
) -> Callable[[Sequence[Row], Limits], Finding | None]:
    """Returns a condition: a metric is at its limit or above, in the last row or in the last `patience` rows."""

    def condition(rows: Sequence[Row], limits: Limits) -> Finding | None:
        count = int(limits["patience"]) if lasting else 1
        last = [row.get(metric) for row in rows[-count:]]
        measured = [value for value in last if value is not None]
        if len(measured) < count or min(measured) < limits[limit]:
            return None
        evidence = {metric: measured[-1], "limit": limits[limit]} | ({"steps": float(count)} if lasting else {})
        steps = "one optimizer step" if count == 1 else f"{count} optimizer steps in a row"
        return said.format(value=measured[-1], steps=steps), evidence

    return condition


def compared(rows: Sequence[Row], metric: str, limits: Limits) -> tuple[float | None, float | None]:
    """Returns the last row's value, and the median of the window before it if that has at least `FEW` values."""
    before = values_of(rows[:-1], metric)[-int(limits["window"]) :]
    return rows[-1].get(metric), median(before) if len(before) >= FEW else None


def values_of(rows: Sequence[Row], metric: str) -> list[float]:
    """Returns the values of a metric in the rows that have it."""
    return [row[metric] for row in rows if metric in row]
