"""Kills trainers and engines, and checks that finished work is not lost and does not count twice.

REHEARSAL_SEED draws the states in which the processes are killed.
"""

from __future__ import annotations

import functools
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from configs import grpo_config
from conftest import ENGINE, REPOSITORY, node_of
from trainer_processes import Hold, State, start_trainer
from waiting import LIMIT_S, until

from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.lines import read_lines

SEED = int(os.environ.get("REHEARSAL_SEED", "1"))
KILLS = int(os.environ.get("REHEARSAL_TRAINER_KILLS", "2"))
STEPS, TASKS, GROUP = KILLS + 2, 2, 2
TINY_RUN: dict[str, Any] = {
    "domain": str(REPOSITORY / "domains" / "parcel-desk"), "model": "tiny", "profile": "trial",
    "engine_command": [node_of(), str(ENGINE), "serve", "--stdio"], "engine_cwd": str(REPOSITORY), "turn_cap": 2,
    "max_tokens": 8,
}  # fmt: skip
GRPO = {
    "steps": STEPS, "tasks_per_step": TASKS, "group_size": GROUP, "micro_batch": 2, "save_every": 1,
    "evaluate_every": 0,
}  # fmt: skip

Start = Callable[..., BaseProcess]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def start(run: Path) -> Iterator[Start]:
    """Starts a trainer in the run's folder. Trainers that still run at the end of the test are killed."""
    processes: list[BaseProcess] = []

    def start(resume: bool, kind: str = "grpo", own: dict[str, Any] = GRPO, hold: Hold | None = None) -> BaseProcess:
        path = run.parent / "run.json"
        path.write_text(json.dumps({**TINY_RUN, "run": str(run), **own}))
        argv = [kind, "--config", str(path), *(["--resume"] if resume else [])]
        processes.append(start_trainer(argv, run.parent / "run.log", hold))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.join()


@pytest.fixture
def draw() -> random.Random:
    print(f"REHEARSAL_SEED={SEED}")
    return random.Random(SEED)


def expect_success(process: BaseProcess, run: Path) -> None:
    process.join(LIMIT_S)
    assert process.exitcode == 0, (run.parent / "run.log").read_text()[-2000:]


def kill(process: BaseProcess, has_engine: bool = True) -> None:
    """Kills a trainer. Its engine ends with it; SFT has none, and one that is still starting may have none."""
    engines = engines_of(process)
    assert engines or not has_engine, "no engine is running when the trainer is killed"
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL, "the trainer had ended when it was to be killed"
    until("the engines end", lambda: not any(Path(f"/proc/{engine}").exists() for engine in engines))


def engines_of(process: BaseProcess) -> list[int]:
    """Returns the engines that a trainer has started."""
    command = ["pgrep", "-P", str(process.pid), "-f", "serve --stdio"]
    return [int(each) for each in subprocess.run(command, capture_output=True, text=True).stdout.split()]


def recorded(run: Path, step: int) -> int:
    return len(list((run / "trajectories" / f"step-{step:06d}").glob("*.traj.jsonl")))


def measured(run: Path) -> list[dict[str, Any]]:
    return read_lines(run / "metrics.jsonl")


def wait_for_step(run: Path, process: BaseProcess) -> int:
    """Returns the next optimizer step that is measured. At least one whole step remains after the following one."""
    before = len(measured(run))
    until("an optimizer step is measured", lambda: len(measured(run)) > before, process.is_alive)
    return measured(run)[-1]["step"]


def moments(run: Path, step: int) -> dict[str, Callable[[], bool]]:
    """The states from a measured optimizer step to the end of the next step's rollouts."""
    checkpoint = run / "checkpoints" / f"checkpoint-{step}"
    unfinished = run / "checkpoints" / "unfinished" / checkpoint.name
    rollouts = run / "trajectories" / f"step-{step + 1:06d}" / "rollouts.jsonl"
    return {
        f"step {step} is measured": lambda: True,
        f"checkpoint {step} is begun": lambda: unfinished.exists() or checkpoint.exists(),
        f"checkpoint {step} has weights": lambda: (
            (unfinished / "adapter_model.safetensors").exists() or checkpoint.exists()
        ),
        f"checkpoint {step} is complete": checkpoint.exists,
        **{
            f"step {step + 1} has {count} recordings": lambda count=count: recorded(run, step + 1) >= count
            for count in range(1, TASKS * GROUP + 1)
        },
        f"the rollouts of step {step + 1} have ended": rollouts.exists,
    }


def starts(run: Path) -> list[dict[str, Any]]:
    return [line for line in read_lines(run / "events.jsonl") if line["type"] in ("started", "resumed")]


def kill_at_start(run: Path, start: Start, draw: random.Random) -> None:
    """Kills a trainer before its engine is there, or before its first rollout of this attempt."""
    before = len(starts(run))
    process = start(resume=before > 0)
    until("the run is started", lambda: len(starts(run)) > before, process.is_alive)
    has_engine = draw.random() < 0.5
    print(f"killed when it is started, {'with' if has_engine else 'without'} waiting for its engine")
    if has_engine:
        until("the engine is started", lambda: engines_of(process), process.is_alive)
    kill(process, has_engine)


