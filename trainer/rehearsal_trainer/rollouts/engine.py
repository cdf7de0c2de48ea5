"""Requests tasks and rollouts from the engine, a child process, in JSON lines. See docs/training-protocol.md.

Torch-free.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rehearsal_trainer import __version__
from rehearsal_trainer.processes.child_process import OWN_SESSION, engine_environment
from rehearsal_trainer.values.failures import EngineError
from rehearsal_trainer.values.messages import Json

PROTOCOL = 1
MAX_LINE = 64 * 2**20
HELLO_S = 60
"""Seconds that an engine has to start."""
_INSTALLATION = {
    "rehearsal": "run `npm install --global rehearsal`, or set engine_command",
    "node": "install Node 24, or set REHEARSAL_NODE to its path",
}
"""The next step for each program that starts the engine, if it is missing."""
_OTHER_ENGINE = "engine_command must start `rehearsal serve --stdio` of the version that this trainer belongs to"


@dataclass(frozen=True)
class Failure:
    """The failure of a rollout: `who` caused it, and a message."""

    who: str
    message: str
    code: str = ""


@dataclass(frozen=True)
class RolloutResult:
    """The engine's result of a rollout. A reward of None means that the rollout says nothing about the model."""

    reward: float | None
    end_reason: str
    turns: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    recording: str | None = None
    failure: Failure | None = None
    facts: RolloutFacts = field(default_factory=lambda: RolloutFacts())
    answers: Sequence[str] | None = None
    """The ids of the gateway's answers that the rollout used; None if the engine does not report them."""


@dataclass(frozen=True)
class RolloutFacts:
    """Facts about a rollout for metrics and alarms; a field that the engine does not report is absent (None)."""

    calls: Mapping[str, float] | None = None
    """The number of the agent's calls by tool; calls of tools that do not exist are counted as `unknown`."""
    generic_calls: float | None = None
    """The number of calls of generic tools: think, calculate, transfer to human."""
    longest_repeat: float | None = None
    """The length of the longest sequence of identical calls."""
    handed_off: float | None = None
    completion: float | None = None
    """The share of the task's declared checks that were met."""
    matched_tools: float | None = None
    """The share of the gold actions whose tool the agent called."""
    user_input_tokens: float | None = None
    user_output_tokens: float | None = None


class Engine:
    """A running engine. `running` creates it; all methods must be called in one event loop."""

    def __init__(self, process: asyncio.subprocess.Process, log: Callable[[str, str], None]) -> None:
        self._process = process
        self._log = log
        self._open: dict[int, asyncio.Future[Json]] = {}
        self._next = 1
        self._errors: deque[str] = deque(maxlen=20)
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._read_errors())]

    async def tasks(self, domain: str, split: str | None) -> list[dict[str, Json]]:
        """Returns the tasks of a domain's split, in the domain's order; EngineError if there are none."""
        found = await self.request("tasks", {"domain": domain, "split": split})
        if not isinstance(found, list) or not all(
            isinstance(task, dict) and isinstance(task.get("id"), str) for task in found
        ):
            raise EngineError(f"the engine answered 'tasks' without a list of tasks; {_OTHER_ENGINE}")
        if not found:
            raise EngineError(f"the domain {domain} has no tasks in split {split!r}", "unknown-split")
        return found

    async def rollout(self, params: Mapping[str, Json], timeout: float) -> RolloutResult:
        """Plays one rollout; no answer within `timeout` seconds is an infrastructure failure."""
        try:
            result = await asyncio.wait_for(self.request("rollout", params), timeout)
        except TimeoutError:
            message = f"the engine did not answer within {timeout:g} s"
            return RolloutResult(None, "infrastructureFailed", 0, failure=Failure("infrastructure", message, "timeout"))
        return _read_result(result)

    async def request(self, method: str, params: Mapping[str, Json]) -> Json:
        """Sends one request and waits for its answer; EngineError if the engine refuses or ends."""
        if self.has_ended or self._process.stdin is None:
            raise self.end()
        identity = self._next
        self._next += 1
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._open[identity] = future
        line = json.dumps({"id": identity, "method": method, "params": dict(params)}, ensure_ascii=False)
        try:
            self._process.stdin.write(line.encode() + b"\n")
            await self._process.stdin.drain()
            return await future
        except (BrokenPipeError, ConnectionResetError) as error:
            with contextlib.suppress(TimeoutError):  # its input closes shortly before the process ends
                await asyncio.wait_for(self._process.wait(), 10)
            raise self.end() from error
        except asyncio.CancelledError:
            if identity in self._open and method != "cancel":
                self._send_cancel(identity)
            raise
        finally:
            self._open.pop(identity, None)

    def _send_cancel(self, identity: int) -> None:
        if self._process.stdin is not None and not self._process.stdin.is_closing():
            line = {"id": self._next, "method": "cancel", "params": {"request": identity}}
            self._next += 1
            self._process.stdin.write(json.dumps(line).encode() + b"\n")

    async def close(self) -> None:
        """Closes the engine's input, and kills it if it does not end within ten seconds."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 10)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            async for line in stdout:
                self._take(line)
        except ValueError:  # a line beyond MAX_LINE: the lines after it can't be separated
            self._errors.append(f"it wrote a line of more than {MAX_LINE} bytes")
            self._process.kill()
        await self._process.wait()
        for future in self._open.values():
            if not future.done():
                future.set_exception(self.end())

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self._log("warn", f"the engine wrote a line that is not a message: {line[:200]!r}")
            return
        if message.get("method") == "log":
            params = message.get("params") or {}
            self._log(str(params.get("level", "info")), str(params.get("message", "")))
            return
        future = self._open.get(message.get("id", 0))
        if future is None or future.done():
            return
        error = message.get("error")
        if isinstance(error, dict):
            future.set_exception(EngineError(str(error.get("message")), str(error.get("code", "internal"))))
        else:
            future.set_result(message.get("result"))

    async def _read_errors(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        async for line in stderr:
            self._errors.append(line.decode(errors="replace").rstrip())

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, so that the engine can no longer be used."""
        return self._process.returncode is not None

    def end(self) -> EngineError:
        """Returns the error that reports the exit code and the end of standard error."""
        return EngineError(f"the engine ended with code {self._process.returncode}{self.last_words()}", "ended")

    def last_words(self) -> str:
        """Returns the end of standard error, to append to a message; empty if there is no output."""
        return ":\n" + "\n".join(self._errors) if self._errors else ""


