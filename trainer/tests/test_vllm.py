"""vLLM as the sampler: GRPO through a stand-in of the other side, and through vLLM itself where a Python has it.

REHEARSAL_VLLM_PYTHON=<a Python with vLLM> python -m pytest tests/test_vllm.py
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from configs import evaluation_config, grpo_config, lines
from conftest import TESTS
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from rehearsal_trainer import preflight
from rehearsal_trainer.answers import ContextExceededError
from rehearsal_trainer.evaluate import run_evaluation
from rehearsal_trainer.failures import ConfigurationError, TrainingError
from rehearsal_trainer.grpo import run_grpo
from rehearsal_trainer.models import load_model
from rehearsal_trainer.session import Sampling
from rehearsal_trainer.vllm_sampler import VllmSampler

VLLM = os.environ.get("REHEARSAL_VLLM_PYTHON")
PROMPT = [1, 9690, 198, 2683, 359, 253, 5356, 5646, 2, 198, 1, 4093, 198, 28120, 2, 198, 1, 520, 9531, 198]
"""You are a helpful assistant, and Hello, in ChatML."""


def script(folder: Path, text: str) -> str:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def stand_in(tmp_path: Path) -> str:
    run = f'shift; exec {sys.executable} {Path(TESTS) / "scripted_vllm.py"} "$@"'
    return script(tmp_path, f'if [ "$1" = -c ]; then echo True; else {run}; fi')


@pytest.fixture
def sampler(tmp_path: Path, stand_in: str, tiny_model: Any) -> Iterator[VllmSampler]:
    made = VllmSampler(tiny_model, 2, 64, stand_in, 0.4, tmp_path / "serving")
    made.refresh()
    yield made
    made.close()


def test_every_optimizer_step_is_played_with_the_weights_that_it_begins_with(tmp_path: Path, stand_in: str) -> None:
    run_grpo(grpo_config(tmp_path / "run", vllm_python=stand_in, learning_rate=0.1))
    first, second = lines(tmp_path / "run" / "metrics.jsonl")
    assert first["reward"] == second["reward"] == 0.5
    assert second["kl"] > 1e-3, "the weights have changed"
    assert max(first["drift_max"], second["drift_max"]) < 1e-3
    assert first["tokens_per_second"] > 0


def test_rollouts_that_it_ends_under_are_no_rewards_and_it_is_started_again(
    tmp_path: Path, stand_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_VLLM_ENDS", str(tmp_path / "ended"))
    run_grpo(grpo_config(tmp_path / "run", vllm_python=stand_in, concurrency=1))
    first, second = lines(tmp_path / "run" / "metrics.jsonl")
    assert 0 < first["failed"] < 8 and second["failed"] == 0
    failures = [line["failure"] for line in lines(tmp_path / "run" / "trajectories" / "step-000001" / "rollouts.jsonl")]
    assert any(failure and "vLLM" in failure["message"] for failure in failures)


@pytest.mark.parametrize(
    ("text", "words"),
    [("echo no room for the model >&2; exit 1", "no room for the model"), (None, "No such file or directory")],
)
def test_one_that_does_not_start_is_one_message(tmp_path: Path, text: str | None, words: str) -> None:
    python = script(tmp_path, text) if text else str(tmp_path / "nothing")
    with pytest.raises(TrainingError, match=rf"(?s)vLLM did not start: .*{words}"):
        run_grpo(grpo_config(tmp_path / "run", vllm_python=python))


def test_it_evaluates(tmp_path: Path, stand_in: str) -> None:
    result = run_evaluation(evaluation_config(tmp_path / "run", vllm_python=stand_in, greedy_trials=1))
    assert result is not None and (result["sampled"]["right"], result["sampled"]["rollouts"]) == (4, 8)


def test_a_seed_gives_the_same_answer_and_a_full_context_none(sampler: VllmSampler) -> None:
    one, other = (sampler.submit("a", PROMPT, Sampling(1.0, 1.0, 6), 7).result(60) for _ in range(2))
    assert one == other and len(one.ids) == len(one.logprobs) > 0
    sampler.release("a")
    assert sampler.sampled_tokens == 2 * len(one.ids)
    with pytest.raises(ContextExceededError, match="the conversation has 64 tokens; the context holds 64"):
        sampler.submit("b", [1] * 64, Sampling(), 1).result(60)


def test_what_is_asked_of_a_closed_one_fails(sampler: VllmSampler) -> None:
    sampler.close()
    with pytest.raises(RuntimeError, match="vLLM has ended"):
        sampler.submit("a", PROMPT, Sampling(), 1).result(60)


def test_the_folder_holds_the_model_with_its_adapter_merged_in(tmp_path: Path, stand_in: str, tiny_model: Any) -> None:
    adapted = get_peft_model(tiny_model, LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False))
    made = VllmSampler(adapted, 2, 64, stand_in, 0.4, tmp_path / "serving")
    made.refresh()
    read = AutoModelForCausalLM.from_pretrained(tmp_path / "serving")
    made.close()
    assert not (tmp_path / "serving").exists()
    ids = torch.tensor([PROMPT])
    with torch.inference_mode():
        torch.testing.assert_close(read(ids).logits, adapted.eval()(ids).logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("text", "words"), [("echo False", "has no vLLM; install it there"), (None, "can't be started")]
)
def test_a_python_without_it_is_refused_before_anything_is_spent(tmp_path: Path, text: str | None, words: str) -> None:
    python = script(tmp_path, text) if text else str(tmp_path / "nothing")
    with pytest.raises(ConfigurationError, match=rf"vllm_python: .*{words}"):
        preflight.check_vllm(python)


@pytest.mark.skipif(VLLM is None, reason="REHEARSAL_VLLM_PYTHON names no Python that has vLLM")
class TestItself:
    def test_grpo_trains_on_what_it_samples(self, tmp_path: Path) -> None:
        sizes = {"model": "smollm2", "lora_rank": 8, "learning_rate": 1e-3, "context": 1024, "vllm_memory": 0.2}
        run_grpo(grpo_config(tmp_path / "run", vllm_python=VLLM, **sizes))
        first, second = lines(tmp_path / "run" / "metrics.jsonl")
        assert first["failed"] == second["failed"] == 0
        assert second["kl"] > 1e-4, "the weights have changed"
        assert max(first["drift_max"], second["drift_max"]) < 1e-2
        assert max(first["drift"], second["drift"]) < 1e-3

    def test_it_samples_as_often_as_is_likely(self, tmp_path: Path) -> None:
        """The mean surprise of sampled tokens is the entropy of what they were sampled from."""
        model = load_model("smollm2", torch.float32).eval()
        with torch.inference_mode():
            logprobs = model(torch.tensor([PROMPT])).logits[0, -1].log_softmax(-1)
        entropy = float(-(logprobs.exp() * logprobs).sum())
        spread = float((logprobs.exp() * (logprobs + entropy) ** 2).sum()) ** 0.5
        assert VLLM is not None
        sampler = VllmSampler(model, 2, 256, VLLM, 0.2, tmp_path / "serving")
        sampler.refresh()
        try:
            asked = [sampler.submit(f"{seed}", PROMPT, Sampling(1.0, 1.0, 1), 2**40 + seed) for seed in range(256)]
            answers = [each.result(300) for each in asked]
        finally:
            sampler.close()
        for answer in answers:
            assert answer.logprobs[0] == pytest.approx(float(logprobs[answer.ids[0]]), abs=1e-3)
        surprise = -sum(answer.logprobs[0] for answer in answers) / len(answers)
        assert abs(surprise - entropy) < 4 * spread / len(answers) ** 0.5
