"""Plays rollouts: a gateway session and an engine's answer for each, many at once. The same path for GRPO and
evaluation. Torch-free."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rehearsal_trainer.alarms import LOOP
from rehearsal_trainer.engine import Engine, EngineError, RolloutFacts, RolloutResult, running
from rehearsal_trainer.failures import TrainingError
from rehearsal_trainer.messages import Json
from rehearsal_trainer.session import Sampling, SessionRow

if TYPE_CHECKING:
    from rehearsal_trainer.gateway import Gateway
    from rehearsal_trainer.generation import Generator

Result = TypeVar("Result")

OF_A_DOMAIN = ("reward", "all_correct", "all_wrong", "turns", "failed")
"""What is measured of each domain where a run has several."""


@dataclass(frozen=True)
class Idle:
    """Told once of rollouts that hang: `say` gets how many are open when none has ended for so many seconds."""

    seconds: float
    say: Callable[[int], None]


@dataclass(frozen=True)
class RolloutRequest:
    """One rollout to play. `seed` is the source of all its randomness, the gateway's and the engine's."""

    task: str
    member: int
    seed: str
    sampling: Sampling
    recording: str | None = None
    settings: RolloutSettings | None = None
    """Its own, where the rollouts that are played together are of several domains."""
    group: int = 0
    """Which of its task's groups it belongs to, where several are played together."""


@dataclass(frozen=True)
class PlayedRollout:
    """A rollout with what the gateway kept of it; `rows` is empty when the model was never asked, and when an earlier
    process played it."""

    request: RolloutRequest
    result: RolloutResult
    rows: Sequence[SessionRow]
    changed_histories: int
    malformed_calls: int
    seconds: float = 0.0
    session: str = ""
    """The id of its session at the gateway."""
    truncated: bool = False
    """Whether an answer was cut off, by its own limit or by the context's."""
    sampled: int = 0
    """Sampled tokens: the response length of MUA-RL."""
    prompt_length: int = 0
    """Tokens before the model's first answer: policy, tools, and what the user said first."""


@dataclass(frozen=True)
class RolloutSettings:
    """What all rollouts of a run share."""

    domain: str
    user: Json = "agenda"
    basis: str = "train"
    turn_cap: int | None = None
    rollout_timeout_s: float = 600
    concurrency: int = 32
    agent: str | None = None
    """The file of an agent that takes the seat, with the gateway as its model; without one the model does."""

    @classmethod
    def of(cls, config: object) -> Self:
        """Those of a script's configuration, which calls them the same."""
        return cls(**{each.name: getattr(config, each.name) for each in fields(cls)})


