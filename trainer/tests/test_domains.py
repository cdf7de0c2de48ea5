"""Tests runs with several domains, and their evaluations."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from configs import gold_recordings, grpo_config, lines, sft_config
from conftest import SCRIPTED_ENGINE, TESTS

from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.commands.sft import check as check_sft
from rehearsal_trainer.commands.sft import run_sft
from rehearsal_trainer.grpo.config import check
from rehearsal_trainer.rollouts.rollouts import RolloutSettings
from rehearsal_trainer.rollouts.task_sets import TaskSet, draw_order
from rehearsal_trainer.settings.rollout_keys import DomainShare
from rehearsal_trainer.values.failures import ConfigurationError

TWO = [{"folder": "parity", "weight": 2}, {"folder": "parity-long", "weight": 3}]


def task_set(name: str, weight: float, tasks: int) -> TaskSet:
    share = DomainShare(name, weight)
    return TaskSet(name, share, [f"t-{number}" for number in range(tasks)], RolloutSettings(name))


def events(run: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in lines(run / "events.jsonl") if event["type"] == kind]


def test_groups_are_drawn_by_weight_and_tasks_in_passes() -> None:
    sets = [task_set("a", 2, 4), task_set("b", 1, 3)]
    order = draw_order(sets, 3000, seed=1)
    assert order == draw_order(sets, 3000, seed=1) != draw_order(sets, 3000, seed=2)
    count = Counter(label.partition("/")[0] for label in order)
    assert 1900 < count["a"] < 2100
    passes = [label for label in order if label.startswith("b/")]
    assert all(len(set(passes[start : start + 3])) == 3 for start in range(0, 900, 3))


@pytest.mark.full
def test_two_domains_learn_in_one_run_and_each_has_its_reward(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_grpo(grpo_config(run, domain=TWO, tasks_per_step=4, steps=1))
    (entry,) = lines(run / "metrics.jsonl")
    assert (entry["reward"], entry["domain/parity/reward"], entry["domain/parity-long/reward"]) == (0.5, 0.5, 0.5)
    assert entry["grad_norm"] > 0
    rollouts = lines(run / "trajectories" / "step-000001" / "rollouts.jsonl")
    assert {line["domain"] for line in rollouts} == {"parity", "parity-long"}
    assert all(line["recording"].startswith(f"{line['domain']}.{line['task']}.") for line in rollouts)


@pytest.mark.full
def test_a_run_is_evaluated_before_and_while_it_trains_and_says_on_what(tmp_path: Path) -> None:
    run = tmp_path / "run"
    changes = {"evaluate_every": 2, "evaluate_trials": 2, "turn_cap": 1, "max_tokens": 4, "tasks_per_step": 1}
    run_grpo(grpo_config(run, steps=3, **changes))
    measured = {entry["step"]: entry.get("evaluate/reward") for entry in lines(run / "metrics.jsonl")}
    assert measured == {0: 0.5, 1: None, 2: 0.5, 3: 0.5}
    (data,) = events(run, "data")
    assert [data[key][0]["basis"] for key in ("train", "evaluate")] == ["train", "evaluate"]
    assert data["shared_simulators"] == ["agenda"]
    recorded = run / "trajectories" / "evaluate-000002" / "parity" / "rollouts.jsonl"
    assert {line["task"] for line in lines(recorded)} == {"move-100", "move-101", "move-102", "move-103"}

    run_grpo(grpo_config(run, steps=4, **changes), resume=True)
    assert [event["step"] for event in events(run, "evaluated")] == [0, 2, 3, 4]


def test_sft_is_evaluated_while_it_trains(tmp_path: Path) -> None:
    run, changes = tmp_path / "run", {"evaluate_every": 2, "turn_cap": 1, "max_tokens": 4, "evaluate_trials": 2}
    engine = {"domain": "parity", "engine_command": SCRIPTED_ENGINE, "engine_cwd": TESTS}
    run_sft(sft_config(run, gold_recordings(tmp_path / "gold"), steps=3, **changes, **engine))
    measured = {entry["step"]: entry.get("evaluate/reward") for entry in lines(run / "metrics.jsonl")}
    assert measured == {0: 0.5, 1: None, 2: 0.5, 3: 0.5}
    assert lines(run / "metrics.jsonl")[2]["loss"] > 0
    assert ([each["rows"] for each in events(run, "examples")], len(events(run, "data"))) == ([6], 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluate_every": 1}, "evaluate_every: an evaluation needs domain"),
        (
            {"evaluate_every": 1, "domain": "d", "evaluate_split": None},
            "evaluate_every: an evaluation needs evaluate_s",
        ),
        ({"batch": 10, "micro_batch": 4}, "micro_batch: 4 does not divide batch = 10"),
    ],
)
def test_what_does_not_fit_together_in_sft_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        check_sft(sft_config(tmp_path / "run", "gold", **changes))


def test_a_held_out_domain_that_falls_is_warned_of_and_one_that_could_not_be_scored_is_no_fall(tmp_path: Path) -> None:
    run = tmp_path / "run"
    held_out = [{"folder": each} for each in ("falling", "dead", "broken")]
    run_grpo(grpo_config(run, steps=1, evaluate_every=1, held_out=held_out))
    (warning,) = [each for each in events(run, "warning") if each.get("code") == "held-out-fell"]
    assert (warning["code"], warning["domain"], warning["step"]) == ("held-out-fell", "falling", 1)
    assert warning["message"].startswith(
        "optimizer step 1: the held-out domain falling has fallen to 0 % (0 of 4 rollouts); before"
    )
    others = [each["message"] for each in events(run, "warning") if each.get("code") != "held-out-fell"]
    assert others == [
        f"optimizer step {step}: no rollout of the evaluation on broken could be scored: scripted failure"
        for step in (0, 1)
    ]
    entry = lines(run / "metrics.jsonl")[-1]
    assert (entry["evaluate/falling/reward"], entry["evaluate/dead/reward"], entry["evaluate/reward"]) == (0, 0, 0.0)


def test_tasks_that_are_trained_on_and_evaluated_on_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="split: move-1 would be trained on and evaluated on"):
        run_grpo(grpo_config(tmp_path / "run", domain="overlap", evaluate_every=1))
    assert not (tmp_path / "run" / "metrics.jsonl").exists()


def test_what_measures_less_than_it_seems_is_warned_of(tmp_path: Path) -> None:
    """A domain without tasks to evaluate on, and one model that plays the user in training and in evaluation."""
    run, endpoint = tmp_path / "run", {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
    domains = [{"folder": "parity"}, {"folder": "half-broken"}]
    run_grpo(grpo_config(run, steps=1, domain=domains, evaluate_every=1, user=endpoint, evaluate_user=endpoint))
    assert [warning["message"] for warning in events(run, "warning")] == [
        "half-broken has no task in the split test, so nothing measures it while it trains",
        "openai:m plays the user both in training and in evaluation",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"domain": []}, "domain: name at least one domain"),
        ({"domain": [{"folder": "a/desk"}, {"folder": "b/desk"}]}, "domain: two domains are called desk"),
        ({"domain": [{"folder": "a", "weight": 0}]}, "domain: weight: expected more than 0, found 0"),
        ({"domain": [{"weight": 1}]}, "domain: folder: this key has no default"),
        ({"domain": [{"folder": "a", "wieght": 1}]}, 'domain: wieght: there is no such key. Did you mean "weight"'),
        ({"held_out": [{"folder": "a"}]}, "held_out: domains are evaluated only where evaluate_every"),
        ({"held_out": [{"folder": "parity", "name": "b"}], "evaluate_every": 1}, "held_out: parity is trained on"),
        ({"split": "test", "evaluate_every": 1}, "split: the tasks of the split test would be trained on and"),
        ({"split": None, "evaluate_every": 1}, "split: the tasks of the split test"),
        ({"max_tokens": 4096}, "max_tokens: a response of 4096 tokens leaves no room in a context of 2048"),
        ({"group_size": 1}, "group_size: expected at least 2, found 1"),
        ({"top_p": 1.5}, "top_p: expected at most 1, found 1.5"),
        ({"algorithm": "ppo"}, "algorithm: 'ppo' is unknown; known are grpo, dapo, dr_grpo, gspo"),
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        check(grpo_config(tmp_path / "run", **changes))
