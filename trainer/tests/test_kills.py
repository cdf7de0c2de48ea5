"""A trainer or an engine that is killed at a random moment: nothing that was finished is lost, nothing counts twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ENGINE, REPOSITORY, node_of

from rehearsal_trainer.lines import read_lines

SEED = int(os.environ.get("REHEARSAL_SEED", "1"))
STEPS, TASKS, GROUP = 4, 2, 2

TINY_RUN = {
    "domain": str(REPOSITORY / "domains" / "parcel-desk"), "model": "tiny", "profile": "trial",
    "engine_command": [node_of(), str(ENGINE), "serve", "--stdio"], "engine_cwd": str(REPOSITORY), "turn_cap": 2,
    "max_tokens": 8,
}  # fmt: skip
GRPO = {
    "steps": STEPS, "tasks_per_step": TASKS, "group_size": GROUP, "micro_batch": 2, "save_every": 1,
    "evaluate_every": 0,
}  # fmt: skip


def started(run: Path, resume: bool, kind: str = "grpo", own: dict[str, Any] = GRPO) -> subprocess.Popen[bytes]:
    run.parent.mkdir(parents=True, exist_ok=True)
    path = run.parent / f"{run.name}.json"
    path.write_text(json.dumps({**TINY_RUN, "run": str(run), **own}))
    command = [sys.executable, "-m", "rehearsal_trainer", kind, "--config", str(path)]
    with (run.parent / f"{run.name}.log").open("ab") as log:
        return subprocess.Popen(
            command + (["--resume"] if resume else []), cwd=REPOSITORY / "trainer", stdout=log, stderr=log,
            process_group=0,
        )  # fmt: skip


def until(what: str, holds: Any, process: subprocess.Popen[bytes]) -> None:
    for _ in range(1200):
        if holds():
            return
        assert process.poll() is None, f"the trainer ended before {what}"
        time.sleep(0.1)
    raise AssertionError(f"{what} did not come")


def engines_of(pid: int) -> list[int]:
    """The engines that a trainer has started."""
    said = subprocess.run(["pgrep", "-P", str(pid), "-f", "serve --stdio"], capture_output=True, text=True).stdout
    return [int(each) for each in said.split()]


def expect_gone(pids: list[int]) -> None:
    """An engine ends with the trainer that started it."""
    for _ in range(300):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return
        time.sleep(0.1)
    raise AssertionError(f"the engines {pids} outlive their trainer")


def expect_whole(run: Path) -> None:
    """Every optimizer step counts once, by its last attempt, with the recordings of that attempt and no others."""
    assert read_lines(run / "events.jsonl")[-1]["type"] == "finished"
    latest = {
        line["step"]: line for line in sorted(read_lines(run / "metrics.jsonl"), key=lambda line: line["attempt"])
    }
    assert sorted(latest) == list(range(1, STEPS + 1))
    for step in latest:
        folder = run / "trajectories" / f"step-{step:06d}"
        played = read_lines(folder / "rollouts.jsonl")
        assert len(played) == TASKS * GROUP
        assert {line["recording"] for line in played} == {path.name for path in folder.glob("*.traj.jsonl")}
    assert (run / "checkpoints" / "final").is_dir()


def test_a_trainer_that_is_killed_at_random_moments_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    run, draw = tmp_path / "run", random.Random(SEED)
    process = started(run, resume=False)
    outlived = 0
    for kill in range(2):
        before = len(read_lines(run / "metrics.jsonl"))
        until(f"step {before + 1}", lambda before=before: len(read_lines(run / "metrics.jsonl")) > before, process)
        delay = draw.uniform(0, 3)
        print(f"kill {kill + 1}: {delay:.2f} s after {before + 1} measured steps")
        time.sleep(delay)
        engines = engines_of(process.pid)  # none before they are started, and at the run's end
        outlived += len(engines)
        process.send_signal(signal.SIGKILL)
        process.wait()
        expect_gone(engines)
        process = started(run, resume=True)
    assert process.wait(timeout=300) == 0, (tmp_path / "run.log").read_text()[-2000:]
    expect_whole(run)
    assert outlived > 0, "no engine was there when the trainer was killed"
    attempts = [line["attempt"] for line in read_lines(run / "events.jsonl") if line["type"] in ("started", "resumed")]
    assert attempts == sorted(attempts) and len(attempts) >= 2


def test_ctrl_c_in_a_terminal_ends_a_run_after_its_step(tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = started(run, resume=False)
    until("an engine", lambda: engines_of(process.pid), process)
    until("a rollout", lambda: list((run / "trajectories").glob("*/*.traj.jsonl")), process)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=300) == 0, (tmp_path / "run.log").read_text()[-2000:]
    assert read_lines(run / "events.jsonl")[-1]["type"] == "stopped"
    step = read_lines(run / "metrics.jsonl")[-1]["step"]
    assert (run / "checkpoints" / f"checkpoint-{step}").is_dir()
    played = read_lines(run / "trajectories" / f"step-{step:06d}" / "rollouts.jsonl")
    assert [line["reward"] is not None for line in played] == [True] * TASKS * GROUP


def test_an_evaluation_that_is_killed_plays_no_finished_rollout_again(tmp_path: Path) -> None:
    run, draw = tmp_path / "run", random.Random(SEED)
    own = {"trials": 2, "greedy_trials": 0, "concurrency": 4}
    summary = run / "trajectories" / "sampled" / "rollouts.jsonl"
    finished: dict[str, tuple[str, int]] = {}
    for kill in range(3):
        process = started(run, kill > 0, "evaluate", own)
        until("a rollout", lambda known=finished: len(read_lines(summary)) > len(known), process)
        time.sleep(draw.uniform(0, 0.3))
        engines = engines_of(process.pid)
        assert engines, "the evaluation was over when it was to be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        expect_gone(engines)
        recorded = [summary.parent / line["recording"] for line in read_lines(summary)]
        now = {file.name: (file.read_text(), file.stat().st_mtime_ns) for file in recorded}
        assert finished.items() <= now.items()
        finished = now
    assert started(run, True, "evaluate", own).wait(timeout=300) == 0, (tmp_path / "run.log").read_text()[-2000:]
    played = read_lines(summary)
    assert len(played) == len({(line["task"], line["member"]) for line in played}) == 64
    for name, (text, written) in finished.items():
        assert ((summary.parent / name).read_text(), (summary.parent / name).stat().st_mtime_ns) == (text, written)
    assert json.loads((run / "result.json").read_text())["sampled"]["rollouts"] == 64


@pytest.mark.skipif(sys.platform == "win32", reason="looks for the engine's process with pgrep")
def test_an_engine_that_is_killed_is_started_again_and_no_rollout_counts_twice(tmp_path: Path) -> None:
    run, draw = tmp_path / "run", random.Random(SEED)
    process = started(run, resume=False)
    killed: list[int] = []
    for kill in range(2):
        before = len(read_lines(run / "metrics.jsonl"))
        until(f"step {before + 1}", lambda before=before: len(read_lines(run / "metrics.jsonl")) > before, process)
        time.sleep(draw.uniform(0, 1))
        engines = engines_of(process.pid)
        assert engines and not set(engines) & set(killed), f"kill {kill + 1} met {engines} after {killed}"
        killed += engines
        for engine in engines:
            os.kill(engine, signal.SIGKILL)
    assert process.wait(timeout=300) == 0, (tmp_path / "run.log").read_text()[-2000:]
    expect_whole(run)
    warnings = [line["message"] for line in read_lines(run / "events.jsonl") if line["type"] == "warning"]
    assert len(warnings) >= 1 and all("the engine ended with code -9" in each for each in warnings)


def test_an_engine_that_cannot_stay_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    """It answers what is asked before the first rollout, and goes at each rollout."""
    engine = tmp_path / "engine.py"
    engine.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['method'] == 'rollout': sys.exit('out of memory')\n"
        "    said = {'protocol': 1} if asked['method'] == 'hello' else [{'id': f'move-{n}'} for n in range(4)]\n"
        "    print(json.dumps({'id': asked['id'], 'result': said}), flush=True)\n"
    )
    run = tmp_path / "run"
    own = {**GRPO, "engine_command": [sys.executable, str(engine)]}
    assert started(run, False, own=own).wait(timeout=300) != 0
    last = read_lines(run / "events.jsonl")[-1]
    assert last["type"] == "error" and "out of memory" in last["message"]
