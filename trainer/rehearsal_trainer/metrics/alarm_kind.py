"""What one kind of alarm is: a condition on rows of `metrics.jsonl`, and what conditions are made of. Pure."""

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
"""What a run of the trainer does."""

Finding = tuple[str, dict[str, float]]
"""The message of a condition that is met, and the numbers that show it."""

FEW = 3
"""Optimizer steps before which there is nothing to compare with."""

LOOP = 4
"""The same call, with the same values, this many times in a row is a loop."""


@dataclass(frozen=True)
class Limit:
    """A number that an alarm compares with; a run's `alarms` sets another one."""

    default: float
    about: str
    ge: float = 0
    """Smaller ones are refused; 0 is, too."""


@dataclass(frozen=True)
class AlarmKind:
    """One kind of alarm. `condition` gives the message and the evidence where the last row is bad, else None."""

    condition: Callable[[Sequence[Row], Limits], Finding | None]
    about: str
    """When it is raised; a limit is written there as `{name}`."""
    advice: str
    """What helps, with the keys of a configuration as `{name}`."""
    shows: Callable[[Facts], bool] = lambda _facts: False
    """Whether a rollout shows it, so that its recording is evidence."""
    runs: Sequence[RunKind] = ("grpo",)
    """The kinds of runs that it is looked for in: entropy, say, is to fall in SFT."""
    advice_with_verl: str | None = None
    """What helps where verl trains, if that is something else."""

    def advice_by(self, backend: Backend, names: Mapping[str, str]) -> str:
        """Returns the advice for a run of a backend, with these names for the keys; other keys keep their own."""
        words = self.advice_with_verl if backend == "verl" else None
        return (words or self.advice).format_map(_Names(names))


class _Names(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key


def at_least(
    metric: str, limit: str, said: str, lasting: bool = False
) -> Callable[[Sequence[Row], Limits], Finding | None]:
    """A metric at its limit or above, in the last row or for as many rows as patience says."""

    def look(rows: Sequence[Row], limits: Limits) -> Finding | None:
        count = int(limits["patience"]) if lasting else 1
        last = [row.get(metric) for row in rows[-count:]]
        measured = [value for value in last if value is not None]
        if len(measured) < count or min(measured) < limits[limit]:
            return None
        evidence = {metric: measured[-1], "limit": limits[limit]} | ({"steps": float(count)} if lasting else {})
        steps = "one optimizer step" if count == 1 else f"{count} optimizer steps in a row"
        return said.format(value=measured[-1], steps=steps), evidence

    return look


def compared(rows: Sequence[Row], metric: str, limits: Limits) -> tuple[float | None, float | None]:
    """The last row's value and the median of the window before it, where there are enough to compare with."""
    before = values_of(rows[:-1], metric)[-int(limits["window"]) :]
    return rows[-1].get(metric), median(before) if len(before) >= FEW else None


def values_of(rows: Sequence[Row], metric: str) -> list[float]:
    """The values of a metric, of the rows that have it."""
    return [row[metric] for row in rows if metric in row]
