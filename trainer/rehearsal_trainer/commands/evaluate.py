"""Evaluates how often a model completes the tasks of a split, with greedy sampling and at a temperature.

    python -m rehearsal_trainer evaluate --set domain=domains/parcel-desk --set run=runs/eval-base
    python -m rehearsal_trainer evaluate --config eval.json --set model=runs/sft/checkpoints/final
    python -m rehearsal_trainer evaluate --config eval.json --resume

The command serves the model, plays `trials` rollouts of each task at `temperature` and `greedy_trials` greedy ones,
writes `result.json` and its table, and prints the table. A file named `stop` in the run's folder ends it after the
rollouts that have begun, and an interrupted evaluation resumes with the rollouts that it has not finished. It does not
write the ledger that `rehearsal eval` has; its purpose is to compare checkpoints of the trainer.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rehearsal_trainer.runs import preflight
from rehearsal_trainer.settings import keys, profiles, rollout_keys
from rehearsal_trainer.settings.configuration import read_config
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.bounded_file import TEXT, read_text
from rehearsal_trainer.values.counted import counted
from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.messages import Json

if TYPE_CHECKING:
    from rehearsal_trainer.rollouts.evaluation_batch import EvaluationBatch
    from rehearsal_trainer.rollouts.rollouts import PlayedRollout


@dataclass(frozen=True)
class Config:
    """The configuration of an evaluation; keys.py describes each key."""

    domain: rollout_keys.Domain
    run: keys.Run
    profile: keys.Profile = "cpu"
    python: keys.Python = None
    model: keys.Model = "smollm2"
    dialect: keys.Dialect = "auto"
    thinking: keys.Thinking = False
    exact_history: keys.ExactHistory = False
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
    quantization: keys.Quantization = "auto"
    concurrency: rollout_keys.Concurrency = 64
    vllm_python: rollout_keys.VllmPython = None
    vllm_memory: rollout_keys.VllmMemory = 0.4
    rollout_timeout_s: rollout_keys.RolloutTimeout = 1800
    seed: keys.Seed = 1
    threads: keys.Threads = None


PROFILES = {
    "paper": {},
    "gpu": profiles.PLAYED_ON_GPU,
    "cpu": profiles.PLAYED_ON_CPU,
    "trial": {**profiles.PLAYED_ON_CPU, **profiles.TRIAL},
}


def main(argv: Sequence[str]) -> int:
    """Runs an evaluation and prints its table; exit code 0 whatever the success."""
    config, resume = read_config(Config, PROFILES, argv, "Measures success on a split.", needs=needs)
    result = run_evaluation(config, resume)
    print("stopped; --resume continues it" if result is None else table(result))
    return 0


def needs(config: Config) -> dict[str, Json]:
    """Returns the requirements of a run: the model, and disk space for recordings."""
    return preflight.needs(config, Path(config.run), lambda _size: 0)


def run_evaluation(config: Config, resume: bool = False) -> dict[str, Any] | None:
    """Plays all rollouts, or those that are missing; writes `result.json` and returns its content.

    Returns None if it was stopped before the last rollout.
    """
    import torch

    from rehearsal_trainer.gateway.serving import chat_of, gateway_of
    from rehearsal_trainer.models.loading import dtype_named, load_model, load_tokenizer
    from rehearsal_trainer.models.locations import quantization_of
    from rehearsal_trainer.rollouts.evaluation_batch import BatchProgress, EvaluationBatch, play_batch
    from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
    from rehearsal_trainer.rollouts.rollouts import RolloutSettings
    from rehearsal_trainer.runs.run_folder import RunFolder
    from rehearsal_trainer.sampler.answers import Sampling

    if config.threads:
        torch.set_num_threads(config.threads)
    if resume:
        refuse_other_rollouts(config)
    with RunFolder(config.run, "evaluate", config, resume) as run:
        run.stop_on_signals()
        for name in (run_files.RESULT, run_files.RESULT_TEXT):
            (run.path / name).unlink(missing_ok=True)
        started = time.monotonic()
        sampling = Sampling.of(config)
        chat = chat_of(
            config.model, load_tokenizer(config.model), config.dialect, config.thinking, config.exact_history
        )
        model = load_model(
            config.model, dtype_named(config.dtype), quantization=quantization_of(config.model, config.quantization)
        ).eval()
        gateway = gateway_of(config, model, chat)
        gateway.generator.refresh()
        with RolloutWorker.of(config, gateway, run.log) as worker:
            tasks = [task["id"] for task in worker.tasks(config.domain, config.split)]
            parts = [
                EvaluationBatch("sampled", sampling, config.trials),
                EvaluationBatch("greedy", Sampling(0.0, 1.0, config.max_tokens), config.greedy_trials),
            ]
            settings = RolloutSettings.of(config)

            def report(progress: BatchProgress) -> None:
                run.event("played", **dataclasses.asdict(progress))

            played: dict[str, list[PlayedRollout]] = {}
            for part in parts:
                folder = run.path / run_files.TRAJECTORIES / part.name
                played[part.name] = play_batch(
                    worker, settings, folder, config.seed, tasks, part, resume, run.should_stop, report
                )
        count = sum(len(rollouts) for rollouts in played.values())
        if count < sum(part.trials for part in parts) * len(tasks):
            run.event("stopped", rollouts=count)
            return None
        result = {
            "model": config.model, "domain": config.domain, "split": config.split, "basis": config.basis,
            "tasks": len(tasks), "seconds": time.monotonic() - started,
            **{part.name: summary(played[part.name], part) for part in parts if part.trials > 0},
        }  # fmt: skip
        (run.path / run_files.RESULT).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        (run.path / run_files.RESULT_TEXT).write_text(table(result) + "\n", encoding="utf-8")
        run.event("measured", result=result)
        run.event("finished")
        return result


_OF_NO_ROLLOUT = frozenset(
    ("run", "profile", "trials", "greedy_trials", "concurrency", "threads", "engine_command", "engine_cwd")
)


def refuse_other_rollouts(config: Config) -> None:
    """Raises ConfigurationError if the existing rollouts were played with different settings."""
    file = Path(config.run) / run_files.CONFIG
    before = json.loads(read_text(file, TEXT)) if file.exists() else {}
    now = json.loads(json.dumps(dataclasses.asdict(config)))
    for key in sorted(now.keys() & before.keys() - _OF_NO_ROLLOUT):
        if before[key] != now[key]:
            raise ConfigurationError(
                f"{key}: the rollouts of {config.run} were played with {json.dumps(before[key])}, and can't continue "
                f"with {json.dumps(now[key])}; name another folder"
            )


def summary(played: Sequence[PlayedRollout], part: EvaluationBatch) -> dict[str, Any]:
    """Returns the result of one part of an evaluation."""
    from rehearsal_trainer.rollouts.rollout_metrics import measure
    from rehearsal_trainer.rollouts.success_rate import success_rate

    return {**success_rate(played), **measure(played), "trials": part.trials, "temperature": part.sampling.temperature}


def table(result: dict[str, Any]) -> str:
    """Returns the result as text for display."""
    lines = [
        f"{result['model']} on {result['domain']} ({result['split']}, basis {result['basis']}), "
        + counted(result["tasks"], "task")
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
