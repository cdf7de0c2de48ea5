from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import DOMAIN

from rehearsal_trainer.commands import evaluate, grpo, sft
from rehearsal_trainer.grpo.step import Members
from rehearsal_trainer.rollouts.task_sets import task_order
from rehearsal_trainer.settings.configuration import from_values, read_config
from rehearsal_trainer.values.failures import ConfigurationError

GIVEN = {"domain": "d", "run": "r"}


def test_a_profile_stands_between_defaults_and_the_file() -> None:
    paper = from_values(grpo.Config, grpo.PROFILES, {**GIVEN, "profile": "paper"})
    cpu = from_values(grpo.Config, grpo.PROFILES, {**GIVEN, "learning_rate": 2e-5})
    assert (paper.tasks_per_step, paper.group_size, paper.learning_rate, paper.beta) == (32, 8, 1e-6, 0.001)
    assert (cpu.tasks_per_step, cpu.lora_rank, cpu.learning_rate) == (4, 16, 2e-5)


@pytest.mark.parametrize("kind", [sft, grpo, evaluate])
def test_every_profile_is_valid(kind: Any) -> None:
    given = {"recordings": ["x"], "run": "r"} if kind is sft else GIVEN
    for profile in kind.PROFILES:
        from_values(kind.Config, kind.PROFILES, {**given, "profile": profile})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "domain"),
        ({**GIVEN, "learningRate": 1}, "learningRate: there is no such key"),
        ({**GIVEN, "lerning_rate": 1}, 'lerning_rate: there is no such key. Did you mean "learning_rate"'),
        ({**GIVEN, "batch": 4}, "batch: there is no such key here: batch is a key of SFT$"),
        ({**GIVEN, "trials": 4}, "trials: there is no such key here: trials is a key of evaluate$"),
        ({**GIVEN, "zzz": 4}, "zzz: there is no such key; known are agent, alarms, algorithm, basis, beta, "),
        ({**GIVEN, "zzz": 4}, "^((?!engine_c| run,).)*$"),
        ({**GIVEN, "split": "x"}, 'split: expected one of train, test, null, found "x"$'),
        ({**GIVEN, "steps": "many"}, "steps: expected integer"),
        ({**GIVEN, "steps": True}, "steps: expected integer"),
        ({**GIVEN, "learning_rate": float("nan")}, "learning_rate: expected a finite number, found NaN"),
        ({**GIVEN, "beta": float("inf")}, "beta: expected a finite number, found Infinity"),
        ({**GIVEN, "dialect": "latin"}, "dialect: expected one of auto, template, compact"),
        ({**GIVEN, "profile": "huge"}, "profile: 'huge' is unknown"),
        ({**GIVEN, "engine_command": "node"}, "engine_command: expected list"),
    ],
)
def test_a_wrong_field_is_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        from_values(grpo.Config, grpo.PROFILES, values)


def test_the_command_line_changes_the_file(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(json.dumps({**GIVEN, "kind": "grpo", "steps": 3}))
    config, resume = read_config(
        grpo.Config, grpo.PROFILES, ["--config", str(file), "--set", "steps=5", "--set", "model=tiny", "--resume"], ""
    )
    assert (config.steps, config.model, resume) == (5, "tiny", True)


def test_epochs_that_a_person_counts_stand_above_a_profile_s_steps() -> None:
    given = [{}, {"epochs": 3.0}, {"epochs": 3.0, "steps": 5}]
    configs = [from_values(sft.Config, sft.PROFILES, {"recordings": ["x"], "run": "r", **values}) for values in given]
    assert [config.steps for config in configs] == [40, None, 5]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_config(grpo.Config, grpo.PROFILES, ["--config", str(tmp_path / "none.json")], "")


def test_a_check_starts_nothing_and_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def main(values: dict[str, Any]) -> int:
        monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({**GIVEN, **values})))
        return grpo.main(["--config", "-", "--check"])

    with pytest.raises(SystemExit) as ended:
        main({"domain": DOMAIN, "micro_batch": 8})
    assert ended.value.code == 0
    with pytest.raises(ConfigurationError, match="foo: there is no such key; known are"):
        main({"foo": 1})
    with pytest.raises(ConfigurationError, match="micro_batch: 5 does not divide"):
        main({"micro_batch": 5})


def test_the_task_order_is_seeded_and_fair() -> None:
    tasks = ["a", "b", "c"]
    order = task_order(tasks, 9, seed=1)
    assert order == task_order(tasks, 9, seed=1) != task_order(tasks, 9, seed=2)
    assert all(sorted(order[start : start + 3]) == tasks for start in (0, 3, 6))


def test_no_two_rollouts_of_a_step_share_a_seed() -> None:
    members = Members()
    assert members.number(["a", "a", "b", "b"]) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert members.number(["a", "c"]) == [("a", 2), ("c", 0)]
