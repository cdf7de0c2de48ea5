"""Whole evaluations of the tiny random model with the scripted engine, and their numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from configs import evaluation_config, lines, rollout_of
from conftest import REPOSITORY

from rehearsal_trainer.commands import evaluate
from rehearsal_trainer.commands.evaluate import run_evaluation, table
from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
from rehearsal_trainer.rollouts.success_rate import success_rate, wilson
from rehearsal_trainer.values.failures import ConfigurationError


def whole_evaluation(config: evaluate.Config, resume: bool = False) -> dict[str, Any]:
    """Returns the result of an evaluation that is not stopped."""
    result = run_evaluation(config, resume)
    assert result is not None
    return result


def test_an_evaluation_counts_and_writes(tmp_path: Path) -> None:
    result = whole_evaluation(evaluation_config(tmp_path / "run"))
    assert (result["sampled"]["right"], result["sampled"]["rollouts"]) == (4, 8)
    assert (result["greedy"]["right"], result["greedy"]["rollouts"]) == (16, 32)
    assert json.loads((tmp_path / "run" / "result.json").read_text())["tasks"] == 4
    played = [event for event in lines(tmp_path / "run" / "events.jsonl") if event["type"] == "played"]
    assert [event["rollouts"] for event in played if event["part"] == "greedy"] == [4, 8, 12, 16, 20, 24, 28, 32]
    assert (played[-1]["part"], played[-1]["planned"], played[-1]["right"]) == ("greedy", 32, 16)
    assert "50.0 % (4 of 8, 95 % interval 15-85 % over tasks)" in table(result)
    assert ", 4 tasks\n" in table(result)
    assert ", 1 task\n" in table({**result, "tasks": 1})


def test_each_trial_of_a_task_has_a_random_stream_of_its_own(tmp_path: Path) -> None:
    run = tmp_path / "run"
    whole_evaluation(evaluation_config(run, trials=6, greedy_trials=0, max_tokens=8))
    said = {
        task: {json.dumps(recorded_replies(run, line)) for line in played}
        for task, played in by_task(lines(run / "trajectories" / "sampled" / "rollouts.jsonl")).items()
    }
    assert {task: len(different) for task, different in said.items()} == dict.fromkeys(said, 6)


def by_task(played: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {task: [line for line in played if line["task"] == task] for task in {line["task"] for line in played}}


def recorded_replies(run: Path, line: dict[str, Any]) -> list[str | None]:
    events = [each["event"] for each in lines(run / "trajectories" / "sampled" / line["recording"])]
    return [event["content"] for event in events if event["type"] == "agentReplied"]


def test_an_evaluation_does_not_play_over_another(tmp_path: Path) -> None:
    run = tmp_path / "run"
    whole_evaluation(evaluation_config(run, greedy_trials=0))
    kept = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(ConfigurationError, match="already contains a run"):
        run_evaluation(evaluation_config(run, greedy_trials=0))
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == kept


def test_an_evaluation_goes_on_with_the_rollouts_that_it_has_not_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    whole = whole_evaluation(evaluation_config(run, greedy_trials=1))
    first, second, third, *_ = [json.dumps(line) for line in lines(run / "trajectories" / "sampled" / "rollouts.jsonl")]
    cancelled = json.dumps({**json.loads(third), "end_reason": "cancelled", "reward": None})
    left = "\n".join([second, first, first, cancelled, third[:40]])
    (run / "trajectories" / "sampled" / "rollouts.jsonl").write_text(left)
    kept = [run / "trajectories" / "sampled" / json.loads(line)["recording"] for line in (first, second)]
    for file in kept:
        file.write_text("as it was left")

    played: list[str] = []
    play = RolloutWorker.play

    def counted(self: Any, requests: Any, *more: Any, **named: Any) -> Any:
        played.extend(f"{request.task}.{request.member}" for request in requests)
        return play(self, requests, *more, **named)

    monkeypatch.setattr(RolloutWorker, "play", counted)
    again = whole_evaluation(evaluation_config(run, greedy_trials=1), resume=True)
    assert len(played) == 6 and not any(f"{name.stem.removesuffix('.traj')}" in played for name in kept)
    assert [file.read_text() for file in kept] == ["as it was left"] * 2
    summary = lines(run / "trajectories" / "sampled" / "rollouts.jsonl")
    assert [(line["member"], line["task"]) for line in summary] == sorted(
        (m, f"move-{t}") for m in (0, 1) for t in range(100, 104)
    )
    timed = ("slowest_rollout_seconds",)
    for part in ("sampled", "greedy"):
        assert {k: v for k, v in again[part].items() if k not in timed} == {
            k: v for k, v in whole[part].items() if k not in timed
        }
    types = [line["type"] for line in lines(run / "events.jsonl")]
    resumed = types[types.index("resumed") :]
    assert [kind for kind in resumed if kind != "played"] == ["resumed", "measured", "finished"]

    with pytest.raises(ConfigurationError, match=r'^model: the rollouts of .* were played with "tiny"'):
        run_evaluation(evaluation_config(run, model="smollm2"), resume=True)


def test_an_evaluation_that_is_stopped_keeps_what_it_has_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    play = RolloutWorker.play

    def stopped(self: Any, requests: Any, note: Any, **more: Any) -> Any:
        def first(rollout: Any) -> None:
            note(rollout)
            (run / "stop").touch()

        return play(self, requests, first, **more)

    with monkeypatch.context() as patched:
        patched.setattr(RolloutWorker, "play", stopped)
        assert run_evaluation(evaluation_config(run, greedy_trials=0, concurrency=2)) is None
    assert lines(run / "events.jsonl")[-1]["type"] == "stopped"
    assert not (run / "result.json").exists() and not (run / "stop").exists()
    kept = lines(run / "trajectories" / "sampled" / "rollouts.jsonl")
    assert 1 <= len(kept) <= 3
    result = whole_evaluation(evaluation_config(run, greedy_trials=0), resume=True)
    assert result["sampled"]["rollouts"] == 8
    assert kept[0] in lines(run / "trajectories" / "sampled" / "rollouts.jsonl")


INTERVALS = REPOSITORY / "test" / "engine" / "core" / "fixtures" / "wilson.json"


@pytest.mark.parametrize("known", json.loads(INTERVALS.read_text()))
def test_the_interval_is_that_of_the_engine(known: dict[str, Any]) -> None:
    assert wilson(known["values"]) == pytest.approx((known["low"], known["high"]), abs=1e-6)


def test_success_is_a_mean_over_tasks_and_so_is_its_interval() -> None:
    played = [rollout_of("desk", "move-a", n, 1.0) for n in range(6)]
    played += [rollout_of("desk", "move-b", n, float(n < 1)) for n in range(2)]
    played += [rollout_of("other", "move-a", n, 0.0) for n in range(2)] + [rollout_of("other", "call", 0, None)]
    found = success_rate(played)
    assert (found["right"], found["rollouts"], found["not_scored"]) == (7, 10, 1)
    assert (found["success"], found["interval"]) == (0.5, list(wilson([1.0, 0.5, 0.0])))
    assert found["by_kind"] == {"move": [7, 10]}
    assert success_rate([]) == {**success_rate([rollout_of("desk", "call", 0, None)]), "not_scored": 0}
