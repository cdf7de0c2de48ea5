"""What stands beside every rollout worker: one engine, and one gateway over verl's model servers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from rehearsal_trainer.backends.verl.node import node_of_wheel
from rehearsal_trainer.backends.verl.served_model import ServedModel
from rehearsal_trainer.chat import Chat
from rehearsal_trainer.dialect import dialect_named
from rehearsal_trainer.engine import Engine, EngineError, running
from rehearsal_trainer.failures import ConfigurationError, TrainingError
from rehearsal_trainer.gateway import Gateway
from rehearsal_trainer.rollouts import PlayedRollout, RolloutRequest, RolloutSettings, play_rollout
from rehearsal_trainer.session import Sampling

ATTEMPTS = 3
"""How often a rollout is begun that ends in a failure which says nothing about the model."""


@dataclass(frozen=True)
class StationPlan:
    """What all rollouts of a run share, as it travels in verl's configuration."""

    domain: str
    engine_command: list[str]
    engine_cwd: str
    dialect: str
    user: Any
    evaluate_user: Any
    basis: str
    evaluate_basis: str
    turn_cap: int | None
    max_tokens: int
    prompt_tokens: int
    response_tokens: int
    rollout_timeout_s: float
    seed: int
    agent: str | None = None
    store: str | None = None
    """The name of the actor that keeps what was played; without one nothing is kept."""

    @classmethod
    def of(cls, values: Any) -> Self:
        """Out of verl's configuration."""
        from omegaconf import OmegaConf

        return cls(**OmegaConf.to_container(values, resolve=True))  # pyright: ignore

    def settings(self, is_evaluation: bool) -> RolloutSettings:
        """Those of a rollout in training, or in evaluation."""
        user = self.evaluate_user if is_evaluation else self.user
        basis = self.evaluate_basis if is_evaluation else self.basis
        return RolloutSettings(self.domain, user, basis, self.turn_cap, self.rollout_timeout_s, agent=self.agent)


class Station:
    """A gateway and an engine that is started again when it is gone."""

    def __init__(self, plan: StationPlan, server: Any, tokenizer: Any) -> None:
        self.plan = plan
        chat = Chat(tokenizer, dialect_named(plan.dialect))
        self.model = ServedModel(server, chat.end_id, plan.prompt_tokens, plan.response_tokens, self._began)
        context = plan.prompt_tokens + plan.response_tokens
        sampling = Sampling(max_tokens=plan.max_tokens)
        self.gateway = Gateway(self.model, chat, "policy", sampling, context)
        self.recordings = Path(tempfile.mkdtemp(prefix="rehearsal-recordings-"))
        self._served = contextlib.AsyncExitStack()
        self._engines = contextlib.AsyncExitStack()
        self._engine: Engine | None = None
        self._starting = asyncio.Lock()

    async def open(self) -> Self:
        """Serves the gateway; the engine starts with the first rollout."""
        await self._served.enter_async_context(self.gateway.serving())
        return self

    async def close(self) -> None:
        """Ends the engine and the server."""
        await self._engines.aclose()
        await self._served.aclose()

    async def play(self, request: RolloutRequest, is_evaluation: bool) -> PlayedRollout:
        """Plays a rollout, again where it failed for a reason that says nothing about the model."""
        settings = self.plan.settings(is_evaluation)
        request = replace(request, recording=str(self.recordings / f"{request.seed.replace('/', '.')}.traj.jsonl"))
        for attempt in range(1, ATTEMPTS + 1):
            engine = await self._running(None)
            try:
                played = await play_rollout(self.gateway, engine, settings, request)
            except TrainingError as error:
                cause = error.__cause__
                if attempt == ATTEMPTS or not (isinstance(cause, EngineError) and cause.code == "ended"):
                    raise
                say(f"{request.task}: the engine ended; it is started again")
                await self._running(engine)
                continue
            if self.model.too_long:
                raise ConfigurationError(self.model.too_long)
            if played.result.reward is not None or attempt == ATTEMPTS:
                return played
            failure = played.result.failure
            say(f"{request.task}: {failure.message if failure else played.result.end_reason}; it is played again")
        raise AssertionError("the last attempt returns or raises")

    def _began(self, session: str) -> int:
        return self.gateway.sessions[session].rows[-1].prompt_length

    async def _running(self, ended: Engine | None) -> Engine:
        """The engine, started where there is none or where it is the one that ended."""
        async with self._starting:
            if self._engine is None or self._engine is ended:
                await self._engines.aclose()
                os.environ.setdefault("REHEARSAL_NODE", node_of_wheel())
                started = running(self.plan.engine_command, self.plan.engine_cwd, lambda _level, words: say(words))
                self._engine = await self._engines.enter_async_context(started)
            return self._engine


_stations: dict[asyncio.AbstractEventLoop, asyncio.Task[Station]] = {}


async def station_here(plan: StationPlan, server: Any, tokenizer: Any) -> Station:
    """The station of this process, made with the first rollout that it plays."""
    loop = asyncio.get_running_loop()
    if loop not in _stations:
        _stations[loop] = loop.create_task(Station(plan, server, tokenizer).open())
    return await _stations[loop]


def say(words: str) -> None:
    """For the log of the worker."""
    print(f"rehearsal: {words}", file=sys.stderr, flush=True)
