"""Compares the ids of rows with the sampler's ids, in real rollouts of the real engine.

`REHEARSAL_ROLLOUTS` is the number of rollouts (32; 1,000 in the full suite), `REHEARSAL_ROWS_MODEL` the model (`tiny`;
a checkpoint's folder for meaningful conversations).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import pytest
import torch
from conftest import ENGINE, REPOSITORY, node_of

from rehearsal_trainer.gateway.serving import chat_of, gateway_over
from rehearsal_trainer.models.loading import load_model, load_tokenizer
from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, RolloutSettings
from rehearsal_trainer.sampler.answers import Generated, Sampling

ROLLOUTS = int(os.environ.get("REHEARSAL_ROLLOUTS", "32"))
MODEL = os.environ.get("REHEARSAL_ROWS_MODEL", "tiny")
SAMPLING = Sampling(1.0, 1.0, 24 if MODEL == "tiny" else 96)
TOLERANCE = 1e-3
"""In nats, in float32: the sampler computes a conversation in pieces and in batches, which round differently."""


class Answer:
    """A request to the sampler, and its unchanged answer."""

    def __init__(self, session: str, prompt: Sequence[int], future: Future[Generated]) -> None:
        self.session, self.prompt, self.future = session, list(prompt), future


@pytest.fixture(scope="module")
def played() -> Any:
    model = load_model(MODEL, torch.float32).eval()
    gateway = gateway_over(model, chat_of(MODEL, load_tokenizer(MODEL), "compact", False), MODEL, SAMPLING, 2048, 64)
    answers: list[Answer] = []
    submit = gateway.generator.submit

    def noted(session: str, prompt: Sequence[int], sampling: Sampling, seed: int) -> Future[Generated]:
        answers.append(Answer(session, prompt, submit(session, prompt, sampling, seed)))
        return answers[-1].future

    gateway.generator.submit = noted
    settings = RolloutSettings(str(REPOSITORY / "domains" / "parcel-desk"), turn_cap=10, rollout_timeout_s=3600)
    with RolloutWorker(
        gateway, [node_of(), str(ENGINE), "serve", "--stdio"], str(REPOSITORY), lambda _level, _message: None, 32
    ) as worker:
        tasks = [task["id"] for task in worker.tasks(settings.domain, "train")]
        requests = [
            RolloutRequest(str(tasks[at % len(tasks)]), at // len(tasks), f"rows/{at}", SAMPLING, settings)
            for at in range(ROLLOUTS)
        ]
        rollouts = worker.play(requests)
    gateway.generator.close()
    return model, rollouts, answers


def test_rows_hold_exactly_what_was_sampled(played: tuple[Any, list[PlayedRollout], list[Answer]]) -> None:
    _, rollouts, answers = played
    assert len(rollouts) == ROLLOUTS
    by_session: dict[str, list[Answer]] = {}
    for answer in answers:
        by_session.setdefault(answer.session, []).append(answer)
    for rollout in rollouts:
        assert rollout.result.failure is None or rollout.result.failure.who == "agent", rollout.result.failure
        assert rollout.changed_histories == 0
        (row,) = rollout.rows
        sampled: dict[int, tuple[int, float]] = {}
        for answer in by_session[rollout.session]:
            made = answer.future.result()
            assert row.row.ids[: len(answer.prompt)] == answer.prompt
            for at, pair in enumerate(zip(made.ids, made.logprobs, strict=True), len(answer.prompt)):
                sampled[at] = pair
        assert [at for at, bit in enumerate(row.row.mask) if bit] == sorted(sampled)
        for at, (token, logprob) in sampled.items():
            assert (row.row.ids[at], row.row.logprobs[at]) == (token, logprob)


def test_the_trainer_computes_the_log_probabilities_that_were_sampled_with(
    played: tuple[Any, list[PlayedRollout], list[Answer]], record_property: Any
) -> None:
    model, rollouts, _ = played
    worst, total, count = 0.0, 0.0, 0
    for rollout in rollouts:
        row = rollout.rows[0].row
        with torch.inference_mode():
            logits = model(torch.tensor([row.ids])).logits[0].float()
        recomputed = (logits / SAMPLING.temperature).log_softmax(-1)
        for at, logprob in enumerate(row.logprobs):
            if logprob is not None:
                off = abs(recomputed[at - 1, row.ids[at]].item() - logprob)
                worst, total, count = max(worst, off), total + off, count + 1
    summary = f"{len(rollouts)} rollouts, {count} sampled ids: mean {total / count:.2e}, at most {worst:.2e} nats"
    record_property("log-probabilities", summary)
    print(summary)
    assert worst <= TOLERANCE, summary


def test_no_id_of_a_user_or_a_tool_trains(played: tuple[Any, list[PlayedRollout], list[Answer]]) -> None:
    _, rollouts, _ = played
    for rollout in rollouts:
        row = rollout.rows[0].row
        assert not any(row.mask[: rollout.rows[0].prompt_length])
        assert 0 < sum(row.mask) < len(row.mask)
