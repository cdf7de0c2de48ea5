"""Injects faults between the engine and the gateway of a live training step, and a mask that is off by one.

A fault must not become a reward or a gradient: the rollout is either the same as without the fault, or it is unscored
and not in a batch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from configs import grpo_config, lines
from conftest import ENGINE, REPOSITORY, node_of
from fault_proxy import FAULTS, Fault, FaultProxy, proxied
from trl import GRPOTrainer  # noqa: TID251

import rehearsal_trainer.gateway.session
from rehearsal_trainer.backends.unpadded_trainer import UnpaddedTrainer
from rehearsal_trainer.chat.masks import CompletionRow, Row, Sampled, split_at
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.gateway.gateway import Gateway
from rehearsal_trainer.gateway.session import Session, SessionRow
from rehearsal_trainer.grpo.step import StepRows
from rehearsal_trainer.rollouts.engine import RolloutResult
from rehearsal_trainer.rollouts.rollouts import refused_mix_up
from rehearsal_trainer.values.failures import TrainingError

GROUP = 4


@dataclass(frozen=True)
class Step:
    """The rewards and rows that an optimizer step learned from."""

    rewards: list[float | None]
    rows: list[list[tuple[list[int], list[int], list[float]]]]
    """For each rollout, its rows: ids, mask and log-probabilities."""
    trained: list[int]
    """The ids whose loss TRL computes, row after row."""
    failures: list[str]


def played_step(run: Path, monkeypatch: pytest.MonkeyPatch, proxy: FaultProxy, rollouts: int) -> Step:
    """Trains one step of the real engine's rollouts through a proxy, one rollout after the other."""
    played: list[StepRows] = []
    batches: list[dict[str, Any]] = []
    columns_of, generate = UnpaddedTrainer.columns_of, UnpaddedTrainer._generate_and_score_completions

    def url_of(gateway: Gateway[Any], session: Session) -> str:
        proxy.target = gateway.base_url
        return f"{proxy.base_url}/sessions/{session.id}/v1"

    def keep(trainer: UnpaddedTrainer, step: StepRows, *rest: int) -> dict[str, Any]:
        played.append(step)
        return columns_of(trainer, step, *rest)

    def watch(trainer: UnpaddedTrainer, inputs: Any) -> dict[str, Any]:
        batches.append(generate(trainer, inputs))
        return batches[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Gateway, "session_url", url_of)
        patch.setattr(UnpaddedTrainer, "columns_of", keep)
        patch.setattr(UnpaddedTrainer, "_generate_and_score_completions", watch)
        desk: dict[str, Any] = {
            "domain": str(REPOSITORY / "domains" / "parcel-desk"),
            "engine_command": [node_of(), str(ENGINE), "serve", "--stdio"],
            "concurrency": 1,
        }
        run_grpo(
            grpo_config(
                run, steps=1, tasks_per_step=rollouts // GROUP, group_size=GROUP, turn_cap=3, save_every=100, **desk
            )
        )
    (step,), (batch,) = played, batches
    rows: list[Any] = [[] for _ in step.rewards]
    for row, owner in zip(step.rows, step.owners, strict=True):
        given = row["prompt_ids"]
        mask, logprobs = [0] * len(given) + row["env_mask"], [0.0] * len(given) + row["logprobs"]
        rows[owner].append((given + row["completion_ids"], mask, logprobs))
    sampled = (batch["completion_mask"] * batch["tool_mask"]).bool()
    summary = lines(run / "trajectories" / "step-000001" / "rollouts.jsonl")
    failures = [line["failure"]["message"] if line["failure"] else "" for line in summary]
    return Step(step.rewards, rows, batch["completion_ids"][sampled].tolist(), failures)


def sampled_ids(rows: Sequence[Any]) -> list[int]:
    return [token for ids, mask, _ in rows for token, bit in zip(ids, mask, strict=True) if bit]


