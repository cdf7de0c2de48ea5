"""Evaluation: how often a model does the work of a split's tasks, greedy and at a temperature.

    python -m rehearsal_trainer evaluate --set domain=domains/parcel-desk --set run=runs/eval-base
    python -m rehearsal_trainer evaluate --config eval.json --set model=runs/sft/checkpoints/final
    python -m rehearsal_trainer evaluate --config eval.json --resume

One page: serve the model, play `trials` rollouts of each task at `temperature` and `greedy_trials` greedy
ones, write `result.json` and its table, print the table. A file named `stop` in its folder ends it with the
rollouts that have begun, and one that was interrupted goes on with those that it has not finished. What it
leaves out: pass^k and the ledger, which the engine's own `rehearsal eval` has; this is for a checkpoint of the
trainer and the curve between checkpoints.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rehearsal_trainer import keys, preflight, rollout_keys
from rehearsal_trainer.configuration import read_config
from rehearsal_trainer.failures import ConfigurationError
from rehearsal_trainer.messages import Json
from rehearsal_trainer.rollout_groups import task_of

if TYPE_CHECKING:
    from rehearsal_trainer.rollout_worker import RolloutWorker
    from rehearsal_trainer.rollouts import PlayedRollout, RolloutSettings
    from rehearsal_trainer.session import Sampling


@dataclass(frozen=True)
class Config:
    """Everything that an evaluation depends on; keys.py says what each key does."""

    domain: rollout_keys.Domain
    run: keys.Run
    profile: keys.Profile = "cpu"
    model: keys.Model = "smollm2"
    dialect: keys.Dialect = "hermes"
    engine_command: rollout_keys.EngineCommand = field(default_factory=lambda: list(rollout_keys.ENGINE))
    engine_cwd: rollout_keys.EngineCwd = "."
    split: rollout_keys.Split = "test"
    user: rollout_keys.EvaluateUser = "agenda"
    agent: rollout_keys.Agent = None
    basis: rollout_keys.EvaluateBasis = "evaluate"
    turn_cap: rollout_keys.TurnCap = 30
    trials: rollout_keys.Trials = 8
    greedy_trials: rollout_keys.GreedyTrials = 8
    temperature: rollout_keys.Temperature = 1.0
    top_p: rollout_keys.TopP = 1.0
    max_tokens: rollout_keys.MaxTokens = 1024
    context: keys.Context = 32768
    dtype: keys.Dtype = "auto"
    concurrency: rollout_keys.Concurrency = 64
    rollout_timeout_s: rollout_keys.RolloutTimeout = 1800
    seed: keys.Seed = 1
    threads: keys.Threads = None


_CPU = {
    "dialect": "compact",
    "turn_cap": None,
    "max_tokens": 128,
    "context": 2048,
    "dtype": "float32",
    "concurrency": 32,
    "rollout_timeout_s": 600,
}

PROFILES = {"paper": {}, "gpu": {"context": 16384}, "cpu": _CPU, "trial": {**_CPU, "max_tokens": 32}}


def main(argv: Sequence[str]) -> int:
    """Runs an evaluation and prints its table; exit code 0 whatever the success."""
    config, resume = read_config(Config, PROFILES, argv, "Measures success on a split.", needs=needs)
    result = run_evaluation(config, resume)
    print("stopped; with --resume it goes on" if result is None else table(result))
    return 0


def needs(config: Config) -> dict[str, Json]:
    """The model, and room for recordings."""
    return preflight.needs(config.model, Path(config.run), lambda _size: 0)


def run_evaluation(config: Config, resume: bool = False) -> dict[str, Any] | None:
    """Plays all rollouts, or those that are missing; returns and writes what `result.json` holds.

    None where it was stopped before the last of them.
    """
    import torch

    from rehearsal_trainer.progress import RunFolder
    from rehearsal_trainer.rollout_worker import RolloutWorker
    from rehearsal_trainer.rollouts import RolloutSettings
    from rehearsal_trainer.serving import open_gateway
    from rehearsal_trainer.session import Sampling

    if config.threads:
        torch.set_num_threads(config.threads)
    if resume:
        refuse_other_rollouts(config)
    with RunFolder(config.run, "evaluate", config, resume) as run:
        run.stop_on_signals()
        for name in ("result.json", "result.txt"):
            (run.path / name).unlink(missing_ok=True)
        started = time.monotonic()
        sampling = Sampling.of(config)
        gateway = open_gateway(
            config.model, config.dialect, sampling, config.dtype, config.context, 2 * config.concurrency
        )
        with RolloutWorker(gateway, config.engine_command, config.engine_cwd, run.log) as worker:
            tasks = [task["id"] for task in worker.tasks(config.domain, config.split)]
            parts = [
                Part("sampled", sampling, config.trials),
                Part("greedy", Sampling(0.0, 1.0, config.max_tokens), config.greedy_trials),
            ]
            settings = RolloutSettings.of(config)
            played: dict[str, list[PlayedRollout]] = {}
            for part in parts:
                folder = run.path / "trajectories" / part.name
                played[part.name] = play(worker, settings, folder, config.seed, tasks, part, resume, run.should_stop)
        count = sum(len(rollouts) for rollouts in played.values())
        if count < sum(part.trials for part in parts) * len(tasks):
            run.event("stopped", rollouts=count)
            return None
        result = {
            "model": config.model, "domain": config.domain, "split": config.split, "basis": config.basis,
            "tasks": len(tasks), "seconds": time.monotonic() - started,
            **{part.name: summary(played[part.name], part) for part in parts if part.trials > 0},
        }  # fmt: skip
        (run.path / "result.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        (run.path / "result.txt").write_text(table(result) + "\n", encoding="utf-8")
        run.event("measured", result=result)
        run.event("finished")
        return result


_OF_NO_ROLLOUT = frozenset(
    ("run", "profile", "trials", "greedy_trials", "concurrency", "threads", "engine_command", "engine_cwd")
)


def refuse_other_rollouts(config: Config) -> None:
    """ConfigurationError where a run's rollouts were played otherwise than these would be."""
    file = Path(config.run) / "config.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    now = json.loads(json.dumps(dataclasses.asdict(config)))
    for key in sorted(now.keys() & before.keys() - _OF_NO_ROLLOUT):
        if before[key] != now[key]:
            raise ConfigurationError(
                f"{key}: the rollouts of {config.run} were played with {json.dumps(before[key])}, and it can't go on "
                f"with {json.dumps(now[key])}; name another folder"
            )


