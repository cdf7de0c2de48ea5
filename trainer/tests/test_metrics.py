"""Checks that the table of metrics has every metric that is written and every metric of the charts."""

from __future__ import annotations

from dataclasses import make_dataclass, replace
from pathlib import Path

import pytest
from configs import rollout_of

from rehearsal_trainer.backends import progress_callback as trl
from rehearsal_trainer.backends.verl.metrics import METRIC_NAMES as VERL_NAMES
from rehearsal_trainer.backends.verl.metrics import in_our_names
from rehearsal_trainer.metrics.metrics import CHARTS, METRICS, metric_of
from rehearsal_trainer.rollouts.rollout_metrics import OF_A_DOMAIN, measure
from rehearsal_trainer.runs.run_folder import RunFolder

PACKAGE = Path(__file__).resolve().parents[1] / "rehearsal_trainer"


def test_every_metric_is_called_once_and_explained_in_a_sentence() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    assert [metric.name for metric in METRICS if not metric.about.endswith(".") or not metric.label] == []


def test_a_chart_draws_metrics_of_the_table_and_is_called_something() -> None:
    known = {metric.name for metric in METRICS}
    for chart in CHARTS:
        assert all(name in known or metric_of(name) for name in chart.metrics)
        assert len(chart.metrics) == 1 or chart.label


@pytest.mark.parametrize(
    ("name", "known_as"),
    [
        ("reward", "reward"),
        ("calls/find_parcel", "calls/<tool>"),
        ("pass_at/4", "pass_at/<k>"),
        ("evaluate/response_length/p90", "evaluate/<metric>"),
        ("domain/desk/all_wrong", "domain/<domain>/<metric>"),
        ("evaluate/seconds", "evaluate/seconds"),
        ("evaluate/calls/find_parcel", "evaluate/<metric>"),
        ("evaluate/desk/success_low", "evaluate/<domain>/success_low"),
        ("evaluate/desk/turns", "evaluate/<domain>/<metric>"),
        ("verl/perf/mfu/actor", "verl/<name>"),
        ("rewards", None),
        ("calls/", None),
        ("domain/desk/rewards", None),
        ("evaluate/desk/", None),
        ("", None),
    ],
)
def test_names_of_a_run_are_those_of_the_table(name: str, known_as: str | None) -> None:
    metric = metric_of(name)
    assert (metric and metric.name) == known_as


def test_trials_of_a_task_give_the_chance_of_one_and_of_all_of_them() -> None:
    rewards = {"a": [1, 0, 0, 0], "b": [1, 1, 1, 0], "c": [1, None, None, 0]}
    played = [rollout_of("desk", task, at, reward) for task, each in rewards.items() for at, reward in enumerate(each)]
    values = measure(played)
    # Of the pairs of a, b and c, 3 of 6, 6 of 6 and 1 of 1 have a success, and 0, 3 and 0 have two.
    assert values["pass_at/2"] == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert values["pass_hat/2"] == pytest.approx((0 + 1 / 2 + 0) / 3)
    assert (values["pass_at/4"], values["pass_hat/4"]) == (1, 0)
    assert "pass_at/8" not in values
    assert (values["reward_share/0.0"], values["reward_share/1.0"]) == (0.5, 0.5)


def test_lengths_are_shown_by_what_a_share_of_the_rollouts_does_not_exceed() -> None:
    played = [replace(rollout_of("desk", "a", at, 0), sampled=10 * at) for at in range(1, 11)]
    values = measure(played)
    found = [values[f"response_length/p{share}"] for share in (10, 50, 90, 100)]
    assert (found, values["response_length"]) == ([10, 50, 90, 100], 55)


def test_the_table_knows_what_backends_and_domains_measure() -> None:
    written = [*trl.METRIC_NAMES.values(), *trl.OF_NO_STEP, *in_our_names(dict.fromkeys(VERL_NAMES, 1.0)), *OF_A_DOMAIN]
    assert [name for name in written if metric_of(name) is None] == []


def test_the_importance_ratio_of_verl_has_our_name() -> None:
    assert in_our_names({"rollout_corr/rollout_is_mean": 1.01, "rollout_corr/rollout_is_max": 3}) == {
        "sampler_ratio": 1.01, "sampler_ratio_max": 3.0,
    }  # fmt: skip


def test_somebody_measures_what_the_table_knows() -> None:
    source = "\n".join(path.read_text() for path in PACKAGE.rglob("*.py") if path != PACKAGE / "metrics" / "metrics.py")
    words = {metric.name: metric.name.split("<")[0] or metric.name for metric in METRICS}
    last = {name: word if word.endswith("/") else word.rpartition("/")[2] for name, word in words.items()}
    assert [name for name, word in last.items() if word not in source] == []


def test_a_metric_that_the_table_does_not_know_fails_the_test_that_writes_it(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", "grpo", make_dataclass("Config", [])())
    with pytest.raises(AssertionError, match=r"metrics\.py does not know boredom"):
        run.metrics(1, {"reward": 1.0, "boredom": 1.0})
