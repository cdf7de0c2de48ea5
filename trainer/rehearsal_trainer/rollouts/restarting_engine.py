"""Restarts an engine that has ended, and repeats the rollouts that it was playing. Torch-free."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from rehearsal_trainer.rollouts.engine import Engine, running
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, play_rollout
from rehearsal_trainer.values.failures import EngineError, TrainingError

ENDS = 3
"""The number of times the engine may end during one rollout before the rollout is considered the cause."""


class RestartingEngine:
    """Starts an engine on first use; all methods must be called in one event loop."""

    def __init__(self, command: Sequence[str], cwd: str, log: Callable[[str, str], None]) -> None:
        self._command, self._cwd, self._log = command, cwd, log
        self._stack = contextlib.AsyncExitStack()
        self._engine: Engine | None = None
        self._starting = asyncio.Lock()
        self._is_closed = False

    async def engine(self) -> Engine:
        """Returns the running engine, and starts one if none is running. EngineError if it can't be started."""
        async with self._starting:
            ended = self._engine
            if self._is_closed:
                raise EngineError("the engine was closed", "cancelled")
            if ended is None or ended.has_ended:
                await self._stack.aclose()
                self._engine = await self._stack.enter_async_context(running(self._command, self._cwd, self._log))
                if ended is not None:
                    self._log("warn", f"{ended.end()}. It was started again; what it was playing is played again")
            assert self._engine is not None
            return self._engine

    async def play(self, gateway: Any, request: RolloutRequest) -> PlayedRollout:
        """Plays one rollout, and restarts it from the beginning if the engine ends meanwhile."""
        for attempt in range(1, ENDS + 1):
            engine = await self.engine()
            try:
                return await play_rollout(gateway, engine, request)
            except TrainingError:
                if attempt == ENDS or not engine.has_ended:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        """Ends the engine, which is not restarted afterwards."""
        self._is_closed = True
        await self._stack.aclose()