class RolloutWorker:
    """A running gateway and engine with an event loop of their own, for a caller that has none.

    A trainer calls it from its own thread and waits; nothing of it runs while the optimizer does.
    """

    def __init__(
        self, gateway: Gateway[Generator], command: Sequence[str], cwd: str, log: Callable[[str, str], None]
    ) -> None:
        self.gateway = gateway
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rollouts", daemon=True)
        self._thread.start()
        self._stack = contextlib.AsyncExitStack()
        self.engine: Engine = self._wait(self._start(command, cwd, log))

    def tasks(self, domain: str, split: str | None) -> list[dict[str, Json]]:
        """The tasks of a domain's split."""
        return self._wait(self.engine.tasks(domain, split))

    def play(
        self,
        settings: RolloutSettings,
        requests: Sequence[RolloutRequest],
        each: Callable[[PlayedRollout], None] | None = None,
        idle: Idle | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[PlayedRollout]:
        """Plays all of them, `settings.concurrency` at once; results stand in the order of the requests.

        Once `should_stop` says so, none is begun any more, and those that were not are left out.
        """
        return self._wait(self._play(settings, requests, each, idle, should_stop))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the engine, the server and the thread."""
        with contextlib.suppress(Exception):
            self._wait(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self.gateway.generator.close()

    def _wait(self, work: Coroutine[None, None, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _start(self, command: Sequence[str], cwd: str, log: Callable[[str, str], None]) -> Engine:
        await self._stack.enter_async_context(self.gateway.serving())
        return await self._stack.enter_async_context(running(command, cwd, log))

    async def _play(
        self,
        settings: RolloutSettings,
        requests: Sequence[RolloutRequest],
        each: Callable[[PlayedRollout], None] | None,
        idle: Idle | None,
        should_stop: Callable[[], bool],
    ) -> list[PlayedRollout]:
        free = asyncio.Semaphore(settings.concurrency)
        left = len(requests)
        ended = asyncio.Event()

        async def watch(idle: Idle) -> None:
            while True:
                ended.clear()
                try:
                    await asyncio.wait_for(ended.wait(), idle.seconds)
                except TimeoutError:
                    idle.say(min(left, settings.concurrency))
                    return

        async def one(request: RolloutRequest) -> PlayedRollout | None:
            async with free:
                if should_stop():
                    return None
                played = await play_rollout(self.gateway, self.engine, request.settings or settings, request)
            nonlocal left
            left -= 1
            ended.set()
            if each is not None:
                each(played)
            return played

        watching = asyncio.create_task(watch(idle)) if idle else None
        try:
            played = await asyncio.gather(*(one(request) for request in requests))
            return [rollout for rollout in played if rollout is not None]
        finally:
            if watching:
                watching.cancel()


async def play_rollout(
    gateway: Gateway[Any], engine: Engine, settings: RolloutSettings, request: RolloutRequest
) -> PlayedRollout:
    """Plays one rollout: a session of the gateway, and the engine's answer for it."""
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
        # The engine keeps the time; waiting a little longer only guards against an engine that hangs itself.
        result = await engine.rollout(params, settings.rollout_timeout_s + 30)
    except EngineError as error:
        if error.code in ("ended", "unknown-domain", "bad-domain", "unknown-task", "bad-request", "unknown-method"):
            raise TrainingError(f"the engine cannot play task {request.task}: {error}") from error
        result = RolloutResult(None, error.code, 0)
    finally:
        gateway.close_session(session)
    rows = [row for row in session.rows if row.finish_reasons]
    seconds = time.monotonic() - started
    broken = session.changed_histories, session.malformed_calls
    return PlayedRollout(
        request, result, rows, *broken, seconds, session.id, _is_truncated(result, rows),
        sum(sum(row.row.mask) for row in rows), session.rows[0].prompt_length if session.rows else 0,
    )  # fmt: skip


def _is_truncated(result: RolloutResult, rows: Sequence[SessionRow]) -> bool:
    if result.failure is not None and result.failure.code == "model/context":
        return True
    return any("length" in row.finish_reasons for row in rows)


def measure(played: Sequence[PlayedRollout]) -> dict[str, float]:
    """Means over the rollouts that say something about the model; `failed` counts the others.

    all_correct and all_wrong are shares of the groups whose rewarded rollouts all got 1, or all 0; a group that none
    was rewarded of is left out. What was used, and who broke a rollout, is of all of them.
    """
    scored = [rollout for rollout in played if rollout.result.reward is not None]
    values: dict[str, float] = {"failed": len(played) - len(scored), **_of_all(played)}
    if not scored:
        return values
    rewards = [float(rollout.result.reward or 0.0) for rollout in scored]
    groups = [[rollout.result.reward or 0.0 for rollout in group] for group in groups_of(scored)]
    values |= {
        "reward": _mean(rewards),
        "turns": _mean([rollout.result.turns for rollout in scored]),
        "response_length": _mean([rollout.sampled for rollout in scored]),
        "all_correct": _mean([float(min(group) >= 1) for group in groups]),
        "all_wrong": _mean([float(max(group) <= 0) for group in groups]),
        "malformed_calls": _mean([rollout.malformed_calls for rollout in scored]),
        "changed_histories": _mean([rollout.changed_histories for rollout in scored]),
        "truncated": _mean([float(rollout.truncated) for rollout in scored]),
        **_of_calls([rollout.result.facts for rollout in scored]),
    }
    for name in sorted({name for rollout in scored for name in rollout.result.metrics}):
        given = [rollout.result.metrics[name] for rollout in scored if name in rollout.result.metrics]
        values[f"engine/{name}"] = _mean(given)
    return values


@dataclass(frozen=True)
class IntermediateRewards:
    """What is added to a reward before GRPO learns from it: nothing, but in an experiment."""

    format: float = 0.0
    """For a rollout whose calls were all well formed."""
    tools: float = 0.0
    """For one that called the tools of all gold actions; in proportion for fewer."""

    def of(self, rollout: PlayedRollout) -> float | None:
        """The reward that is learned from; None for a rollout that says nothing about the model."""
        reward = rollout.result.reward
        if reward is None:
            return None
        well_formed = rollout.malformed_calls == 0
        return reward + self.format * well_formed + self.tools * (rollout.result.facts.matched_tools or 0.0)


def task_of(request: RolloutRequest) -> tuple[str, str]:
    """What tells a task from all others: its domain, where the request names it, and its id."""
    return request.settings.domain if request.settings else "", request.task


def groups_of(played: Sequence[PlayedRollout]) -> list[list[PlayedRollout]]:
    """The groups that rollouts were played in: those of one task, and of one of its groups where it has several."""
    groups: dict[tuple[tuple[str, str], int], list[PlayedRollout]] = {}
    for rollout in played:
        groups.setdefault((task_of(rollout.request), rollout.request.group), []).append(rollout)
    return list(groups.values())


def is_dead(group: Sequence[PlayedRollout]) -> bool:
    """Whether a group holds no difference, and so no gradient: all right, all wrong, or at most one that counts."""
    return len({rollout.result.reward for rollout in group if rollout.result.reward is not None}) < 2


def _of_all(played: Sequence[PlayedRollout]) -> dict[str, float]:
    """Shares that broke or stalled, the slowest rollout, and the tokens of a model in the user's seat."""
    if not played:
        return {}
    failures = [rollout.result.failure for rollout in played]
    values = {
        "simulator_failed": _mean([float(failure is not None and failure.who == "simulator") for failure in failures]),
        "stalled": _mean([float(failure is not None and failure.code == "timeout") for failure in failures]),
        "slowest_rollout_seconds": max(rollout.seconds for rollout in played),
    }
    facts = [rollout.result.facts for rollout in played]
    used = {
        "user_input_tokens": sum(each.user_input_tokens or 0.0 for each in facts),
        "user_output_tokens": sum(each.user_output_tokens or 0.0 for each in facts),
    }
    return values | (used if any(used.values()) else {})


def _of_calls(facts: Sequence[RolloutFacts]) -> dict[str, float]:
    """Means of what the engine says of the agent's calls and of how far the tasks were done."""
    calls = [each.calls for each in facts if each.calls is not None]
    values = {
        f"calls/{tool}": _mean([each.get(tool, 0.0) for each in calls])
        for tool in sorted({tool for each in calls for tool in each})
    }
    repeats = [each.longest_repeat for each in facts if each.longest_repeat is not None]
    if repeats:
        values |= {"longest_repeat": max(repeats), "looping": _mean([float(each >= LOOP) for each in repeats])}
    for name, given in (
        ("generic_calls", [each.generic_calls for each in facts]),
        ("handoff", [each.handed_off for each in facts]),
        ("completion", [each.completion for each in facts]),
    ):
        measured = [each for each in given if each is not None]
        if measured:
            values[name] = _mean(measured)
    return values


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
