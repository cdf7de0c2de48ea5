"""A rollout worker without verl: an engine and a gateway over a server of ids; and what a job keeps and tells."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import ENGINE, OWN_NODE, REPOSITORY
from test_verl_plan import config_of

from rehearsal_trainer.backends.verl.metrics import MetricsFile
from rehearsal_trainer.backends.verl.mirror import MARK, Mirror
from rehearsal_trainer.backends.verl.plan import station_of
from rehearsal_trainer.backends.verl.station import Station, StationPlan
from rehearsal_trainer.backends.verl.store import RolloutStore
from rehearsal_trainer.engine import RolloutResult
from rehearsal_trainer.failures import ConfigurationError
from rehearsal_trainer.gateway import Gateway
from rehearsal_trainer.masks import Row, without_tail
from rehearsal_trainer.rollouts import PlayedRollout, RolloutRequest
from rehearsal_trainer.session import Sampling, SessionRow

TASKS = REPOSITORY / "domains" / "parcel-desk" / "tasks"


class Server:
    """The tiny model as verl's client gives it: ids in, ids and log-probabilities out."""

    config = None

    def __init__(self, gateway: Gateway, before: Callable[[], None] = lambda: None) -> None:
        self.generator = gateway.generator
        self.before = before
        self.longest = 0

    async def generate(self, request_id: str, prompt_ids: list[int], sampling_params: dict[str, Any]) -> Any:
        self.before()
        sampling = Sampling(sampling_params["temperature"], 1.0, sampling_params["max_tokens"])
        done = await asyncio.wrap_future(self.generator.submit(request_id, prompt_ids, sampling, 1))
        self.longest = max(self.longest, len(prompt_ids) + len(done.ids))
        return SimpleNamespace(
            token_ids=done.ids, log_probs=done.logprobs, stop_reason="completed", extra_fields={"min_global_steps": 3}
        )


