"""Plays rollouts next to each of verl's workers, with one engine and one gateway over verl's model servers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan, node_of_wheel
from rehearsal_trainer.backends.verl.served_model import ServedModel
from rehearsal_trainer.chat.chat import Chat, template_options
from rehearsal_trainer.gateway.gateway import Gateway
from rehearsal_trainer.models.loading import stop_ids_of
from rehearsal_trainer.rollouts.restarting_engine import RestartingEngine
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.failures import ConfigurationError

FAILURES = 3
"""The number of attempts at a rollout that fails for a reason that says nothing about the model."""


def plan_in(values: Any) -> RolloutPlan:
    """Returns the plan that verl's configuration holds."""
    from omegaconf import OmegaConf

    return RolloutPlan(**OmegaConf.to_container(values, resolve=True))  # pyright: ignore


class ClusterRolloutWorker:
    """A gateway, and an engine that is restarted when it has ended."""

    def __init__(self, plan: RolloutPlan, server: Any, tokenizer: Any) -> None:
        self.plan = plan
        options, stop_ids = template_options(plan.thinking), stop_ids_of(plan.model, tokenizer)
        chat = Chat.of(tokenizer, stop_ids, plan.dialect, options, plan.exact_history)
        self.model = ServedModel(server, chat.stop_ids, plan.prompt_tokens, plan.response_tokens, self._began)
        context = plan.prompt_tokens + plan.response_tokens
        sampling = Sampling(max_tokens=plan.max_tokens)
        self.gateway = Gateway(self.model, chat, plan.model, sampling, context)
        self.recordings = Path(tempfile.mkdtemp(prefix="rehearsal-recordings-"))
        self._served = contextlib.AsyncExitStack()
        self._free = asyncio.Semaphore(plan.rollouts_at_once)
        os.environ.setdefault("REHEARSAL_NODE", node_of_wheel())
        self.engine = RestartingEngine(plan.engine_command, plan.engine_cwd, lambda _level, words: say(words))

    async def open(self) -> Self:
        """Serves the gateway; the engine starts with the first rollout."""
        await self._served.enter_async_context(self.gateway.serving())
        return self

    async def close(self) -> None:
        """Ends the engine and the server, and removes the recordings."""
        await self.engine.close()
        await self._served.aclose()
        shutil.rmtree(self.recordings, ignore_errors=True)

    async def play(self, request: RolloutRequest) -> PlayedRollout:
        """Plays a rollout, and repeats it if it fails for a reason that says nothing about the model."""
        recording = self.recordings / f"{request.seed.replace('/', '.')}{run_files.RECORDING}"
        request = replace(request, recording=str(recording))
        for attempt in range(1, FAILURES + 1):
            async with self._free:
                played = await self.engine.play(self.gateway, request)
            if self.model.too_long:
                raise ConfigurationError(self.model.too_long)
            if played.result.reward is not None or attempt == FAILURES:
                return played
            failure = played.result.failure
            say(f"{request.task}: {failure.message if failure else played.result.end_reason}; it is played again")
        raise AssertionError("the last attempt returns or raises")

    def _began(self, session: str) -> int:
        return self.gateway.sessions[session].rows[-1].prompt_length


_rollout_workers: dict[asyncio.AbstractEventLoop, asyncio.Task[ClusterRolloutWorker]] = {}


async def rollout_worker_here(plan: RolloutPlan, server: Any, tokenizer: Any) -> ClusterRolloutWorker:
    """Returns the rollout worker of this process; the first call creates it."""
    loop = asyncio.get_running_loop()
    if loop not in _rollout_workers:
        _rollout_workers[loop] = loop.create_task(ClusterRolloutWorker(plan, server, tokenizer).open())
    return await _rollout_workers[loop]


def say(words: str) -> None:
    """Writes a line to the log of the worker."""
    print(f"rehearsal: {words}", file=sys.stderr, flush=True)
