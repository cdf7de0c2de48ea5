"""What a run learns from and what it is evaluated on: the tasks of each of its domains, and who plays their users.

Torch-free.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from rehearsal_trainer.engine import EngineError
from rehearsal_trainer.failures import ConfigurationError
from rehearsal_trainer.grpo_config import Config, name_of, shares_of
from rehearsal_trainer.messages import Json
from rehearsal_trainer.rollout_keys import DomainShare
from rehearsal_trainer.rollouts import RolloutSettings

if TYPE_CHECKING:
    from rehearsal_trainer.run_folder import RunFolder


class TaskLister(Protocol):
    """Who knows the tasks of a domain."""

    def tasks(self, domain: str, split: str | None) -> list[dict[str, Json]]:
        """Those of a split, as the engine lists them."""
        ...


@dataclass(frozen=True)
class TaskSet:
    """The tasks of a domain that a run plays for one purpose, and how."""

    name: str
    share: DomainShare
    tasks: Sequence[str]
    settings: RolloutSettings
    is_held_out: bool = False


def trained_sets(config: Config, lister: TaskLister) -> list[TaskSet]:
    """The tasks that a run learns from, by domain."""
    return [
        TaskSet(
            name_of(share),
            share,
            [task["id"] for task in lister.tasks(share.folder, config.split)],
            RolloutSettings.of(replace(config, domain=share.folder, user=share.user or config.user)),
        )
        for share in shares_of(config)
    ]


def evaluated_sets(config: Config, run: RunFolder, lister: TaskLister) -> list[TaskSet]:
    """The tasks that a run is evaluated on, by domain; warns of a domain that has none."""
    if not config.evaluate_every:
        return []
    sets = []
    for share in [*shares_of(config), *config.held_out]:
        name, user = name_of(share), share.evaluate_user or config.evaluate_user
        settings = RolloutSettings.of(replace(config, domain=share.folder, user=user, basis=config.evaluate_basis))
        try:
            tasks = [task["id"] for task in lister.tasks(share.folder, config.evaluate_split)]
        except EngineError as error:
            if error.code != "unknown-split":
                raise
            message = f"{name} has no task in the split {config.evaluate_split}, so nothing measures it while it trains"
            run.event("warning", message=message)
            continue
        sets.append(TaskSet(name, share, tasks, settings, share in config.held_out))
    return sets


def say_apart(run: RunFolder, trained: Sequence[TaskSet], evaluated: Sequence[TaskSet], steps: int) -> None:
    """Says in an event what is trained on and what is evaluated on, and warns of a model that plays both users."""
    both = sorted(_simulators(trained) & _simulators(evaluated))
    run.event(
        "data", train=[_said(each) for each in trained], evaluate=[_said(each) for each in evaluated],
        shared_simulators=both, steps=steps,
    )  # fmt: skip
    for name in both:
        if name.startswith("openai:"):
            run.event("warning", message=f"{name} plays the user both in training and in evaluation")


def refuse_overlap(trained: Sequence[TaskSet], evaluated: Sequence[TaskSet]) -> None:
    """ConfigurationError where a task is both trained on and evaluated on."""
    learned = {(each.settings.domain, task) for each in trained for task in each.tasks}
    both = [task for each in evaluated for task in each.tasks if (each.settings.domain, task) in learned]
    if both:
        more = f" and {len(both) - 3} more" if len(both) > 3 else ""
        raise ConfigurationError(
            f"split: {', '.join(both[:3])}{more} would be trained on and evaluated on. Train on the split train and "
            "evaluate on the split test, or set evaluate_every to 0"
        )


def labels_of(one: TaskSet, every: Sequence[TaskSet]) -> dict[str, str]:
    """What a run calls the tasks of a domain: their ids, and behind the domain's name where there are several."""
    return {f"{one.name}/{task}" if len(every) > 1 else task: task for task in one.tasks}


def draw_order(sets: Sequence[TaskSet], length: int, seed: int | str) -> list[str]:
    """The groups of the whole run: domains are drawn by weight, their tasks come one shuffled pass after the other."""
    stream = random.Random(f"domain-order/{seed}")
    drawn = stream.choices(range(len(sets)), [each.share.weight for each in sets], k=length)
    counts = [drawn.count(index) for index in range(len(sets))]
    orders = [iter(task_order(list(labels_of(each, sets)), counts[index], seed)) for index, each in enumerate(sets)]
    return [next(orders[index]) for index in drawn]


def task_order(tasks: Sequence[str], length: int, seed: int | str) -> list[str]:
    """The tasks of the whole run: one shuffled pass after the other, the same for the same seed."""
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
