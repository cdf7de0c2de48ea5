"""Whole runs with the tiny random model and the scripted engine: shapes, masks, files, never success."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import scripted_engine
import torch
from conftest import REPOSITORY, SCRIPTED_ENGINE, TESTS

from rehearsal_trainer import evaluate, grpo, sft
from rehearsal_trainer.backends.frugal_trainer import FrugalTrainer, similar_lengths
from rehearsal_trainer.backends.trl import check_groups
from rehearsal_trainer.chat import Chat
from rehearsal_trainer.configuration import from_values
from rehearsal_trainer.engine import RolloutFacts, RolloutResult
from rehearsal_trainer.evaluate import run_evaluation, success, table, wilson
from rehearsal_trainer.failures import ConfigurationError, TrainingError
from rehearsal_trainer.grpo import run_grpo, training_rows
from rehearsal_trainer.grpo_config import check
from rehearsal_trainer.masks import Row
from rehearsal_trainer.models import load_model
from rehearsal_trainer.rollouts import (
    IntermediateRewards,
    PlayedRollout,
    RolloutRequest,
    RolloutSettings,
    RolloutWorker,
    groups_of,
    is_dead,
    measure,
)
from rehearsal_trainer.session import Sampling, SessionRow
from rehearsal_trainer.sft import run_sft
from rehearsal_trainer.shared_prefix import share_prefix, shared_length


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


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_two_grpo_steps_fill_the_run_folder(tmp_path: Path) -> None:
    final = run_grpo(grpo_config(tmp_path / "run"))
    metrics = lines(tmp_path / "run" / "metrics.jsonl")
    assert [entry["step"] for entry in metrics] == [1, 2]
    for entry in metrics:
        assert (entry["reward"], entry["failed"], entry["all_correct"], entry["all_wrong"]) == (0.5, 0, 0.0, 0.0)
        assert entry["grad_norm"] > 0
        assert {"loss", "kl", "entropy", "turns", "response_length", "tokens_per_second"} <= set(entry)
    assert metrics[1]["kl"] > 0  # the reference is the model without its adapter
    assert [event["type"] for event in lines(tmp_path / "run" / "events.jsonl")] == [
        "started",
        "data",
        "checkpoint",
        "checkpoint",
        "finished",
    ]
    step = tmp_path / "run" / "trajectories" / "step-000001"
    assert len(list(step.glob("*.traj.jsonl"))) == 8
    assert len(lines(step / "rollouts.jsonl")) == 8
    assert json.loads((tmp_path / "run" / "config.json").read_text())["kind"] == "grpo"
    assert (final / "adapter_config.json").exists()
    assert not (tmp_path / "run" / "pid").exists()


def test_grpo_resumes_where_it_stopped(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_grpo(grpo_config(run, steps=1))
    with pytest.raises(ConfigurationError, match="already holds a run"):
        run_grpo(grpo_config(run))
    run_grpo(grpo_config(run, steps=3), resume=True)
    metrics = lines(run / "metrics.jsonl")
    assert [(entry["step"], entry["attempt"]) for entry in metrics] == [(1, 1), (2, 2), (3, 2)]
    first = {line["task"] for line in lines(run / "trajectories" / "step-000001" / "rollouts.jsonl")}
    second = {line["task"] for line in lines(run / "trajectories" / "step-000002" / "rollouts.jsonl")}
    assert first | second == {"move-0", "move-1", "move-2", "move-3"}  # the order went on, too


def test_the_same_seed_gives_the_same_first_step(tmp_path: Path) -> None:
    for name in ("a", "b"):
        run_grpo(grpo_config(tmp_path / name, steps=1, concurrency=1))
    recordings = [sorted((tmp_path / name / "trajectories" / "step-000001").glob("*.traj.jsonl")) for name in "ab"]
    assert [path.read_text() for path in recordings[0]] == [path.read_text() for path in recordings[1]]


def test_a_stop_file_ends_the_run_with_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rehearsal_trainer.progress import RunFolder

    original = RunFolder.metrics

    def stop_after_one(self: RunFolder, step: int, values: Any) -> None:
        original(self, step, values)
        self.stop_file.touch()

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
        match=r"no rollout of optimizer step 1 could be scored: scripted failure\. \S+/rollouts.jsonl says it of each",
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
    ("rewards", "dead"), [([1.0, 0.0], False), ([0.0, 0.0], True), ([None, 1.0], True), ([None, None], True)]
)
def test_a_dead_group(rewards: list[float | None], dead: bool) -> None:
    request = RolloutRequest("move-0", 0, "seed", Sampling(1.0, 1.0, 8))
    assert is_dead([PlayedRollout(request, RolloutResult(each, "", 1), [], 0, 0) for each in rewards]) == dead


@pytest.mark.parametrize(
    ("reward", "malformed", "matched", "learned"),
    [(1.0, 0, 1.0, 1.3), (0.0, 0, 0.5, 0.2), (0.0, 2, 0.5, 0.1), (0.0, 0, None, 0.1), (None, 0, 1.0, None)],
)
def test_intermediate_rewards_are_added_where_there_is_one(
    reward: float | None, malformed: int, matched: float | None, learned: float | None
) -> None:
    request = RolloutRequest("move-0", 0, "seed", Sampling(1.0, 1.0, 8))
    result = RolloutResult(reward, "", 1, facts=RolloutFacts(matched_tools=matched))
    rollout = PlayedRollout(request, result, [], changed_histories=0, malformed_calls=malformed)
    assert IntermediateRewards(format=0.1, tools=0.2).of(rollout) == (learned and pytest.approx(learned))
    assert IntermediateRewards().of(rollout) == reward


def test_a_row_without_a_trainable_token_is_an_error(tmp_path: Path) -> None:
    row = SessionRow()
    row.row.append_given([1, 2, 3])
    request = RolloutRequest("move-0", 0, "seed", Sampling(1.0, 1.0, 8))
    played = PlayedRollout(request, RolloutResult(1.0, "userStopped", 1), [row], 0, 0)
    with pytest.raises(TrainingError, match="task move-0 has a row in which nothing can be learned"):
        training_rows([played], 0, IntermediateRewards())


def test_sizes_that_do_not_divide_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="micro_batch: 3 does not divide"):
        check(grpo_config(tmp_path / "run", micro_batch=3))


def test_sft_learns_and_saves_a_whole_model(tmp_path: Path) -> None:
    config = sft_config(
        tmp_path / "run", gold_recordings(tmp_path / "gold"), steps=8, learning_rate=0.02, tensorboard=True
    )
    final = run_sft(config)
    metrics = lines(tmp_path / "run" / "metrics.jsonl")
    assert metrics[-1]["loss"] < metrics[0]["loss"]
    assert load_model(str(final), torch.float32).num_parameters() == load_model("tiny", torch.float32).num_parameters()
    data = lines(tmp_path / "run" / "events.jsonl")[1]
    assert data["type"] == "examples"
    assert (data["recordings"], data["rows"], data["too_long"]) == (6, 6, 0)
    assert len(list((tmp_path / "run" / "tensorboard").iterdir())) == 1


def test_sft_resumes(tmp_path: Path) -> None:
    recordings = gold_recordings(tmp_path / "gold")
    run_sft(sft_config(tmp_path / "run", recordings, steps=2, save_every=1))
    run_sft(sft_config(tmp_path / "run", recordings, steps=3, save_every=1), resume=True)
    assert [entry["step"] for entry in lines(tmp_path / "run" / "metrics.jsonl")] == [1, 2, 3]


def test_sft_without_a_success_says_so(tmp_path: Path) -> None:
    recordings = gold_recordings(tmp_path / "gold", 1)
    with pytest.raises(TrainingError, match="nothing to learn from: of 1 recordings 0 have a reward"):
        run_sft(sft_config(tmp_path / "run", recordings, least_reward=2.0))


def test_sft_refuses_recordings_of_the_tasks_that_a_model_is_evaluated_on(tmp_path: Path, gold_run: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^recordings: \d+ of \d+ are of tasks of the split test, which a"):
        run_sft(sft_config(tmp_path / "run", str(gold_run)))
    assert not (tmp_path / "run").exists()


def test_sft_refuses_recordings_without_a_token_to_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Chat, "row_of", lambda _self, _conversation: Row([1, 2], [0, 0], [None, None]))
    with pytest.raises(
        TrainingError,
        match=r"6 recordings have no token to learn from.*the first is \S+move-0.traj.jsonl. Leave them out",
    ):
        run_sft(sft_config(tmp_path / "run", gold_recordings(tmp_path / "gold")))


def evaluation_config(run: Path, **changes: Any) -> evaluate.Config:
    values = {
        "domain": "parity", "run": str(run), "model": "tiny", "engine_command": SCRIPTED_ENGINE,
        "engine_cwd": TESTS, "trials": 2, "turn_cap": 1, "max_tokens": 4,
    }  # fmt: skip
    return from_values(evaluate.Config, evaluate.PROFILES, {**values, **changes})


def whole_evaluation(config: evaluate.Config, resume: bool = False) -> dict[str, Any]:
    """The result of an evaluation that nobody stops."""
    result = run_evaluation(config, resume)
    assert result is not None
    return result


def test_an_evaluation_counts_and_writes(tmp_path: Path) -> None:
    result = whole_evaluation(evaluation_config(tmp_path / "run"))
    assert (result["sampled"]["right"], result["sampled"]["rollouts"]) == (4, 8)
    assert (result["greedy"]["right"], result["greedy"]["rollouts"]) == (16, 32)
    assert json.loads((tmp_path / "run" / "result.json").read_text())["tasks"] == 4
    assert "50.0 % (4 of 8, 95 % interval 15-85 % over tasks)" in table(result)


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

    def counted(self: Any, settings: Any, requests: Any, *more: Any, **named: Any) -> Any:
        played.extend(f"{request.task}.{request.member}" for request in requests)
        return play(self, settings, requests, *more, **named)

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
    assert [line["type"] for line in lines(run / "events.jsonl")][-3:] == ["resumed", "measured", "finished"]

    with pytest.raises(ConfigurationError, match=r'^model: the rollouts of .* were played with "tiny"'):
        run_evaluation(evaluation_config(run, model="smollm2"), resume=True)
    played.clear()
    run_evaluation(evaluation_config(run, greedy_trials=0))
    assert len(played) == 8


def test_an_evaluation_that_is_stopped_keeps_what_it_has_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    play = RolloutWorker.play

    def stopped(self: Any, settings: Any, requests: Any, note: Any, **more: Any) -> Any:
        def first(rollout: Any) -> None:
            note(rollout)
            (run / "stop").touch()

        return play(self, settings, requests, first, **more)

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


def rollout_of(domain: str, task: str, member: int, reward: float | None, group: int = 0) -> PlayedRollout:
    request = RolloutRequest(task, member, "seed", Sampling(), settings=RolloutSettings(domain), group=group)
    return PlayedRollout(request, RolloutResult(reward, "", 1), [], 0, 0)


def test_success_is_a_mean_over_tasks_and_so_is_its_interval() -> None:
    played = [rollout_of("desk", "move-a", n, 1.0) for n in range(6)]
    played += [rollout_of("desk", "move-b", n, float(n < 1)) for n in range(2)]
    played += [rollout_of("other", "move-a", n, 0.0) for n in range(2)] + [rollout_of("other", "call", 0, None)]
    found = success(played)
    assert (found["right"], found["rollouts"], found["not_scored"]) == (7, 10, 1)
    assert (found["success"], found["interval"]) == (0.5, list(wilson([1.0, 0.5, 0.0])))
    assert found["by_kind"] == {"move": [7, 10]}
    assert success([]) == {**success([rollout_of("desk", "call", 0, None)]), "not_scored": 0}


def test_groups_of_one_task_or_of_equal_ids_are_measured_apart() -> None:
    played = [
        *[rollout_of("desk", "a", member, float(member < 2), group=member // 2) for member in range(4)],
        *[rollout_of("other", "a", member, float(member)) for member in range(2)],
        *[rollout_of("other", "b", member, None) for member in range(2)],
    ]
    assert [is_dead(group) for group in groups_of(played)] == [True, True, False, True]
    values = measure(played)
    assert (values["all_correct"], values["all_wrong"], values["failed"]) == pytest.approx((1 / 3, 1 / 3, 2))


def test_groups_must_stand_side_by_side() -> None:
    check_groups(["a", "a", "b", "b"], 2)
    for prompts in (["a", "b", "a", "b"], ["a", "a", "a"]):
        with pytest.raises(RuntimeError, match="groups would be mixed up"):
            check_groups(prompts, 2)


def test_a_shared_prefix_changes_neither_states_nor_gradients() -> None:
    torch.manual_seed(0)
    plain, shared = load_model("tiny", torch.float32), load_model("tiny", torch.float32)
    share_prefix(shared.base_model, least=4)
    ids = torch.randint(100, 1000, (3, 24))
    ids[:, :10] = ids[0, :10]
    mask = torch.ones_like(ids)
    mask[1, 20:] = 0
    assert shared_length(ids, mask) == 10
    states = []
    for model in (plain, shared):
        state = model.base_model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        ((state * mask[..., None]) ** 2).sum().backward()
        states.append(state)
    torch.testing.assert_close(states[0] * mask[..., None], states[1] * mask[..., None], atol=1e-5, rtol=1e-5)
    for (name, left), right in zip(plain.named_parameters(), shared.parameters(), strict=True):
        assert left.grad is not None, name
        torch.testing.assert_close(left.grad, right.grad, atol=1e-3, rtol=1e-3)


def test_rows_of_similar_length_stand_together() -> None:
    assert similar_lengths([100, 900, 110, 105, 120], 3) == [[0, 3, 2], [4], [1]]
    assert similar_lengths([], 3) == []


def test_scoring_without_padding_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    from trl import GRPOTrainer  # noqa: TID251

    model = load_model("tiny", torch.float32).base_model
    seen: list[tuple[int, int]] = []

    def score(_self: Any, _model: Any, ids: Any, mask: Any, keep: int, **_: Any) -> Any:
        seen.append(tuple(ids.shape))
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state[:, -keep:] * mask[:, -keep:, None]
        return states.sum(-1), states.amax(-1), None

    monkeypatch.setattr(GRPOTrainer, "_get_per_token_logps_and_entropies", score)
    ids, mask = torch.randint(100, 1000, (5, 60)), torch.ones(5, 60, dtype=torch.long)
    for row, length in enumerate([10, 50, 12, 11, 45]):
        mask[row, 10 + length :] = 0
    whole = score(None, model, ids, mask, 50)
    seen.clear()
    trainer = FrugalTrainer.__new__(FrugalTrainer)
    found = trainer._get_per_token_logps_and_entropies(model, ids, mask, 50, batch_size=5, compute_entropy=True)
    assert seen == [(3, 22), (2, 60)]
    assert found[1] is not None
    torch.testing.assert_close(found[0], whole[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[1], whole[1], atol=1e-5, rtol=1e-5)
