"""Configurations and data of whole runs with the tiny random model and the scripted engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import scripted_engine
from conftest import SCRIPTED_ENGINE, TESTS

from rehearsal_trainer.commands import evaluate, grpo, sft
from rehearsal_trainer.rollouts.engine import RolloutResult
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, RolloutSettings
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.settings.configuration import from_values


def grpo_config(run: Path, **changes: Any) -> grpo.Config:
    values = {
        "domain": "parity", "run": str(run), "model": "tiny", "engine_command": SCRIPTED_ENGINE, "engine_cwd": TESTS,
        "steps": 2, "tasks_per_step": 2, "group_size": 4, "micro_batch": 4, "max_tokens": 8, "turn_cap": 2,
        "save_every": 1, "learning_rate": 0.01, "evaluate_every": 0,
    }  # fmt: skip
    return from_values(grpo.Config, grpo.PROFILES, {**values, **changes}, grpo.ALGORITHMS)


def gold_recordings(folder: Path, count: int = 6) -> str:
    for number in range(count):
        recording = str(folder / f"move-{number}.traj.jsonl")
        params = {"task": f"move-{number}", "domain": "parcels", "agent": "gold", "basis": "train", "trial": 0}
        scripted_engine.play({**params, "recording": recording})
    return str(folder)


def sft_config(run: Path, recordings: str, **changes: Any) -> sft.Config:
    values = {"recordings": [recordings], "run": str(run), "model": "tiny", "steps": 3, "batch": 4, "micro_batch": 2}
    return from_values(sft.Config, sft.PROFILES, {**values, **changes})


def evaluation_config(run: Path, **changes: Any) -> evaluate.Config:
    values = {
        "domain": "parity", "run": str(run), "model": "tiny", "engine_command": SCRIPTED_ENGINE,
        "engine_cwd": TESTS, "trials": 2, "turn_cap": 1, "max_tokens": 4,
    }  # fmt: skip
    return from_values(evaluate.Config, evaluate.PROFILES, {**values, **changes})


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def rollout_of(domain: str, task: str, member: int, reward: float | None, group: int = 0) -> PlayedRollout:
    request = RolloutRequest(task, member, "seed", Sampling(), RolloutSettings(domain), group=group)
    return PlayedRollout(request, RolloutResult(reward, "", 1), [], 0, 0)
