"""The tasks that a run trains or is evaluated on, by domain, and the models that play their users.

Torch-free.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rehearsal_trainer.rollouts.rollouts import RolloutSettings
from rehearsal_trainer.settings.rollout_keys import DomainShare
from rehearsal_trainer.values.messages import Json

if TYPE_CHECKING:
    from rehearsal_trainer.runs.run_folder import RunFolder


class TaskLister(Protocol):
    """Lists the tasks of a domain."""

    def tasks(self, domain: str, split: str | None) -> list[dict[str, Json]]:
        """Returns the tasks of a split, as the engine lists them."""
        ...


@dataclass(frozen=True)
class TaskSet:
    """The tasks of a domain that a run plays for one purpose, and the settings of their rollouts."""

    name: str
    share: DomainShare
    tasks: Sequence[str]
    settings: RolloutSettings
    is_held_out: bool = False


def report_task_sets(run: RunFolder, trained: Sequence[TaskSet], evaluated: Sequence[TaskSet], steps: int) -> None:
    """Writes an event with the task sets, and warns of a model that plays the user in training and in evaluation."""
    both = sorted(_simulators(trained) & _simulators(evaluated))
    run.event(
        "data", train=[_said(each) for each in trained], evaluate=[_said(each) for each in evaluated],
        shared_simulators=both, steps=steps,
    )  # fmt: skip
    for name in both:
        if name.startswith("openai:"):
            run.event("warning", message=f"{name} plays the user both in training and in evaluation")


def labels_of(one: TaskSet, every: Sequence[TaskSet]) -> dict[str, str]:
    """Returns the ids of a domain's tasks by their labels: the id, after the domain's name if there are several."""
    return {f"{one.name}/{task}" if len(every) > 1 else task: task for task in one.tasks}


def draw_order(sets: Sequence[TaskSet], length: int, seed: int | str) -> list[str]:
    """Returns the labels of the run's groups: domains are drawn by weight, and their tasks in shuffled passes."""
    stream = random.Random(f"domain-order/{seed}")
    drawn = stream.choices(range(len(sets)), [each.share.weight for each in sets], k=length)
    counts = [drawn.count(index) for index in range(len(sets))]
    orders = [iter(task_order(list(labels_of(each, sets)), counts[index], seed)) for index, each in enumerate(sets)]
    return [next(orders[index]) for index in drawn]


def task_order(tasks: Sequence[str], length: int, seed: int | str) -> list[str]:
    """Returns the tasks of the whole run in shuffled passes, the same for the same seed."""
    order: list[str] = []
    stream = random.Random(f"task-order/{seed}")
    while len(order) < length:
        order += stream.sample(list(tasks), len(tasks))
    return order[:length]


def _said(tasks: TaskSet) -> dict[str, Any]:
    settings = tasks.settings
    return {
        "domain": tasks.name,
        "tasks": len(tasks.tasks),
        "weight": tasks.share.weight,
        "user": _simulator(settings.user),
        "basis": settings.basis,
        "held_out": tasks.is_held_out,
    }


def _simulators(sets: Sequence[TaskSet]) -> set[str]:
    return {_simulator(each.settings.user) for each in sets}


def _simulator(user: Any) -> str:
    return f"openai:{user.get('model')}" if isinstance(user, Mapping) else str(user)
