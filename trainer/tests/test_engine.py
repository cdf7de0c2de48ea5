from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import SCRIPTED_ENGINE, TESTS
from waiting import LIMIT_S, until

from rehearsal_trainer.rollouts import engine as engine_module
from rehearsal_trainer.rollouts.engine import Engine, running
from rehearsal_trainer.settings.rollout_keys import ENGINE
from rehearsal_trainer.values.failures import EngineError

HELLO = """import sys, json
for line in sys.stdin:
 r=json.loads(line)
 print(json.dumps({"id":r["id"],"result":%s}),flush=True)
"""


def engine(command: Sequence[str], visit: Any = None, cwd: str = TESTS) -> Any:
    async def run() -> Any:
        async with running(command, cwd) as opened:
            return await visit(opened) if visit else None

    return asyncio.run(run())


def test_tasks_and_a_rollout(tmp_path: Path) -> None:
    async def visit(opened: Engine) -> Any:
        tasks = await opened.tasks("parcels", "train")
        params = {"domain": "parcels", "task": tasks[0]["id"], "agent": "gold", "trial": 0, "basis": "train"}
        recording = str(tmp_path / "deep" / "x.traj.jsonl")
        return tasks, await opened.rollout({**params, "recording": recording}, LIMIT_S)

    tasks, result = engine(SCRIPTED_ENGINE, visit)
    assert [task["id"] for task in tasks] == ["move-0", "move-1", "move-2", "move-3"]
    assert (result.reward, result.turns, result.failure) == (1.0, 3, None)
    assert Path(result.recording).exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program-anywhere"], "was not found: no-such-program-anywhere"),
        ([sys.executable, "missing.mjs"], "missing.mjs is not in"),
        ([sys.executable, "-c", "raise SystemExit('no licence')"], "no licence"),
        (
            [sys.executable, "-c", HELLO % '{"protocol":2}'],
            "does not speak version 1 of the protocol.*the same version of Rehearsal",
        ),
        ([sys.executable, "-c", "print('hello world')"], "the engine ended with code 0"),
    ],
)
def test_an_engine_that_cannot_be_used_gives_one_message(command: list[str], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        engine(command)


def test_a_missing_node_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REHEARSAL_NODE", "/nowhere/node")
    with pytest.raises(EngineError, match="install Node 24, or set REHEARSAL_NODE"):
        engine(["node", "dist/rehearsal.mjs"])


def test_the_default_engine_is_the_command_that_npm_installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"not found: rehearsal \(run `npm install --global rehearsal`"):
        engine(ENGINE)
    program = tmp_path / "rehearsal"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" scripted_engine.py "$@"\n')
    program.chmod(0o755)
    assert engine(ENGINE, lambda opened: opened.tasks("parcels", "train"))


def test_an_engine_that_hangs_is_an_infrastructure_failure() -> None:
    command = [sys.executable, "-c", HELLO.replace("print", 'r["method"]=="hello" and print') % '{"protocol":1}']
    result = engine(command, lambda opened: opened.rollout({}, 0.3))
    assert result.reward is None
    assert result.failure is not None and result.failure.who == "infrastructure"


def test_an_engine_that_dies_fails_what_is_open() -> None:
    code = HELLO % '{"protocol":1}' + ' if r["id"]==1: continue\n sys.exit(3)\n'
    command = [sys.executable, "-c", code.replace(" print(", ' r["id"]==1 and print(')]
    with pytest.raises(EngineError, match="ended with code 3"):
        engine(command, lambda opened: opened.rollout({}, LIMIT_S))


def test_an_engine_that_does_not_answer_gives_one_message_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    started = engine_module._started

    async def started_and_heard(*args: Any) -> Any:
        process = await started(*args)
        until("the engine writes to standard error", said.exists)
        return process

    monkeypatch.setattr(engine_module, "HELLO_S", 0.5)
    monkeypatch.setattr(engine_module, "_started", started_and_heard)
    code = "import sys; print('not licensed', file=sys.stderr, flush=True); open('said', 'w').close(); sys.stdin.read()"
    with pytest.raises(
        EngineError, match=r"did not answer hello within 0.5 s; engine_command must start(.|\n)*not licensed"
    ):
        engine([sys.executable, "-c", code], cwd=str(tmp_path))


def test_no_tasks_is_an_error() -> None:
    command = [sys.executable, "-c", HELLO.replace("%s", '([] if r["method"]=="tasks" else {"protocol":1})')]
    with pytest.raises(EngineError, match="no tasks in split 'test'"):
        engine(command, lambda opened: opened.tasks("x", "test"))


def test_a_line_that_is_too_long_ends_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehearsal_trainer.rollouts.engine.MAX_LINE", 2**16)
    code = HELLO % '{"protocol":1}' + ' if r["id"] == 1: print("x" * 2**18, flush=True)\n'
    with pytest.raises(EngineError, match=r"ended with code -9(.|\n)*a line of more than 65536 bytes"):
        engine([sys.executable, "-c", code], lambda opened: opened.rollout({}, LIMIT_S))