@dataclass(frozen=True)
class Part:
    """Rollouts of every task with one way of sampling; the name is that of their folder and of their result."""

    name: str
    sampling: Sampling
    trials: int


def play(
    worker: RolloutWorker,
    settings: RolloutSettings,
    folder: Path,
    seed: int,
    tasks: Sequence[str],
    part: Part,
    goes_on: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[PlayedRollout]:
    """Plays one part of an evaluation; its recordings and their summary lie in the folder.

    A rollout's line is written when it ends, so that a part that `goes_on` plays none again that an earlier process
    has finished. Rollouts that were not begun when `should_stop` says so are left out.
    """
    from rehearsal_trainer.lines import append_line
    from rehearsal_trainer.rollout_lines import SUMMARY, finished_before, line_of, write_summary
    from rehearsal_trainer.rollouts import RolloutRequest

    folder.mkdir(parents=True, exist_ok=True)
    requests = [
        RolloutRequest(
            task,
            trial,
            f"{seed}/{part.name}/{task}",
            part.sampling,
            str((folder / f"{task}.{trial}.traj.jsonl").resolve()),
            settings,
        )
        for trial in range(part.trials)
        for task in tasks
    ]
    done = finished_before(folder, requests) if goes_on else []
    write_summary(folder, done)
    known = {(each.request.task, each.request.member) for each in done}

    def note(rollout: PlayedRollout) -> None:
        done.append(rollout)
        append_line(folder / SUMMARY, line_of(rollout))
        if len(done) % max(1, len(requests) // 8) == 0:
            right = sum((each.result.reward or 0) >= 1 for each in done)
            print(f"{part.name}: {len(done)} of {len(requests)} rollouts, {right} right", file=sys.stderr, flush=True)

    missing = [each for each in requests if (each.task, each.member) not in known]
    worker.play(settings, missing, note, should_stop=should_stop)
    place = {(each.task, each.member): at for at, each in enumerate(requests)}
    played = sorted(done, key=lambda each: place[each.request.task, each.request.member])
    write_summary(folder, played)
    return played


def summary(played: Sequence[PlayedRollout], part: Part) -> dict[str, Any]:
    """What one part of an evaluation came to."""
    from rehearsal_trainer.measures import measure

    return {**success(played), **measure(played), "trials": part.trials, "temperature": part.sampling.temperature}


def success(played: Sequence[PlayedRollout]) -> dict[str, Any]:
    """The mean over tasks of how often each was done, with its 95 % interval, and what was right by kind of task.

    The kind of a task is its id up to the last dash. Rollouts without a reward count apart.
    """
    tasks: dict[tuple[str, str], list[int]] = {}
    kinds: dict[str, list[int]] = {}
    for rollout in played:
        if rollout.result.reward is not None:
            is_right = int(rollout.result.reward >= 1)
            tasks.setdefault(task_of(rollout.request), []).append(is_right)
            kind = rollout.request.task.rpartition("-")[0] or rollout.request.task
            kinds.setdefault(kind, []).append(is_right)
    means = [sum(values) / len(values) for values in tasks.values()]
    scored = sum(map(len, tasks.values()))
    return {
        "right": sum(map(sum, tasks.values())),
        "rollouts": scored,
        "not_scored": len(played) - scored,
        "success": sum(means) / len(means) if means else None,
        "interval": list(wilson(means)),
        "by_kind": {kind: [sum(values), len(values)] for kind, values in sorted(kinds.items())},
    }


def wilson(values: Sequence[float]) -> tuple[float, float]:
    """Wilson's 95 % interval of a mean of values between 0 and 1, one for each task; (0, 1) where there is none.

    Tasks are the unit, as in the engine's reports: the trials of one task are not independent.
    """
    count = len(values)
    if count == 0:
        return 0.0, 1.0
    share, z2 = sum(values) / count, _Z * _Z
    middle = share + z2 / (2 * count)
    spread = _Z * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    low, high = (middle - spread) / (1 + z2 / count), (middle + spread) / (1 + z2 / count)
    return max(0.0, min(share, low)), min(1.0, max(share, high))


_Z = 1.959964


def table(result: dict[str, Any]) -> str:
    """The result for a reader."""
    lines = [
        f"{result['model']} on {result['domain']} ({result['split']}, basis {result['basis']}), {result['tasks']} tasks"
    ]
    for name in ("greedy", "sampled"):
        part = result.get(name)
        if part is None or part["success"] is None:
            continue
        low, high = part["interval"]
        sampled = "greedy" if name == "greedy" else f"T={part['temperature']:g}"
        label = f"{sampled} x {part['trials']}"
        interval = f"95 % interval {100 * low:.0f}-{100 * high:.0f} %"
        share = f"{100 * part['success']:.1f} % ({part['right']} of {part['rollouts']}, {interval} over tasks)"
        kinds = ", ".join(f"{kind} {right}/{total}" for kind, (right, total) in part["by_kind"].items())
        lost = f"; {part['not_scored']} not scored" if part["not_scored"] else ""
        lines.append(f"  {label:10} {share}{lost}\n             {kinds}")
    return "\n".join(lines)
