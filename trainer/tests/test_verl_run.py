"""Tests a rollout worker without verl, with an engine and a gateway over a server of ids, and the files of a job."""

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
from test_verl_settings import config_of

from rehearsal_trainer.backends.verl.metrics import MetricsFile
from rehearsal_trainer.backends.verl.mirror import MARK, Mirror
from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan
from rehearsal_trainer.backends.verl.rollout_worker import ClusterRolloutWorker
from rehearsal_trainer.backends.verl.steps import Steps
from rehearsal_trainer.backends.verl.store import RolloutStore, Waiting
from rehearsal_trainer.chat.masks import Row, without_tail
from rehearsal_trainer.gateway.gateway import Gateway
from rehearsal_trainer.gateway.session import SessionRow
from rehearsal_trainer.rollouts.engine import Failure, RolloutFacts, RolloutResult
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, RolloutSettings
from rehearsal_trainer.rollouts.task_sets import TaskSet
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.settings.rollout_keys import DomainShare
from rehearsal_trainer.values.failures import ConfigurationError

TASKS = REPOSITORY / "domains" / "parcel-desk" / "tasks"


class Server:
    """The tiny model with the interface of verl's client: takes ids, and returns ids and log-probabilities."""

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


def plan_of(**changed: Any) -> RolloutPlan:
    node = os.environ.get("REHEARSAL_NODE") or (str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node"))
    assert node is not None and ENGINE.exists(), "the engine is not built: npm run build"
    values = {
        "model": "tiny",
        "domain": str(REPOSITORY / "domains" / "parcel-desk"),
        "engine_command": [node, str(ENGINE), "serve", "--stdio"],
        "engine_cwd": str(REPOSITORY),
        "max_tokens": 12,
        "turn_cap": 3,
        "prompt_tokens": 1600,
        "context": 4000,
        **changed,
    }
    return RolloutPlan.of(config_of(profile="trial", **values), None)


def request_of(worker: ClusterRolloutWorker, task: str, member: int = 0) -> RolloutRequest:
    settings = worker.plan.settings(is_evaluation=False)
    return RolloutRequest(task, member, f"seed/{task}/{member}", Sampling(1.0, 1.0, 12), settings)


def played_by(plan: RolloutPlan, server: Any, tokenizer: Any, visit: Any) -> Any:
    async def run() -> Any:
        worker = await ClusterRolloutWorker(plan, server, tokenizer).open()
        try:
            return await visit(worker)
        finally:
            await worker.close()

    return asyncio.run(run())


async def first_task(worker: ClusterRolloutWorker) -> str:
    engine = await worker.engine.engine()
    return str((await engine.tasks(worker.plan.domain, "train"))[0]["id"])


def test_an_engine_that_is_killed_is_started_again_and_its_rollouts_are_played_again(
    tiny_gateway: Gateway, tokenizer: Any
) -> None:
    killed: list[int] = []

    async def visit(worker: ClusterRolloutWorker) -> list[PlayedRollout]:
        task = await first_task(worker)

        engine = await worker.engine.engine()

        def kill_once() -> None:
            if not killed:
                killed.append(engine._process.pid)
                os.kill(engine._process.pid, signal.SIGKILL)

        server.before = kill_once
        return await asyncio.gather(*(worker.play(request_of(worker, task, member)) for member in range(3)))

    server = Server(tiny_gateway)
    played = played_by(plan_of(), server, tokenizer, visit)
    assert len(killed) == 1
    assert [rollout.request.member for rollout in played] == [0, 1, 2]
    assert all(rollout.result.reward is not None and len(rollout.rows) == 1 for rollout in played)


def test_a_worker_plays_no_more_rollouts_at_once_than_its_share_of_concurrency(
    tiny_gateway: Gateway, tokenizer: Any
) -> None:
    open_now = 0
    most = 0

    async def visit(worker: ClusterRolloutWorker) -> list[PlayedRollout]:
        play = worker.engine.play

        async def counted(gateway: Any, request: RolloutRequest) -> PlayedRollout:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            try:
                return await play(gateway, request)
            finally:
                open_now -= 1

        worker.engine.play = counted
        task = await first_task(worker)
        return await asyncio.gather(*(worker.play(request_of(worker, task, member)) for member in range(5)))

    plan = plan_of(concurrency=4, workers=2)
    played = played_by(plan, Server(tiny_gateway), tokenizer, visit)
    assert [rollout.request.member for rollout in played] == [0, 1, 2, 3, 4]
    assert (most, open_now) == (2, 0)


def test_a_row_never_outgrows_what_verl_has_room_for(tiny_gateway: Gateway, tokenizer: Any) -> None:
    async def visit(worker: ClusterRolloutWorker) -> list[PlayedRollout]:
        task = await first_task(worker)
        return [await worker.play(request_of(worker, task))]

    server = Server(tiny_gateway)
    [played] = played_by(plan_of(context=1640, turn_cap=30), server, tokenizer, visit)
    assert played.result.failure is not None and played.result.failure.who == "agent"
    [row] = played.rows
    assert 0 < len(without_tail(row.row).ids) - row.prompt_length <= 40
    assert server.longest <= row.prompt_length + 40


def test_a_policy_that_has_no_room_is_one_message(tiny_gateway: Gateway, tokenizer: Any) -> None:
    async def visit(worker: ClusterRolloutWorker) -> None:
        await worker.play(request_of(worker, await first_task(worker)))

    with pytest.raises(ConfigurationError, match=r"prompt_tokens: .* there is room for 16; raise prompt_tokens"):
        played_by(plan_of(prompt_tokens=16), Server(tiny_gateway), tokenizer, visit)


def rollout(task: str, member: int, reward: float, recording: str | None = "x") -> PlayedRollout:
    row = SessionRow(Row([], [0, 1, 1], []), finish_reasons=["stop"])
    request = RolloutRequest(task, member, "seed", Sampling(), RolloutSettings("parcel-desk"))
    facts = RolloutFacts(user_input_tokens=1000)
    result = RolloutResult(reward, "userStopped", 2, recording=recording, facts=facts)
    return PlayedRollout(request, result, [row], 0, 0, sampled=2)


def lost(task: str) -> PlayedRollout:
    """A rollout that says nothing about the model."""
    result = RolloutResult(None, "failed", 0, failure=Failure("simulator", "no answer"))
    return PlayedRollout(RolloutRequest(task, 0, "seed", Sampling(), RolloutSettings("parcel-desk")), result, [], 0, 0)


def test_a_rollout_that_is_played_again_takes_its_own_place(tmp_path: Path) -> None:
    store = RolloutStore(str(tmp_path), "desk")
    for reward, words in ((0.0, b"first\n"), (1.0, b"second\n")):
        store.take(7, False, rollout("one", 0, reward), words)
    store.take(7, False, rollout("one", 1, 0.0), b"other\n")
    store.take(7, True, rollout("two", 0, 1.0), None)
    assert [played.result.reward for played in store.finish(7, False)] == [1.0, 0.0]
    folder = tmp_path / "trajectories" / "step-000007"
    assert (folder / "one.0.traj.jsonl").read_bytes() == b"second\n"
    lines = [json.loads(line) for line in (folder / "rollouts.jsonl").read_text().splitlines()]
    assert [(line["member"], line["reward"], line["recording"]) for line in lines] == [
        (0, 1.0, "one.0.traj.jsonl"),
        (1, 0.0, "one.1.traj.jsonl"),
    ]
    assert store.finish(7, False) == []
    assert [played.request.task for played in store.finish(7, True)] == ["two"]
    assert (tmp_path / "trajectories" / "evaluate-000007" / "desk" / "rollouts.jsonl").exists()


def test_what_is_waited_for_is_counted_once(tmp_path: Path) -> None:
    now = [0.0]
    store = RolloutStore(str(tmp_path), "desk", lambda: now[0])
    store.begin(6, True, "one", 0)
    assert store.waiting() is None
    for member in (0, 1, 1, 2):  # a worker that died leaves one open, and another plays it again
        store.begin(7, False, "one", member)
    store.take(7, False, rollout("one", 0, 1.0), None)
    store.drop(7, False, "one", 2)
    now[0] = 700.0
    assert store.waiting() == Waiting(7, 1, 700.0)
    store.take(7, False, rollout("one", 1, 1.0), None)
    assert store.waiting() is None


def test_a_step_says_what_it_says_on_every_target(tmp_path: Path) -> None:
    config = config_of(run=str(tmp_path / "run"), alarms={"dead_groups": 1.0, "patience": 1, "idle_s": 60})
    share, settings = DomainShare("domains/desk"), RolloutSettings("domains/desk")
    desk = [TaskSet("desk", share, ["one", "two"], settings)]
    with RunFolder(config.run, "grpo", config) as run:
        run.watch(config.alarms, [])
        steps = Steps(run, desk, desk, config.alarms, {"input": 5.0})
        groups = [rollout(task, member, 0.0) for task in ("one", "two") for member in (0, 1)]
        values = steps.measured(1, groups, [rollout("three", 0, 1.0)])
        assert (values["dead_groups"], values["reward"], values["evaluate/reward"]) == (1, 0, 1)
        assert values["cost"] == pytest.approx(4 * 1000 * 5 / 1e6)
        assert 0 < values["evaluate/success_low"] < values["evaluate/success_high"] == 1
        run.metrics(1, values)
        assert steps.measured(2, [], [lost("three")]) == {}
        for waiting in (None, Waiting(2, 3, 59), Waiting(2, 3, 61), Waiting(2, 3, 62)):
            steps.watch(waiting)
    events = [json.loads(line) for line in (run.path / "events.jsonl").read_text().splitlines()]
    assert [event["type"] for event in events] == ["started", "evaluated", "alarm", "evaluated", "warning", "alarm"]
    assert (events[1]["domain"], events[1]["right"], events[3]["rollouts"]) == ("desk", 1, 0)
    assert [event["alarm"] for event in events if event["type"] == "alarm"] == ["dead-groups", "stalled-rollouts"]


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
