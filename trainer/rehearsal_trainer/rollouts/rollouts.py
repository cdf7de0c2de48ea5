"""Plays a rollout with a gateway session and the engine, for GRPO as well as for evaluation.

A group consists of the rollouts of a task in one optimizer step. Torch-free.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

from rehearsal_trainer.gateway.session import SessionRow
from rehearsal_trainer.rollouts.engine import Engine, Failure, RolloutResult
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values.failures import EngineError, TrainingError
from rehearsal_trainer.values.messages import Json

if TYPE_CHECKING:
    from rehearsal_trainer.gateway.gateway import Gateway


@dataclass(frozen=True)
class RolloutSettings:
    """The settings that all rollouts of a task set share."""

    domain: str
    user: Json = "agenda"
    basis: str = "train"
    turn_cap: int | None = None
    rollout_timeout_s: float = 600
    agent: str | None = None
    """The file of a custom agent that uses the gateway as its model; None lets the model itself be the agent."""

    @classmethod
    def of(cls, config: object) -> Self:
        """Returns the settings of a command's configuration, whose fields have the same names."""
        return cls(**{each.name: getattr(config, each.name) for each in fields(cls)})


@dataclass(frozen=True)
class RolloutRequest:
    """A rollout to play. All randomness of the gateway and the engine derives from `seed`."""

    task: str
    member: int
    seed: str
    sampling: Sampling
    settings: RolloutSettings
    recording: str | None = None
    group: int = 0
    """The number of its group among the groups of its task that are played together."""


@dataclass(frozen=True)
class PlayedRollout:
    """A rollout with its rows from the gateway.

    `rows` is empty if the model was never asked, or if an earlier process played the rollout.
    """

    request: RolloutRequest
    result: RolloutResult
    rows: Sequence[SessionRow]
    changed_histories: int
    malformed_calls: int
    seconds: float = 0.0
    session: str = ""
    """The id of its session at the gateway."""
    truncated: bool = False
    """Whether an answer was truncated, by its own limit or by the context."""
    sampled: int = 0
    """The number of sampled tokens: the response length in MUA-RL."""
    prompt_length: int = 0
    """The number of tokens before the model's first answer: policy, tools, and the user's first message."""


def task_of(request: RolloutRequest) -> tuple[str, str]:
    """Returns what identifies a task: its domain and its id."""
    return request.settings.domain, request.task


def groups_of(played: Sequence[PlayedRollout]) -> list[list[PlayedRollout]]:
    """Returns the groups of rollouts: those with the same task and the same group number."""
    groups: dict[tuple[tuple[str, str], int], list[PlayedRollout]] = {}
    for rollout in played:
        groups.setdefault((task_of(rollout.request), rollout.request.group), []).append(rollout)
    return list(groups.values())


def is_dead(group: Sequence[PlayedRollout]) -> bool:
    """Returns whether the rewards of a group are all equal, so that it has no gradient; None is ignored."""
    return len({rollout.result.reward for rollout in group if rollout.result.reward is not None}) < 2


async def play_rollout(gateway: Gateway[Any], engine: Engine, request: RolloutRequest) -> PlayedRollout:
    """Plays one rollout in a new session of the gateway."""
    settings = request.settings
    started = time.monotonic()
    session = gateway.open_session(request.seed, request.sampling)
    params: dict[str, Json] = {
        "domain": settings.domain,
        "task": request.task,
        "seed": request.seed,
        "trial": request.member,
        "agent": {"base_url": gateway.session_url(session), "api_key": session.token, "model": gateway.model},
        "user": settings.user,
        "basis": settings.basis,
        "timeout_s": settings.rollout_timeout_s,
    }
    if settings.agent is not None:
        params["agent"]["program"] = settings.agent
    if request.recording is not None:
        params["recording"] = request.recording
    if settings.turn_cap is not None:
        params["turn_cap"] = settings.turn_cap
    try:
        # The engine enforces the timeout; the longer wait here is for an engine that hangs.
        result = await engine.rollout(params, settings.rollout_timeout_s + 30)
    except EngineError as error:
        if error.code in ("ended", "unknown-domain", "bad-domain", "unknown-task", "bad-request", "unknown-method"):
            raise TrainingError(f"the engine cannot play task {request.task}: {error}") from error
        # A cancelled rollout does not have a failure: it is not finished, and a resumed run plays it again.
        failure = None if error.code == "cancelled" else Failure("infrastructure", str(error), error.code)
        result = RolloutResult(None, error.code, 0, failure=failure)
    finally:
        gateway.close_session(session)
    result = refused_mix_up(result, session.answers, settings.agent is None)
    rows = [row for row in session.rows if row.finish_reasons]
    for row in rows:
        row.check_mask()
    seconds = time.monotonic() - started
    broken = session.changed_histories, session.malformed_calls
    return PlayedRollout(
        request, result, rows, *broken, seconds, session.id, _is_truncated(result, rows),
        sum(sum(row.row.mask) for row in rows), session.rows[0].prompt_length if session.rows else 0,
    )  # fmt: skip


def refused_mix_up(result: RolloutResult, sampled: Sequence[str], is_plain: bool) -> RolloutResult:
    """Returns the result, without its reward if the rollout used other answers than were sampled for it.

    A custom agent may leave out answers. Without one, every answer is one reply of the agent.
    """
    taken = result.answers
    if taken is None or result.reward is None:
        return result
    if list(taken) == list(sampled) if is_plain else set(taken) <= set(sampled):
        return result
    message = (
        "the rollout took other answers of the model than were sampled for it, so its reward says nothing about them"
    )
    failure = Failure("infrastructure", message, "model/mixed-up")
    return replace(result, reward=None, end_reason="infrastructureFailed", failure=failure)


def _is_truncated(result: RolloutResult, rows: Sequence[SessionRow]) -> bool:
    if result.failure is not None and result.failure.code == "model/context":
        return True
    return any("length" in row.finish_reasons for row in rows)