@contextlib.asynccontextmanager
async def running(
    command: Sequence[str], cwd: str, log: Callable[[str, str], None] = lambda _level, _message: None
) -> AsyncIterator[Engine]:
    """Starts an engine and checks its protocol; EngineError if it cannot start or the protocol differs."""
    process = await _started(command, cwd)
    engine = Engine(process, log)
    try:
        try:
            hello = await asyncio.wait_for(
                engine.request("hello", {"protocol": PROTOCOL, "trainer": __version__}), HELLO_S
            )
        except TimeoutError as error:
            raise EngineError(
                f"{' '.join(command)} did not answer hello within {HELLO_S} s; {_OTHER_ENGINE}{engine.last_words()}"
            ) from error
        if not isinstance(hello, dict) or hello.get("protocol") != PROTOCOL:
            raise EngineError(
                f"the engine does not speak version {PROTOCOL} of the protocol: {hello!r}; use the engine and the "
                "trainer of the same version of Rehearsal",
                "unsupported-protocol",
            )
        yield engine
    finally:
        await engine.close()


async def _started(command: Sequence[str], cwd: str) -> asyncio.subprocess.Process:
    program, *arguments = command
    if program == "node":
        program = os.environ.get("REHEARSAL_NODE") or program
    found = shutil.which(program)
    if found is None:
        hint = _INSTALLATION.get(command[0], "check engine_command")
        raise EngineError(f"the engine's command was not found: {program} ({hint})", "missing")
    if not Path(cwd).is_dir():
        raise EngineError(f"engine_cwd is not a folder: {cwd}", "missing")
    script = next((argument for argument in arguments if argument.endswith((".mjs", ".js", ".py"))), None)
    if script is not None and not (Path(cwd) / script).exists():
        raise EngineError(f"the engine's program {script} is not in {cwd}; build it, or set engine_command", "missing")
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        found,
        *arguments,
        cwd=cwd,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        limit=MAX_LINE,
        env=engine_environment(),
        **OWN_SESSION,
    )


def _read_result(value: Json) -> RolloutResult:
    if not isinstance(value, dict) or "reward" not in value:
        raise EngineError(f"the engine answered 'rollout' without a reward: {str(value)[:200]}; {_OTHER_ENGINE}")
    failure = value.get("failure")
    blamed = (
        Failure(str(failure.get("who")), str(failure.get("message")), str(failure.get("code", "")))
        if isinstance(failure, dict)
        else None
    )
    return RolloutResult(
        reward=None if value["reward"] is None else float(value["reward"]),
        end_reason=str(value.get("end_reason", "")),
        turns=int(value.get("turns") or 0),
        metrics=_numbers(value.get("metrics")),
        recording=value.get("recording"),
        failure=blamed,
        facts=_facts_of(value),
        answers=[str(each) for each in value["answers"]] if isinstance(value.get("answers"), list) else None,
    )


def _facts_of(value: dict[str, Json]) -> RolloutFacts:
    tokens = _numbers(value.get("user_tokens"))
    counts = _numbers(
        {name: value.get(name) for name in ("generic_calls", "longest_repeat", "completion", "matched_tools")}
    )
    handed_off = value.get("handed_off")
    return RolloutFacts(
        calls=_numbers(value["calls"]) if isinstance(value.get("calls"), dict) else None,
        generic_calls=counts.get("generic_calls"),
        longest_repeat=counts.get("longest_repeat"),
        handed_off=float(handed_off) if isinstance(handed_off, bool) else None,
        completion=counts.get("completion"),
        matched_tools=counts.get("matched_tools"),
        user_input_tokens=tokens.get("input"),
        user_output_tokens=tokens.get("output"),
    )


def _numbers(values: Json) -> dict[str, float]:
    """Returns the numbers of an object, without its other values."""
    if not isinstance(values, dict):
        return {}
    return {k: float(v) for k, v in values.items() if isinstance(v, int | float) and not isinstance(v, bool)}
