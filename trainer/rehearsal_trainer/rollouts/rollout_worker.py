"""Plays many rollouts at once, for a trainer or an evaluation that waits for them. Torch-free."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rehearsal_trainer.processes.devices import release_threads
from rehearsal_trainer.rollouts.restarting_engine import RestartingEngine
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest
from rehearsal_trainer.values.messages import Json

if TYPE_CHECKING:
    from rehearsal_trainer.gateway.gateway import Gateway
    from rehearsal_trainer.sampler.answers import Sampler

Result = TypeVar("Result")


@dataclass(frozen=True)
class Idle:
    """A notification about stalled rollouts: `say` receives the number of open ones if none ended for `seconds`."""

    seconds: float
    say: Callable[[int], None]


class RolloutWorker:
    """A running gateway and a restarting engine with their own event loop, for a synchronous caller.

    A trainer calls it from its own thread and waits, so it does not run at the same time as the optimizer.
    `concurrency` is the number of rollouts that are open at once.
    """

    def __init__(
        self,
        gateway: Gateway[Sampler],
        command: Sequence[str],
        cwd: str,
        log: Callable[[str, str], None],
        concurrency: int,
    ) -> None:
        self.gateway = gateway
        self._concurrency = concurrency
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rollouts", daemon=True)
        self._thread.start()
        self._stack = contextlib.AsyncExitStack()
        self._engine = RestartingEngine(command, cwd, log)
        try:
            self._wait(self._start())
        except BaseException:
            self.close()
            raise

    @classmethod
    def of(cls, config: Any, gateway: Gateway[Sampler], log: Callable[[str, str], None]) -> Self:
        """Returns the worker of a command's configuration, over its gateway."""
        return cls(gateway, config.engine_command, config.engine_cwd, log, config.concurrency)

    def tasks(self, domain: str, split: str | None) -> list[dict[str, Json]]:
        """Returns the tasks of a domain's split."""
        return self._wait(self._tasks(domain, split))

    def play(
        self,
        requests: Sequence[RolloutRequest],
        each: Callable[[PlayedRollout], None] | None = None,
        idle: Idle | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[PlayedRollout]:
        """Plays all requests, and returns the results in the order of the requests.

        Once `should_stop` returns True, no more rollouts begin, and the result leaves out those that have not begun.
        """
        release_threads()  # this thread does not compute while it waits
        return self._wait(self._play(requests, each, idle, should_stop))

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

    async def _start(self) -> None:
        await self._stack.enter_async_context(self.gateway.serving())
        self._stack.push_async_callback(self._engine.close)
        await self._engine.engine()

    async def _tasks(self, domain: str, split: str | None) -> list[dict[str, Json]]:
        return await (await self._engine.engine()).tasks(domain, split)

    async def _play(
        self,
        requests: Sequence[RolloutRequest],
        each: Callable[[PlayedRollout], None] | None,
        idle: Idle | None,
        should_stop: Callable[[], bool],
    ) -> list[PlayedRollout]:
        free = asyncio.Semaphore(self._concurrency)
        left = len(requests)
        ended = asyncio.Event()

        async def watch(idle: Idle) -> None:
            while True:
                ended.clear()
                try:
                    await asyncio.wait_for(ended.wait(), idle.seconds)
                except TimeoutError:
                    idle.say(min(left, self._concurrency))
                    return

        async def one(request: RolloutRequest) -> PlayedRollout | None:
            async with free:
                if should_stop():
                    return None
                played = await self._engine.play(self.gateway, request)
            nonlocal left
            left -= 1
            ended.set()
            if each is not None:
                each(played)
            return played

        tasks = [asyncio.create_task(one(request)) for request in requests]
        watching = asyncio.create_task(watch(idle)) if idle else None
        try:
            played = await asyncio.gather(*tasks)
            return [rollout for rollout in played if rollout is not None]
        finally:
            for task in tasks:  # if one has failed, the others do not have to finish
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if watching:
                watching.cancel()
