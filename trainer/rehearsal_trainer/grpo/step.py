"""Plays the rollouts of a GRPO step, and builds the rows of tokens and rewards that it learns from. Torch-free."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rehearsal_trainer.chat.masks import CompletionRow, Sampled
from rehearsal_trainer.gateway.session import SessionRow
from rehearsal_trainer.grpo.config import Config
from rehearsal_trainer.metrics import alarms
from rehearsal_trainer.metrics.measurements import Measurements
from rehearsal_trainer.rollouts.rollout_lines import write_summary
from rehearsal_trainer.rollouts.rollout_metrics import OF_A_DOMAIN, measure
from rehearsal_trainer.rollouts.rollout_worker import Idle, RolloutWorker
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, is_dead
from rehearsal_trainer.rollouts.task_sets import TaskSet, draw_order, labels_of
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.failures import TrainingError

if TYPE_CHECKING:
    from rehearsal_trainer.runs.run_folder import RunFolder

Group = list[PlayedRollout]


@dataclass(frozen=True)
class IntermediateRewards:
    """Amounts that are added to a reward before GRPO learns from it: 0 except in experiments."""

    format: float = 0.0
    """Added for a rollout whose calls were all well formed."""
    tools: float = 0.0
    """Added for a rollout that called the tools of all gold actions; proportionally less for fewer."""

    def of(self, rollout: PlayedRollout) -> float | None:
        """Returns the reward to learn from; None for a rollout that says nothing about the model."""
        reward = rollout.result.reward
        if reward is None:
            return None
        well_formed = rollout.malformed_calls == 0
        return reward + self.format * well_formed + self.tools * (rollout.result.facts.matched_tools or 0.0)


@dataclass(frozen=True)
class StepRows:
    """The rows of an optimizer step, and the rollouts that they belong to."""

    rows: list[CompletionRow]
    owners: list[int]
    """For each row, the number of its rollout; rollouts that cannot be learned from do not have rows."""
    sampled: list[Sequence[Sampled]]
    """For each row, the answers of the model in it."""
    rewards: list[float | None]
    """For each rollout. None leaves a rollout that could not be scored out of its group's mean."""


class StepPlayer:
    """Plays the rollouts of an optimizer step for its prompts, and returns their rows and rewards.

    A prompt is the label of a task, repeated for each rollout of its group. Adds the step's metrics to `measured`.
    """

    def __init__(
        self, config: Config, run: RunFolder, worker: RolloutWorker, trained: Sequence[TaskSet], measured: Measurements
    ) -> None:
        self._config, self._run, self._worker, self._trained, self._measured = config, run, worker, trained, measured
        self._of_label = {label: (each, task) for each in trained for label, task in labels_of(each, trained).items()}

    def __call__(self, prompts: Sequence[str], step: int) -> StepRows:
        config, generator = self._config, self._worker.gateway.generator
        started = time.monotonic()
        generator.refresh()
        before = generator.sampled_tokens
        groups, every = self._refilled(prompts, step)
        generator.suspend()
        folder = self._run.trajectories(step)
        write_summary(folder, [rollout for group in every for rollout in group])
        seconds = time.monotonic() - started
        sampled = generator.sampled_tokens - before
        values = measured_in(every, self._trained, config.user_prices)
        values |= {"rollout_seconds": seconds, "tokens_per_second": sampled / seconds}
        self._measured.values |= values
        used = [rollout for group in groups for rollout in group]
        refuse_small_context(used, step, config.context)
        refuse_unscored(used, step, folder / run_files.ROLLOUTS)
        refuse_unlearnable(used, step)
        intermediate = IntermediateRewards(config.format_reward, config.tool_reward)
        step_rows = training_rows(used, intermediate)
        if intermediate != IntermediateRewards():
            learned = [reward for reward in step_rows.rewards if reward is not None]
            self._measured.values["trained_reward"] = sum(learned) / max(1, len(learned))
        return step_rows

    def _refilled(self, prompts: Sequence[str], step: int) -> tuple[list[Group], list[Group]]:
        """Plays the groups of a step, and replaces dead ones in up to `refills` rounds.

        Returns the groups to learn from, and all groups that were played.
        """
        config, members = self._config, Members()
        groups = self._groups(prompts, step, members)
        every = list(groups)
        for number in range(config.refills):
            dead = [at for at, group in enumerate(groups) if is_dead(group)]
            if not dead:
                break
            others = draw_order(self._trained, len(dead), f"{config.seed}/step-{step}/refill-{number}")
            played = self._groups([label for label in others for _ in range(config.group_size)], step, members)
            every += played
            for at, group in zip(dead, played, strict=True):
                groups[at] = group
        return groups, every

    def _groups(self, labels: Sequence[str], step: int, members: Members) -> list[Group]:
        config, folder, sampling = self._config, self._run.trajectories(step), Sampling.of(self._config)
        requests = [
            RolloutRequest(
                task=self._of_label[label][1],
                member=member,
                seed=f"{config.seed}/step-{step}/{label}/member-{member}",
                sampling=sampling,
                recording=str((folder / run_files.recording_name(label.replace("/", "."), member)).resolve()),
                settings=self._of_label[label][0].settings,
                group=member // config.group_size,
            )
            for label, member in members.number(labels)
        ]

        def say(left: int) -> None:
            self._run.raise_alarm(alarms.stalled(step, left, config.alarms))

        played = self._worker.play(requests, idle=Idle(config.alarms["idle_s"], say))
        return [played[at : at + config.group_size] for at in range(0, len(played), config.group_size)]


