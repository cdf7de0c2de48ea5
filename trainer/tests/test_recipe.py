"""Compares configurations with the numbers of MUA-RL (arXiv 2508.18669) and of the papers of related algorithms."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from conftest import REPOSITORY

from rehearsal_trainer.backends.trl import LOSSES
from rehearsal_trainer.backends.verl.cluster_config import PROFILES, ClusterConfig
from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan
from rehearsal_trainer.backends.verl.verl_settings import Places, verl_settings
from rehearsal_trainer.commands import grpo, sft
from rehearsal_trainer.settings.configuration import from_values
from rehearsal_trainer.settings.setting import keys_of

PAPER = {
    sft: {"batch": 128, "epochs": 2.0, "steps": None, "learning_rate": 5e-6, "lora_rank": 0, "context": 32768},
    grpo: {
        "group_size": 8, "tasks_per_step": 32, "beta": 0.001, "learning_rate": 1e-6, "temperature": 1.0, "turn_cap": 30,
        "context": 32768, "max_tokens": 1024, "epochs": 25.0, "steps": None, "epsilon": 0.2, "epsilon_high": None,
        "algorithm": "grpo", "basis": "train", "lora_rank": 0, "save_every": 10, "evaluate_every": 5,
        "evaluate_basis": "evaluate", "gradient_checkpointing": True, "skip_dead_groups": False,
    },
}  # fmt: skip


def read(kind: Any, **values: Any) -> Any:
    given = {"recordings": ["r"]} if kind is sft else {"domain": "d"}
    return from_values(kind.Config, kind.PROFILES, {**given, "run": "r", **values}, getattr(kind, "ALGORITHMS", None))


@pytest.mark.parametrize("kind", [sft, grpo])
def test_the_profile_paper_is_the_recipe(kind: Any) -> None:
    config = read(kind, profile="paper")
    assert {name: getattr(config, name) for name in PAPER[kind]} == PAPER[kind]


@pytest.mark.parametrize("kind", [sft, grpo])
def test_what_a_key_says_of_the_paper_is_what_the_profile_does(kind: Any) -> None:
    config = read(kind, profile="paper")
    said = {name: key.setting.paper for name, key in keys_of(kind.Config).items() if key.setting.paper}
    numbers = {
        name: json.loads(text)
        for name, text in said.items()
        if re.match(r"[0-9.e-]+$", text) or text in ("true", "false")
    }
    assert len(numbers) >= 6
    assert {name: getattr(config, name) for name in numbers} == numbers


def test_the_comparison_with_the_script_says_what_the_profile_gives_to_verl() -> None:
    """In the table, a dash means an option that is not set, and = means the value of the script."""
    config = from_values(ClusterConfig, PROFILES, {"domain": "d", "run": "r", "profile": "paper"}, grpo.ALGORITHMS)
    settings = verl_settings(config, Places("", "", "", ""), RolloutPlan.of(config, None), tasks=100)
    page = (REPOSITORY / "docs" / "training-mua-rl.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:3] == "| `"]
    compared = [row for row in rows if "." in row[0].split(",")[0]]
    assert len(compared) > 40
    for option, script, here, difference in compared:
        name = option.strip("`")
        names = [name, f"actor_rollout_ref.{name}"]
        (value,) = [settings[each] for each in names if each in settings] or ["-"]
        assert here == (", ".join(value) if isinstance(value, list) else _written(value)), option
        assert (script == here) == difference.startswith("="), option


def _written(value: Any) -> str:
    return f"{value:g}".replace("e-0", "e-") if isinstance(value, float) and value < 1e-4 else str(value)


def test_the_token_mean_loss_is_the_one_over_all_tokens_of_a_step() -> None:
    assert LOSSES["grpo"] == {"loss_type": "dapo", "scale_rewards": "group"}


@pytest.mark.parametrize(
    ("algorithm", "numbers"),
    [
        ("grpo", {"beta": 0.001, "epsilon": 0.2, "epsilon_high": None}),
        ("dapo", {"beta": 0.0, "epsilon": 0.2, "epsilon_high": 0.28, "skip_dead_groups": True, "refills": 3}),
        ("dr_grpo", {"beta": 0.0, "epsilon": 0.2, "epsilon_high": None}),
        ("gspo", {"beta": 0.0, "epsilon": 3e-4, "epsilon_high": 4e-4}),
    ],
)
def test_an_algorithm_is_one_setting(algorithm: str, numbers: dict[str, Any]) -> None:
    config = read(grpo, profile="paper", algorithm=algorithm)
    assert {name: getattr(config, name) for name in numbers} == numbers
    assert read(grpo, algorithm=algorithm, beta=0.04).beta == 0.04  # the user's value overrides it


def test_each_profile_is_smaller_than_the_cluster_s() -> None:
    rows = [config.tasks_per_step * config.group_size for config in (read(grpo, profile=p) for p in grpo.PROFILES)]
    assert rows == sorted(rows, reverse=True)
    assert [read(grpo, profile=name).lora_rank for name in grpo.PROFILES] == [0, 32, 16, 16]