def kill_in(state: State, count: int, run: Path, start: Start, has_engine: bool = True) -> None:
    """Kills a trainer that is held in a state."""
    reached = run.parent / "reached"
    reached.unlink(missing_ok=True)
    process = start(resume=len(starts(run)) > 0, hold=Hold(state, count, reached))
    print(f"killed in the state {state}, entered for the {count}. time")
    until(f"the state {state} is entered", reached.exists, process.is_alive)
    kill(process, has_engine)


def kill_in_checkpoint(run: Path, start: Start, draw: random.Random, has_engine: bool = True) -> int:
    """Kills a trainer while it writes a checkpoint, and returns the step of the checkpoint that is left incomplete."""
    states: list[State] = ["half a checkpoint", "checkpoint"]
    kill_in(draw.choice(states), draw.choice((1, 2)), run, start, has_engine)
    [unfinished] = (run / "checkpoints" / "unfinished").iterdir()
    assert not (run / "checkpoints" / unfinished.name).exists(), "the checkpoint is in place"
    return int(unfinished.name.removeprefix("checkpoint-"))


def kill_between(run: Path, start: Start, draw: random.Random) -> None:
    """Kills a trainer between a measured optimizer step and the end of the next step's rollouts."""
    process = start(resume=len(starts(run)) > 0)
    what, observe = draw.choice(list(moments(run, wait_for_step(run, process)).items()))
    print(f"killed when {what}")
    until(what, observe, process.is_alive)
    kill(process)


def kill_somewhere(run: Path, start: Start, draw: random.Random) -> None:
    """Draws a state of a run and kills the trainer in it; it takes at most one optimizer step before."""
    # The weights are taken over when the decoder is made, and then before the rollouts of each optimizer step.
    counts: list[tuple[State, Sequence[int]]] = [("gradients", (1, 2)), ("update", (1, 2)), ("weights", (2, 3))]
    held: list[tuple[State, int]] = [(state, count) for state, some in counts for count in some]
    kinds: list[Callable[[], None]] = [lambda: kill_at_start(run, start, draw), lambda: kill_between(run, start, draw)]
    state, count = draw.choice(held)
    kinds.append(lambda: kill_in(state, count, run, start))
    draw.choice(kinds)()


def expect_all_steps(run: Path) -> None:
    """Checks that every optimizer step counts once, by its last attempt."""
    assert read_lines(run / "events.jsonl")[-1]["type"] == "finished"
    assert len({(line["step"], line["attempt"]) for line in measured(run)}) == len(measured(run))
    latest = {line["step"]: line for line in sorted(measured(run), key=lambda line: line["attempt"])}
    assert sorted(latest) == list(range(1, STEPS + 1))
    assert (run / "checkpoints" / "final").is_dir()


def expect_whole(run: Path) -> None:
    """Checks that every optimizer step counts once, with only the recordings of its last attempt."""
    expect_all_steps(run)
    for step in range(1, STEPS + 1):
        folder = run / "trajectories" / f"step-{step:06d}"
        played = read_lines(folder / "rollouts.jsonl")
        assert len(played) == TASKS * GROUP
        assert {line["recording"] for line in played} == {path.name for path in folder.glob("*.traj.jsonl")}


def expect_only_complete_checkpoints(run: Path) -> None:
    for checkpoint in (run / "checkpoints").glob("checkpoint-*"):
        assert (checkpoint / "trainer_state.json").exists(), f"{checkpoint.name} is not complete"
    assert not (run / "checkpoints" / "final").exists()


def expect_reported(run: Path, reported: Sequence[int | None]) -> None:
    """Checks the checkpoints that each attempt left incomplete against the reports of the next ones."""
    for step, line in zip(reported, starts(run)[1:], strict=True):
        assert step is None or step in line["incomplete"]


@pytest.mark.full
def test_a_trainer_that_is_killed_resumes_from_its_last_checkpoint(
    run: Path, start: Start, draw: random.Random
) -> None:
    """At start-up, in rollouts, updates and the transfer of weights. Every third is killed in a checkpoint.

    Last it is killed in the final checkpoint.
    """
    left: list[int | None] = []
    for at in range(KILLS + 1):
        step = None
        if at == KILLS:
            kill_in("final", 1, run, start)
        elif at % 3 == 0:
            step = kill_in_checkpoint(run, start, draw)
        else:
            kill_somewhere(run, start, draw)
        left.append(step)
        expect_only_complete_checkpoints(run)
    expect_success(start(resume=True), run)
    expect_whole(run)
    expect_reported(run, left)
    # An attempt without metrics has the same number as the next one.
    attempts = [line["attempt"] for line in starts(run)]
    assert len(attempts) == KILLS + 2
    assert attempts == sorted(attempts)