def refuse_small_context(played: Sequence[PlayedRollout], step: int, context: int) -> None:
    """Raises TrainingError if no rollout of a step has a row because the first request exceeds the context."""
    shortest = min(rollout.prompt_length for rollout in played)
    if shortest < context or any(map(is_learnable, played)):
        return
    raise TrainingError(
        f"no rollout of optimizer step {step} can be learned from: policy, tools and the user's first words need "
        f"{shortest} tokens, and context is {context}"
    )


def refuse_unscored(played: Sequence[PlayedRollout], step: int, summary: Path) -> None:
    """Raises TrainingError, with a reason, if no rollout of a step could be scored."""
    if any(rollout.result.reward is not None for rollout in played):
        return
    failure = next((rollout.result.failure for rollout in played if rollout.result.failure), None)
    said = failure.message if failure else "no reason given"
    end = "" if said.endswith((".", "?", "!")) else "."
    raise TrainingError(
        f"no rollout of optimizer step {step} could be scored: {said}{end} "
        f"{summary} has the reason of each. Fix it, then continue with --resume"
    )


def refuse_unlearnable(played: Sequence[PlayedRollout], step: int) -> None:
    """Raises TrainingError if none of a step's scored rollouts has a row to learn from."""
    scored = [rollout for rollout in played if rollout.result.reward is not None]
    if not any(map(is_learnable, scored)):
        raise TrainingError(
            f"no rollout of optimizer step {step} can be learned from: the model answered in none of {len(scored)}"
        )


def is_learnable(rollout: PlayedRollout) -> bool:
    """Returns whether a rollout has rows, which requires that the model answered at least once."""
    return len(rollout.rows) > 0


def cost_of(used: Mapping[str, float], prices: Mapping[str, float]) -> float:
    """Returns the cost of the tokens of the model that plays the user; prices are per million tokens."""
    return sum(used.get(f"user_{kind}_tokens", 0.0) * price for kind, price in prices.items()) / 1e6


def measured_in(
    groups: Sequence[Sequence[PlayedRollout]], trained: Sequence[TaskSet], user_prices: Mapping[str, float]
) -> dict[str, float]:
    """Returns the metrics of a step's rollouts, those of each domain if there are several, and with prices the cost."""
    played = [rollout for group in groups for rollout in group]
    values = measure(played) | {"dead_groups": sum(map(is_dead, groups)) / len(groups)}
    if user_prices:
        values["cost"] = cost_of(values, user_prices)
    for each in trained if len(trained) > 1 else []:
        own = measure([rollout for rollout in played if rollout.request.settings is each.settings])
        values |= {f"domain/{each.name}/{name}": own[name] for name in OF_A_DOMAIN if name in own}
    return values


class Members:
    """Numbers the rollouts of each task in a step from 0, even if the task is in two groups."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def number(self, labels: Sequence[str]) -> list[tuple[str, int]]:
        """Returns each label with a number that no earlier rollout of its task has."""
        numbered = []
        for label in labels:
            self._counts[label] = self._counts.get(label, -1) + 1
            numbered.append((label, self._counts[label]))
        return numbered


def training_rows(played: Sequence[PlayedRollout], intermediate: IntermediateRewards) -> StepRows:
    """Returns every row of every scored rollout with the rollout's reward; a rewritten history adds rows to a rollout.

    The prompt is the common prefix of all rows: policy and tools, the same ids for the whole domain. The first user
    message is in the completion with mask 0, like every later one.
    """
    kept_rows: list[SessionRow] = []
    owners: list[int] = []
    rewards: list[float | None] = []
    for number, rollout in enumerate(played):
        usable = rollout.result.reward is not None and is_learnable(rollout)
        rewards.append(intermediate.of(rollout) if usable else None)
        for kept in rollout.rows if usable else []:
            if not any(kept.row.mask):
                raise TrainingError(
                    f"the rollout of task {rollout.request.task} has a row in which nothing can be learned: no token "
                    "of it was sampled"
                )
            kept_rows.append(kept)
            owners.append(number)
    begun = shared_start([kept.row.ids[: kept.prompt_length] for kept in kept_rows])
    rows = [kept.completion(begun) for kept in kept_rows]
    return StepRows(rows, owners, [kept.sampled for kept in kept_rows], rewards)


def shared_start(prompts: Sequence[Sequence[int]]) -> int:
    """Returns the length of the prefix that all prompts share, at least 1: TRL refuses an empty prompt."""
    columns = zip(*prompts, strict=False)
    return max(1, sum(1 for _ in itertools.takewhile(lambda column: len(set(column)) == 1, columns)))
