"""Whole GRPO runs with the tiny random model and the scripted engine: shapes, masks, files, never success."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from configs import grpo_config, lines

from rehearsal_trainer.backends.trl import check_groups
from rehearsal_trainer.backends.unpadded_trainer import UnpaddedTrainer
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.gateway.session import SessionRow
from rehearsal_trainer.grpo.config import check
from rehearsal_trainer.grpo.step import IntermediateRewards, StepRows, training_rows
from rehearsal_trainer.rollouts.engine import RolloutFacts, RolloutResult
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, RolloutSettings
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values.failures import ConfigurationError, TrainingError


def test_tokens_counts_all_tokens_of_the_rows_and_no_filler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[StepRows] = []
    columns_of = UnpaddedTrainer.columns_of

    def keep(self: UnpaddedTrainer, played: StepRows, pad: int, micro_batches: int) -> dict[str, Any]:
        # One row fewer, so that there is a filler.
        short = StepRows(played.rows[:-1], played.owners[:-1], played.sampled[:-1], played.rewards)
        seen.append(short)
        return columns_of(self, short, pad, micro_batches)

    monkeypatch.setattr(UnpaddedTrainer, "columns_of", keep)
    run_grpo(grpo_config(tmp_path / "run"))
    counts = [sum(len(row["prompt_ids"]) + len(row["completion_ids"]) for row in each.rows) for each in seen]
    written = [entry["tokens"] for entry in lines(tmp_path / "run" / "metrics.jsonl")]
    assert written == [counts[0], counts[0] + counts[1]]


def test_two_steps_fill_the_run_folder_and_the_second_resumes_where_the_first_stopped(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_grpo(grpo_config(run, steps=1))
    with pytest.raises(ConfigurationError, match="already contains a run"):
        run_grpo(grpo_config(run))
    final = run_grpo(grpo_config(run, steps=2), resume=True)
    metrics = lines(run / "metrics.jsonl")
    assert [(entry["step"], entry["attempt"]) for entry in metrics] == [(1, 1), (2, 2)]
    for entry in metrics:
        assert (entry["reward"], entry["failed"], entry["all_correct"], entry["all_wrong"]) == (0.5, 0, 0.0, 0.0)
        assert entry["grad_norm"] > 0
        assert {"loss", "kl", "entropy", "turns", "response_length", "tokens_per_second"} <= set(entry)
    assert metrics[1]["kl"] > 0  # the reference is the model without its adapter
    events = [event["type"] for event in lines(run / "events.jsonl")]
    assert events == [
        *("started", "data", "checkpoint", "finished"),
        *("resumed", "data", "checkpoint", "finished"),
    ]
    rollouts = [run / "trajectories" / f"step-00000{step}" for step in (1, 2)]
    assert [len(list(step.glob("*.traj.jsonl"))) for step in rollouts] == [8, 8]
    first, second = (lines(step / "rollouts.jsonl") for step in rollouts)
    assert (len(first), len(second)) == (8, 8)
    # The order of the tasks continues, too.
    assert {line["task"] for line in [*first, *second]} == {"move-0", "move-1", "move-2", "move-3"}
    assert json.loads((run / "config.json").read_text())["kind"] == "grpo"
    assert (final / "adapter_config.json").exists()
    assert not (run / "pid").exists()


def test_the_same_seed_gives_the_same_first_step(tmp_path: Path) -> None:
    for name in ("a", "b"):
        run_grpo(grpo_config(tmp_path / name, steps=1, concurrency=1, group_size=2))
    recordings = [sorted((tmp_path / name / "trajectories" / "step-000001").glob("*.traj.jsonl")) for name in "ab"]
    assert [path.read_text() for path in recordings[0]] == [path.read_text() for path in recordings[1]]


@pytest.mark.parametrize(
    "stop",
    [lambda run: run.stop_file.touch(), lambda _: signal.raise_signal(signal.SIGINT)],
    ids=["a stop file", "Ctrl+C"],
)
def test_a_run_that_is_stopped_ends_with_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: Callable[[RunFolder], None]
) -> None:
    original = RunFolder.metrics

    def stop_after_one(self: RunFolder, step: int, values: Any) -> None:
        original(self, step, values)
        stop(self)

    monkeypatch.setattr(RunFolder, "metrics", stop_after_one)
    reached = run_grpo(grpo_config(tmp_path / "run", steps=9, save_every=100))
    assert reached.name in ("checkpoint-1", "checkpoint-2")
    assert reached.exists()
    assert lines(tmp_path / "run" / "events.jsonl")[-1]["type"] == "stopped"


def test_failed_rollouts_are_not_punished(tmp_path: Path) -> None:
    run_grpo(grpo_config(tmp_path / "run", steps=1, domain="half-broken"))
    (entry,) = lines(tmp_path / "run" / "metrics.jsonl")
    assert (entry["failed"], entry["dead_groups"]) == (4, 1.0)
    rollouts = lines(tmp_path / "run" / "trajectories" / "step-000001" / "rollouts.jsonl")
    assert {line["reward"] for line in rollouts if line["task"] == "broken-0"} == {None}


def test_a_step_without_any_score_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        TrainingError,
        match=r"no rollout of optimizer step 1 could be scored: scripted failure\. \S+/rollouts.jsonl has the reason",
    ):
        run_grpo(grpo_config(tmp_path / "run", steps=1, domain="broken"))
    assert lines(tmp_path / "run" / "events.jsonl")[-1]["type"] == "error"


def test_a_group_without_variance_is_counted_and_moves_nothing(tmp_path: Path) -> None:
    run_grpo(grpo_config(tmp_path / "run", steps=1, domain="dead", beta=0.0))
    (entry,) = lines(tmp_path / "run" / "metrics.jsonl")
    assert (entry["dead_groups"], entry["all_wrong"], entry["grad_norm"]) == (1.0, 1.0, 0.0)
    assert lines(tmp_path / "run" / "trajectories" / "step-000001" / "rollouts.jsonl")[7]["reward"] == 0.0


def test_groups_without_variance_are_replaced_by_groups_of_other_tasks(tmp_path: Path) -> None:
    run_grpo(grpo_config(tmp_path / "run", steps=1, domain="late", refills=3, skip_dead_groups=True))
    (entry,) = lines(tmp_path / "run" / "metrics.jsonl")
    rollouts = lines(tmp_path / "run" / "trajectories" / "step-000001" / "rollouts.jsonl")
    # Two groups without variance, then two with: the third round has nothing to do.
    assert (len(rollouts), entry["dead_groups"], entry["reward"]) == (16, 0.5, 0.25)
    assert len({line["recording"] for line in rollouts}) == 16
    assert entry["grad_norm"] > 0


@pytest.mark.parametrize(
    ("reward", "malformed", "matched", "learned"),
    [(1.0, 0, 1.0, 1.3), (0.0, 0, 0.5, 0.2), (0.0, 2, 0.5, 0.1), (0.0, 0, None, 0.1), (None, 0, 1.0, None)],
)
def test_intermediate_rewards_are_added_where_there_is_one(
    reward: float | None, malformed: int, matched: float | None, learned: float | None
) -> None:
    request = RolloutRequest("move-0", 0, "seed", Sampling(1.0, 1.0, 8), RolloutSettings("parcels"))
    result = RolloutResult(reward, "", 1, facts=RolloutFacts(matched_tools=matched))
    rollout = PlayedRollout(request, result, [], changed_histories=0, malformed_calls=malformed)
    assert IntermediateRewards(format=0.1, tools=0.2).of(rollout) == (learned and pytest.approx(learned))
    assert IntermediateRewards().of(rollout) == reward


def test_a_row_without_a_trainable_token_is_an_error(tmp_path: Path) -> None:
    row = SessionRow()
    row.row.append_given([1, 2, 3])
    request = RolloutRequest("move-0", 0, "seed", Sampling(1.0, 1.0, 8), RolloutSettings("parcels"))
    played = PlayedRollout(request, RolloutResult(1.0, "userStopped", 1), [row], 0, 0)
    with pytest.raises(TrainingError, match="task move-0 has a row in which nothing can be learned"):
        training_rows([played], IntermediateRewards())


def test_every_row_of_a_rewritten_conversation_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[dict[str, Any]] = []
    generate = UnpaddedTrainer._generate_and_score_completions

    def watched(trainer: Any, inputs: Any) -> Any:
        steps.append({**generate(trainer, inputs), "owners": trainer._owners.tolist()})
        return dict(steps[-1])

    monkeypatch.setattr(UnpaddedTrainer, "_generate_and_score_completions", watched)
    run_grpo(grpo_config(tmp_path / "run", domain="parity-compacted", steps=1))
    (step,) = steps
    rollouts = lines(tmp_path / "run" / "trajectories" / "step-000001" / "rollouts.jsonl")
    assert [line["changed_histories"] for line in rollouts] == [1] * 8
    assert step["owners"] == [owner for owner in range(8) for _ in range(2)]
    assert step["scored_rows"] == 16
    sampled = (step["completion_mask"] * step["tool_mask"]).sum(1)
    assert (sampled > 0).all()
    assert sampled.sum() == step["num_items_in_batch"] == sum(line["tokens"] for line in rollouts)
    by_rollout = step["advantages"].view(8, 2)
    assert (by_rollout[:, 0] == by_rollout[:, 1]).all()
    assert [round(float(each)) for each in by_rollout[:, 0].sign()] == [
        1 if line["reward"] else -1 for line in rollouts
    ]
    (entry,) = lines(tmp_path / "run" / "metrics.jsonl")
    assert entry["grad_norm"] > 0


def test_sizes_that_do_not_divide_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="micro_batch: 3 does not divide"):
        check(grpo_config(tmp_path / "run", micro_batch=3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"temperature": 0}, "temperature: at 0 all rollouts"), ({"top_p": 0.9}, "top_p: at 0.9 the sampler leaves out")],
)
def test_sampling_that_cannot_be_learned_from_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        check(grpo_config(tmp_path / "run", **changes))


def test_groups_must_stand_side_by_side() -> None:
    check_groups(["a", "a", "b", "b"], 2)
    for prompts in (["a", "b", "a", "b"], ["a", "a", "a"]):
        with pytest.raises(RuntimeError, match="groups would be mixed up"):
            check_groups(prompts, 2)
