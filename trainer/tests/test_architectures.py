"""A small random model of each architecture plays rollouts of the real engine, and takes a step of GRPO."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from configs import grpo_config, lines
from conftest import ENGINE, REPOSITORY, all_in_full_suite, node_of
from small_models import ARCHITECTURES, save_small_model

from rehearsal_trainer.chat.masks import without_tail
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.gateway.serving import chat_of, gateway_over
from rehearsal_trainer.models.loading import load_model, load_tokenizer
from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
from rehearsal_trainer.rollouts.rollouts import RolloutRequest, RolloutSettings
from rehearsal_trainer.sampler.answers import Sampling

SAMPLING = Sampling(1.0, 1.0, 24)
TOLERANCE = 1e-3
"""Nats in float32 by which a sampled log-probability may differ from the trainer's."""


FULL = ("Gemma 4", "Llama", "Mistral", "Qwen3.5")
"""In `npm test`, Qwen3 covers full attention and gpt-oss covers experts. Linear attention takes 40 s on a CPU."""


EACH = all_in_full_suite(sorted(ARCHITECTURES), FULL)
STEPPED = all_in_full_suite(sorted(ARCHITECTURES), (*FULL, "Qwen3"))
"""Runs of other tests take steps with the full attention of the tiny model."""


@pytest.fixture(scope="module")
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small_model(request.param, tmp_path_factory.mktemp("model") / request.param.replace(" ", "-"))


@pytest.mark.parametrize("model", EACH, indirect=True)
def test_the_mask_is_on_sampled_ids_with_the_log_probabilities_of_the_trainer(model: Path) -> None:
    loaded = load_model(str(model), torch.float32).eval()
    chat = chat_of(str(model), load_tokenizer(str(model)), "template", thinking=False)
    gateway = gateway_over(loaded, chat, "small", SAMPLING, 4096)
    answers: list[tuple[list[int], Any]] = []
    generator: Any = gateway.generator
    submit = generator.submit

    def noted(session: str, prompt: list[int], *rest: Any) -> Any:
        future = submit(session, prompt, *rest)
        answers.append((list(prompt), future))
        return future

    generator.submit = noted
    settings = RolloutSettings(str(REPOSITORY / "domains" / "parcel-desk"), turn_cap=3)
    command = [node_of(), str(ENGINE), "serve", "--stdio"]
    with RolloutWorker(gateway, command, str(REPOSITORY), lambda _level, _message: None, 2) as worker:
        tasks = worker.tasks(settings.domain, "train")[:2]
        rollouts = worker.play([RolloutRequest(str(each["id"]), 0, "seed", SAMPLING, settings) for each in tasks])
    generator.close()
    assert [rollout.result.failure for rollout in rollouts] == [None] * len(rollouts)
    rows = [row.row for rollout in rollouts for row in rollout.rows]
    made = [(prompt, future.result()) for prompt, future in answers]
    assert sum(sum(row.mask) for row in rows) == sum(len(answer.ids) for _, answer in made) > 0
    worst = 0.0
    for row in map(without_tail, rows):
        sampled = {
            len(prompt) + at: pair
            for prompt, answer in made
            if row.ids[: len(prompt)] == prompt and row.ids[len(prompt) : len(prompt) + len(answer.ids)] == answer.ids
            for at, pair in enumerate(zip(answer.ids, answer.logprobs, strict=True))
        }
        assert [at for at, bit in enumerate(row.mask) if bit] == sorted(sampled)
        with torch.inference_mode():
            logits = loaded(torch.tensor([row.ids])).logits[0].log_softmax(-1)
        for at, (token, logprob) in sampled.items():
            worst = max(worst, abs(float(logits[at - 1, token]) - logprob))
    assert worst < TOLERANCE


@pytest.mark.parametrize("model", STEPPED, indirect=True)
def test_it_takes_a_step_of_grpo(model: Path, tmp_path: Path) -> None:
    changes = {"context": 4096, "dialect": "template", "steps": 1, "lora_rank": 4, "dtype": "float32"}
    run_grpo(grpo_config(tmp_path, model=str(model), **changes))
    (step,) = lines(tmp_path / "metrics.jsonl")
    assert math.isfinite(step["loss"])
    assert step["grad_norm"] > 0
    assert step["drift_max"] < TOLERANCE
    assert (tmp_path / "checkpoints" / "final" / "chat_template.jinja").exists()