@pytest.mark.full
def test_a_fault_at_the_gateway_becomes_neither_a_reward_nor_a_gradient(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first rollout is left alone, and the last answer of the one before is what another session may get.
    faults: list[Fault | None] = [None, *FAULTS]
    assert len(faults) % GROUP == 0
    with proxied([]) as proxy:
        clean = played_step(tmp_path / "clean", monkeypatch, proxy, len(faults))
    with proxied(faults) as proxy:
        step = played_step(tmp_path / "faults", monkeypatch, proxy, len(faults))
    assert proxy.injected == {fault.name for fault in FAULTS}
    assert None not in clean.rewards
    for at, fault in enumerate(faults):
        name, cause = (fault.name, fault.cause) if fault else ("left alone", None)
        if cause is None:
            assert (name, step.failures[at], step.rewards[at]) == (name, "", clean.rewards[at])
            assert step.rows[at] == clean.rows[at], name
        else:
            assert (name, step.rewards[at], step.rows[at]) == (name, None, [])
            assert re.search(cause, step.failures[at]), (name, step.failures[at])
    assert step.trained == [token for rows in step.rows for token in sampled_ids(rows)]


def row_of(mask: list[int], scored: list[int], ids: Sequence[int] = (1, 2, 3, 4, 5)) -> SessionRow:
    logprobs = [-0.5 if bit else None for bit in scored]
    return SessionRow(Row(list(ids), mask, logprobs), 1, ["stop"], [Sampled(1, list(ids[1:3]))])


@pytest.mark.parametrize(
    ("mask", "scored"),
    [
        ([0, 0, 1, 1, 0], [0, 1, 1, 0, 0]),
        ([1, 1, 0, 0, 0], [0, 1, 1, 0, 0]),
        ([0, 0, 1, 1, 0], [0, 0, 1, 1, 0]),
        ([0, 1, 1, 0, 0], [0, 0, 1, 1, 0]),
        ([0, 1, 1, 1, 0], [0, 1, 1, 1, 0]),
        ([0, 1, 0, 0, 0], [0, 1, 1, 0, 0]),
    ],
)
def test_a_mask_that_is_off_by_one_is_an_error(mask: list[int], scored: list[int]) -> None:
    # This also holds if a model repeats one token, so that the ids are the same.
    for ids in ([1, 2, 3, 4, 5], [7] * 5):
        row_of([0, 1, 1, 0, 0], [0, 1, 1, 0, 0], ids).check_mask()
        with pytest.raises(TrainingError, match="of a row does not match what the model sampled"):
            row_of(mask, scored, ids).check_mask()


def shifted(mask: list[int], by: int) -> list[int]:
    """Checks a mask that is shifted by one token, too late (1) or too early (-1)."""
    return [0, *mask[:-1]] if by == 1 else [*mask[1:], 0]


def shift_in_session(patch: pytest.MonkeyPatch, by: int) -> None:
    append = Row.append_sampled

    def shifting(row: Row, ids: list[int], logprobs: list[float]) -> None:
        append(row, ids, logprobs)
        row.mask = shifted(row.mask, by)
        row.logprobs = [-0.5 if bit else None for bit in row.mask]

    patch.setattr(Row, "append_sampled", shifting)


def shift_in_row(patch: pytest.MonkeyPatch, by: int) -> None:
    def shifting(row: Row, prompt_length: int) -> CompletionRow:
        parts = split_at(row, prompt_length)
        return {**parts, "env_mask": shifted(parts["env_mask"], by)}

    patch.setattr(rehearsal_trainer.gateway.session, "split_at", shifting)


def shift_in_batch(patch: pytest.MonkeyPatch, by: int) -> None:
    generate = GRPOTrainer._generate_and_score_completions

    def shifting(trainer: GRPOTrainer, inputs: Any) -> dict[str, Any]:
        batch = generate(trainer, inputs)
        return {**batch, "tool_mask": batch["tool_mask"].roll(by, 1)}

    patch.setattr(GRPOTrainer, "_generate_and_score_completions", shifting)


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("shift", [shift_in_session, shift_in_row, shift_in_batch])
def test_a_run_ends_where_a_mask_is_off_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shift: Callable[[pytest.MonkeyPatch, int], None], by: int
) -> None:
    shift(monkeypatch, by)
    run = tmp_path / "run"
    with pytest.raises(TrainingError, match="the loss mask of a row does not match"):
        run_grpo(grpo_config(run, steps=1, turn_cap=1))
    assert not (run / "metrics.jsonl").exists()


@pytest.mark.parametrize(
    ("taken", "is_plain", "is_kept"),
    [
        (["s.0", "s.1"], True, True),
        (None, True, True),
        (["s.0"], True, False),
        (["s.1", "s.0"], True, False),
        (["s.0", "s.0"], True, False),
        (["s.0"], False, True),
        (["s.0", "t.0"], False, False),
    ],
)
def test_a_rollout_with_other_answers_than_were_sampled_is_unscored(
    taken: list[str] | None, is_plain: bool, is_kept: bool
) -> None:
    result = refused_mix_up(RolloutResult(1.0, "userStopped", 2, answers=taken), ["s.0", "s.1"], is_plain)
    assert (result.reward, result.failure is None) == ((1.0, True) if is_kept else (None, False))