@pytest.mark.full
def test_sft_that_is_killed_resumes_from_its_last_checkpoint(
    run: Path, start: Start, draw: random.Random, gold_run: Path
) -> None:
    """In checkpoints, every second time, and in updates."""
    own = {
        "recordings": [str(gold_run)], "evaluate_split": None, "steps": STEPS, "batch": 2, "micro_batch": 2,
        "save_every": 1,
    }  # fmt: skip
    of_sft = functools.partial(start, kind="sft", own=own)
    updates: list[State] = ["gradients", "update"]
    left: list[int | None] = []
    for at in range(KILLS + 1):
        step = None
        if at == KILLS:
            kill_in("final", 1, run, of_sft, has_engine=False)
        elif at % 2 == 0:
            step = kill_in_checkpoint(run, of_sft, draw, has_engine=False)
        else:
            kill_in(draw.choice(updates), draw.choice((1, 2)), run, of_sft, has_engine=False)
        left.append(step)
        expect_only_complete_checkpoints(run)
    expect_success(of_sft(resume=True), run)
    expect_all_steps(run)
    expect_reported(run, left)


@pytest.mark.full
def test_ctrl_c_in_a_terminal_ends_a_run_after_its_step(run: Path, start: Start) -> None:
    process = start(resume=False)
    until("a rollout is recorded", lambda: recorded(run, 1) > 0, process.is_alive)
    assert engines_of(process) and process.pid is not None
    os.killpg(process.pid, signal.SIGINT)
    expect_success(process, run)
    assert read_lines(run / "events.jsonl")[-1]["type"] == "stopped"
    step = measured(run)[-1]["step"]
    assert (run / "checkpoints" / f"checkpoint-{step}").is_dir()
    played = read_lines(run / "trajectories" / f"step-{step:06d}" / "rollouts.jsonl")
    assert [line["reward"] is not None for line in played] == [True] * TASKS * GROUP


@pytest.mark.full
def test_an_evaluation_that_is_killed_plays_no_finished_rollout_again(
    run: Path, start: Start, draw: random.Random
) -> None:
    own = {"trials": 1, "greedy_trials": 0, "concurrency": 4}
    summary = run / "trajectories" / "sampled" / "rollouts.jsonl"
    finished: dict[str, tuple[str, int]] = {}
    for attempt in range(3):
        more = draw.randint(1, 5)
        wanted = len(finished) + more
        print(f"killed when {wanted} rollouts are finished")
        held = [sys.executable, str(Path(__file__).with_name("held_engine.py")), str(more), *TINY_RUN["engine_command"]]
        process = start(attempt > 0, "evaluate", {**own, "engine_command": held})
        until(f"{wanted} rollouts are finished", lambda: len(read_lines(summary)) >= wanted, process.is_alive)  # noqa: B023
        kill(process)
        paths = [summary.parent / line["recording"] for line in read_lines(summary)]
        now = {file.name: (file.read_text(), file.stat().st_mtime_ns) for file in paths}
        assert finished.items() <= now.items() and len(now) == wanted
        finished = now
    expect_success(start(True, "evaluate", own), run)
    played = read_lines(summary)
    assert len(played) == len({(line["task"], line["member"]) for line in played}) == 32
    for name, (text, written) in finished.items():
        assert ((summary.parent / name).read_text(), (summary.parent / name).stat().st_mtime_ns) == (text, written)
    assert json.loads((run / "result.json").read_text())["sampled"]["rollouts"] == 32


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="looks for the engine's process with pgrep")
def test_an_engine_that_is_killed_is_started_again_and_no_rollout_counts_twice(
    run: Path, start: Start, draw: random.Random
) -> None:
    process = start(resume=False)
    killed: list[int] = []
    for _ in range(2):
        # A recording of a later step shows that the engine that was started again is at work.
        step, count = wait_for_step(run, process) + 1, draw.randint(1, TASKS * GROUP)
        print(f"killed when step {step} has {count} recordings")
        until("the rollouts are recorded", lambda: recorded(run, step) >= count, process.is_alive)  # noqa: B023
        engines = engines_of(process)
        assert engines and not set(engines) & set(killed), f"{engines} are running after {killed} were killed"
        killed += engines
        for engine in engines:
            os.kill(engine, signal.SIGKILL)
    expect_success(process, run)
    expect_whole(run)
    warnings = [line["message"] for line in read_lines(run / "events.jsonl") if line["type"] == "warning"]
    assert len(warnings) == 2 and all("the engine ended with code -9" in each for each in warnings)


def test_an_engine_that_cannot_stay_ends_the_run_with_its_reason(tmp_path: Path, run: Path) -> None:
    """The engine answers the requests before the first rollout, and exits at each rollout."""
    engine = tmp_path / "engine.py"
    engine.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['method'] == 'rollout': sys.exit('out of memory')\n"
        "    said = {'protocol': 1} if asked['method'] == 'hello' else [{'id': f'move-{n}'} for n in range(4)]\n"
        "    print(json.dumps({'id': asked['id'], 'result': said}), flush=True)\n"
    )
    with pytest.raises(TrainingError, match="out of memory"):
        run_grpo(grpo_config(run, engine_command=[sys.executable, str(engine)], engine_cwd=str(tmp_path)))
    last = read_lines(run / "events.jsonl")[-1]
    assert last["type"] == "error" and "out of memory" in last["message"]