def plan_of(**changed: Any) -> StationPlan:
    node = os.environ.get("REHEARSAL_NODE") or (str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node"))
    assert node is not None and ENGINE.exists(), "the engine is not built: npm run build"
    values = {
        "domain": str(REPOSITORY / "domains" / "parcel-desk"),
        "engine_command": [node, str(ENGINE), "serve", "--stdio"],
        "engine_cwd": str(REPOSITORY),
        "max_tokens": 12,
        "turn_cap": 3,
        "prompt_tokens": 1600,
        "context": 4000,
        **changed,
    }
    return StationPlan(**station_of(config_of(profile="trial", **values), None))


def request_of(task: str, member: int = 0) -> RolloutRequest:
    return RolloutRequest(task, member, f"seed/{task}/{member}", Sampling(1.0, 1.0, 12))


def played_by(plan: StationPlan, server: Any, tokenizer: Any, visit: Any) -> Any:
    async def run() -> Any:
        station = await Station(plan, server, tokenizer).open()
        try:
            return await visit(station)
        finally:
            await station.close()

    return asyncio.run(run())


async def first_task(station: Station) -> str:
    engine = await station._running(None)
    return str((await engine.tasks(station.plan.domain, "train"))[0]["id"])


def test_an_engine_that_is_killed_is_started_again_and_its_rollouts_are_played_again(
    tiny_gateway: Gateway, tokenizer: Any
) -> None:
    killed: list[int] = []

    async def visit(station: Station) -> list[PlayedRollout]:
        task = await first_task(station)

        def kill_once() -> None:
            engine = station._engine
            if not killed and engine is not None:
                killed.append(engine._process.pid)
                os.kill(engine._process.pid, signal.SIGKILL)

        server.before = kill_once
        return await asyncio.gather(*(station.play(request_of(task, member), False) for member in range(3)))

    server = Server(tiny_gateway)
    played = played_by(plan_of(), server, tokenizer, visit)
    assert len(killed) == 1
    assert [rollout.request.member for rollout in played] == [0, 1, 2]
    assert all(rollout.result.reward is not None and len(rollout.rows) == 1 for rollout in played)


def test_a_row_never_outgrows_what_verl_has_room_for(tiny_gateway: Gateway, tokenizer: Any) -> None:
    async def visit(station: Station) -> list[PlayedRollout]:
        task = await first_task(station)
        return [await station.play(request_of(task), False)]

    server = Server(tiny_gateway)
    [played] = played_by(plan_of(context=1640, turn_cap=30), server, tokenizer, visit)
    assert played.result.failure is not None and played.result.failure.who == "agent"
    [row] = played.rows
    assert 0 < len(without_tail(row.row).ids) - row.prompt_length <= 40
    assert server.longest <= row.prompt_length + 40


def test_a_policy_that_has_no_room_is_one_message(tiny_gateway: Gateway, tokenizer: Any) -> None:
    async def visit(station: Station) -> None:
        await station.play(request_of(await first_task(station)), False)

    with pytest.raises(ConfigurationError, match=r"prompt_tokens: .* there is room for 16; raise prompt_tokens"):
        played_by(plan_of(prompt_tokens=16), Server(tiny_gateway), tokenizer, visit)


def rollout(task: str, member: int, reward: float, recording: str | None = "x") -> PlayedRollout:
    row = SessionRow(Row([], [0, 1, 1], []), finish_reasons=["stop"])
    request = RolloutRequest(task, member, "seed", Sampling())
    return PlayedRollout(request, RolloutResult(reward, "userStopped", 2, recording=recording), [row], 0, 0, sampled=2)


def test_a_rollout_that_is_played_again_takes_its_own_place(tmp_path: Path) -> None:
    store = RolloutStore(str(tmp_path))
    for reward, words in ((0.0, b"first\n"), (1.0, b"second\n")):
        store.take(7, False, rollout("one", 0, reward), words)
    store.take(7, False, rollout("one", 1, 0.0), b"other\n")
    store.take(7, True, rollout("two", 0, 1.0), None)
    measured = store.finish(7, False)
    assert (measured["reward"], measured["failed"], measured["response_length"]) == (0.5, 0, 2)
    folder = tmp_path / "trajectories" / "step-000007"
    assert (folder / "one.0.traj.jsonl").read_bytes() == b"second\n"
    lines = [json.loads(line) for line in (folder / "rollouts.jsonl").read_text().splitlines()]
    assert [(line["member"], line["reward"], line["recording"]) for line in lines] == [
        (0, 1.0, "one.0.traj.jsonl"),
        (1, 0.0, "one.1.traj.jsonl"),
    ]
    assert store.finish(7, False) == {}
    assert store.finish(7, True)["reward"] == 1


def told(mirror: Mirror) -> list[tuple[str, int, str]]:
    pieces = [json.loads(line.removeprefix(MARK)) for line in mirror.lines()]
    return [(p["path"], p["offset"], gzip.decompress(base64.b64decode(p["data"])).decode()) for p in pieces]


def test_a_folder_is_told_once_and_what_is_written_anew_from_its_start(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    (tmp_path / "metrics.jsonl").write_text("one\n")
    (tmp_path / "pid").write_text("1")
    recording = tmp_path / "trajectories" / "step-000001" / "a.0.traj.jsonl"
    recording.parent.mkdir(parents=True)
    recording.write_text("first\n")
    name = recording.relative_to(tmp_path).as_posix()
    assert told(mirror) == [("metrics.jsonl", 0, "one\n"), (name, 0, "first\n")]
    assert told(mirror) == []
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write("two\n")
    again = recording.with_suffix(".part")
    again.write_text("another that is longer\n")
    again.replace(recording)
    assert told(mirror) == [("metrics.jsonl", 4, "two\n"), (name, 0, "another that is longer\n")]


def test_a_line_of_metrics_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "verl.jsonl"
    metrics = MetricsFile(path)
    assert list(metrics.fresh()) == []
    line = json.dumps({"step": 1, "data": {"actor/kl_loss": 0.5, "critic/rewards/mean": 1, "perf/mfu": 2, "text": "x"}})
    path.write_text(line[:20])
    assert list(metrics.fresh()) == []
    path.write_text(line + "\n")
    assert list(metrics.fresh()) == [(1, {"kl": 0.5, "reward": 1.0, "verl/perf/mfu": 2.0})]
    assert list(metrics.fresh()) == []
