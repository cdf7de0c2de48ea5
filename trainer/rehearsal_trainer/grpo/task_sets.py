"""Builds the task sets of a GRPO run, for training and for evaluation, by domain. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rehearsal_trainer.grpo.config import Config, shares_of
from rehearsal_trainer.rollouts.rollouts import RolloutSettings
from rehearsal_trainer.rollouts.task_sets import TaskLister, TaskSet
from rehearsal_trainer.settings.rollout_keys import name_of
from rehearsal_trainer.values.failures import ConfigurationError, EngineError

if TYPE_CHECKING:
    from rehearsal_trainer.runs.run_folder import RunFolder


def trained_sets(config: Config, lister: TaskLister) -> list[TaskSet]:
    """Returns the tasks that a run learns from, by domain."""
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
    """Returns the tasks that a run is evaluated on, by domain; warns of a domain without tasks in the split."""
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


def refuse_overlap(trained: Sequence[TaskSet], evaluated: Sequence[TaskSet]) -> None:
    """Raises ConfigurationError if a task is both trained on and evaluated on."""
    learned = {(each.settings.domain, task) for each in trained for task in each.tasks}
    both = [task for each in evaluated for task in each.tasks if (each.settings.domain, task) in learned]
    if both:
        more = f" and {len(both) - 3} more" if len(both) > 3 else ""
        raise ConfigurationError(
            f"split: {', '.join(both[:3])}{more} would be trained on and evaluated on. Train on the split train and "
            "evaluate on the split test, or set evaluate_every to 0"
        )
