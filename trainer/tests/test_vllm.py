"""Tests vLLM as the sampler of GRPO: with a scripted worker, and with vLLM itself if a Python has it.

REHEARSAL_VLLM_PYTHON=<a Python with vLLM> python -m pytest tests/test_vllm.py
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import scripted_vllm
import torch
from configs import evaluation_config, grpo_config, lines
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM
from waiting import LIMIT_S

from rehearsal_trainer.commands.evaluate import run_evaluation
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.models import loading
from rehearsal_trainer.models.loading import load_model
from rehearsal_trainer.runs import preflight
from rehearsal_trainer.sampler.answers import ContextExceededError, Sampling
from rehearsal_trainer.sampler.vllm_process import VllmProcess
from rehearsal_trainer.sampler.vllm_sampler import ON_GPU, RANKS, VllmSampler
from rehearsal_trainer.values.failures import ConfigurationError, TrainingError

SOON_S = 60
"""A request of a scripted process ends within a second; the rest is for a slow machine."""
VLLM = os.environ.get("REHEARSAL_VLLM_PYTHON")
PROMPT = [1, 9690, 198, 2683, 359, 253, 5356, 5646, 2, 198, 1, 4093, 198, 28120, 2, 198, 1, 520, 9531, 198]
"""You are a helpful assistant, and Hello, in ChatML."""


def script(folder: Path, text: str) -> str:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[str]:
    with scripted_vllm.answering() as port:
        run = f'shift; exec {sys.executable} -IS {scripted_vllm.__file__} {port} "$@"'
        yield script(tmp_path, f'if [ "$1" = -c ]; then echo True; else {run}; fi')


def test_processes_of_vllm_load_no_module_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted.py").write_text("open('mark', 'w').close()")
    python = script(tmp_path, f"{sys.executable} -m planted || exec {sys.executable} -c 'import planted'")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TrainingError, match="No module named 'planted'"):
        VllmProcess(python, "m", {}, tmp_path / "vllm.txt")
    assert not (tmp_path / "mark").exists()


def test_the_question_for_vllm_loads_no_module_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "importlib").mkdir()
    (tmp_path / "importlib" / "__init__.py").write_text("open('mark', 'w').close()")
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(ConfigurationError):
        preflight.check_vllm(sys.executable)
    assert not (tmp_path / "mark").exists()


@pytest.fixture
def sampler(tmp_path: Path, stand_in: str, tiny_model: Any) -> Iterator[VllmSampler]:
    made = VllmSampler(tiny_model, {2}, 64, stand_in, 0.4, tmp_path / "serving")
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


@pytest.mark.full
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
    one, other = (sampler.submit("a", PROMPT, Sampling(1.0, 1.0, 6), 7).result(LIMIT_S) for _ in range(2))
    assert one == other and len(one.ids) == len(one.logprobs) > 0
    sampler.release("a")
    assert sampler.sampled_tokens == 2 * len(one.ids)
    with pytest.raises(ContextExceededError, match="the conversation has 64 tokens; the context holds 64"):
        sampler.submit("b", [1] * 64, Sampling(), 1).result(LIMIT_S)


def test_what_is_asked_of_a_closed_one_fails(sampler: VllmSampler) -> None:
    sampler.close()
    with pytest.raises(RuntimeError, match="vLLM has ended"):
        sampler.submit("a", PROMPT, Sampling(), 1).result(LIMIT_S)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('{"ids": [1', r'wrote a line that is not an answer: \{"ids": \[1$'),
        ("3", "wrote a line that is not an answer: 3"),
        (r"\377", "wrote a line that is not an answer"),
        ('{"id": 1}', "gave an answer that cannot be read: KeyError"),
    ],
)
def test_a_broken_answer_fails_its_request_at_once_and_later_ones_are_answered(
    tmp_path: Path, tiny_model: Any, answer: str, words: str
) -> None:
    good = json.dumps({"id": 2, "ids": [2], "logprobs": [0.0], "cached": 0})
    read = "echo '{\"ready\": true}'; read a"
    python = script(tmp_path, f"{read}; printf '{answer}\\n'; read b; echo '{good}'; exec sleep 600")
    made = VllmSampler(tiny_model, {2}, 64, python, 0.4, tmp_path / "serving")
    made._process = VllmProcess(python, "m", {}, tmp_path / "vllm.txt")
    with pytest.raises(RuntimeError, match=words):
        made.submit("a", PROMPT, Sampling(), 1).result(SOON_S)
    assert made.submit("b", PROMPT, Sampling(), 1).result(SOON_S).ids == [2]
    made._process._process.kill()


@pytest.mark.parametrize(
    "ends", ["exec sleep 600 >&-", "sleep 600 & exit 1"], ids=["output is closed", "a child keeps the output open"]
)
def test_the_requests_of_a_process_that_cannot_answer_any_more_fail(tmp_path: Path, ends: str) -> None:
    python = script(tmp_path, f"echo '{{\"ready\": true}}'; read a; {ends}")
    process = VllmProcess(python, "m", {}, tmp_path / "vllm.txt")
    with pytest.raises(RuntimeError, match="vLLM has ended"):
        process.ask({"prompt": [1]})[1].result(SOON_S)
    assert process.has_ended
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process._process.pid, signal.SIGKILL)


def test_an_adapter_is_handed_over_alone_and_keeps_every_bit(tmp_path: Path, stand_in: str, tiny_model: Any) -> None:
    lora = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)
    adapted = get_peft_model(tiny_model.to(torch.bfloat16), lora)
    made = VllmSampler(adapted, {2}, 64, stand_in, 0.4, tmp_path / "serving")
    for count in (1, 2):
        with torch.no_grad():
            for name, value in adapted.named_parameters():
                if "lora_B" in name:
                    value += 1e-5
        made.refresh()
        (written,) = (tmp_path / "serving").iterdir()
        assert (written.name, (written / "model.safetensors").exists()) == (f"adapter-{count}", False)
        read = load_file(written / "adapter_model.safetensors")
        trained = {name: value for name, value in adapted.named_parameters() if "lora_" in name}
        assert all(torch.equal(read[name.replace(".default", "")], value) for name, value in trained.items())
        assert len(read) == len(trained)
    made.close()
    assert not (tmp_path / "serving").exists()


def test_all_weights_are_written_for_it(tmp_path: Path, stand_in: str, tiny_model: Any) -> None:
    made = VllmSampler(tiny_model, {2}, 64, stand_in, 0.4, tmp_path / "serving")
    made.refresh()
    read = AutoModelForCausalLM.from_pretrained(tmp_path / "serving")
    made.close()
    ids = torch.tensor([PROMPT])
    with torch.inference_mode():
        assert torch.equal(read(ids).logits, tiny_model(ids).logits)


@pytest.mark.parametrize(
    ("lora_rank", "steps"),
    [(0, 1), pytest.param(0, 2, marks=pytest.mark.full), pytest.param(4, 2, marks=pytest.mark.full)],
)
def test_the_update_has_the_memory_and_the_next_rollouts_have_it_back(
    tmp_path: Path, stand_in: str, monkeypatch: pytest.MonkeyPatch, lora_rank: int, steps: int
) -> None:
    asked: list[str] = []
    ask = VllmProcess.ask

    def noted(process: VllmProcess, line: dict[str, Any]) -> Any:
        if "drop" not in line:
            asked.append(next(iter(line)) + str(line.get("suspend", "")))
        return ask(process, line)

    monkeypatch.setattr(VllmProcess, "ask", noted)
    changes = {"lora_rank": lora_rank, "steps": steps, "evaluate_every": 1, "split": "train"}
    run_grpo(grpo_config(tmp_path / "run", vllm_python=stand_in, **changes))
    # Evaluated before the first step and after each; each time and before each step's rollouts it is woken.
    turns = [name for name, _ in itertools.groupby(asked)]
    takes, sleeps = ("adapter", "suspend1") if lora_rank else ("reload", "suspend2")
    assert turns == ([] if lora_rank else ["prompt", sleeps]) + [takes, "prompt", sleeps] * (
        2 * steps + bool(lora_rank)
    )
    assert all("drift_max" not in line or line["drift_max"] < 1e-3 for line in lines(tmp_path / "run/metrics.jsonl"))


@pytest.mark.parametrize(("rank", "reserved"), [(1, 1), (2, 8), (16, 16), (33, 64), (512, 512)])
def test_vllm_reserves_room_for_one_of_its_ranks(tmp_path: Path, tiny_model: Any, rank: int, reserved: int) -> None:
    adapted = get_peft_model(tiny_model, LoraConfig(r=rank, target_modules=["q_proj"]))
    assert VllmSampler(adapted, {2}, 64, "python", 0.4, tmp_path)._rank() == reserved


@pytest.mark.parametrize(
    ("text", "words"), [("echo False", "has no vLLM; install it there"), (None, "can't be started")]
)
def test_a_python_without_it_is_refused_before_anything_is_spent(tmp_path: Path, text: str | None, words: str) -> None:
    python = script(tmp_path, text) if text else str(tmp_path / "nothing")
    with pytest.raises(ConfigurationError, match=rf"vllm_python: .*{words}"):
        preflight.check_vllm(python)


API = """
import dataclasses, inspect, json, typing
from vllm.config.lora import MaxLoRARanks
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.lora.request import LoRARequest
from vllm.v1.engine.async_llm import AsyncLLM
used = ("sleep", "wake_up", "add_lora", "remove_lora", "collective_rpc", "reset_prefix_cache", "generate")
calls = {name: list(inspect.signature(getattr(AsyncLLM, name)).parameters)[1:] for name in used}
request = LoRARequest("adapter-1", 1, "/folder")
print(json.dumps({"options": [each.name for each in dataclasses.fields(AsyncEngineArgs)], "calls": calls,
                  "ranks": typing.get_args(MaxLoRARanks),
                  "request": [request.lora_name, request.lora_int_id, request.lora_path]}))
"""


@pytest.mark.skipif(VLLM is None, reason="REHEARSAL_VLLM_PYTHON names no Python that has vLLM")
class TestItself:
    def test_it_takes_what_only_a_gpu_runs(self) -> None:
        done = subprocess.run([str(VLLM), "-c", API], capture_output=True, text=True, check=True, timeout=LIMIT_S)
        said = json.loads(done.stdout.splitlines()[-1])
        assert {*ON_GPU, "enable_lora", "max_lora_rank", "gpu_memory_utilization"} <= set(said["options"])
        assert said["calls"]["sleep"][0] == "level"
        assert said["calls"]["wake_up"][0] == "tags"
        assert said["calls"]["add_lora"] == ["lora_request"]
        assert said["calls"]["remove_lora"] == ["lora_id"]
        assert "lora_request" in said["calls"]["generate"]
        assert tuple(said["ranks"]) == RANKS
        assert said["request"] == ["adapter-1", 1, "/folder"]

    @pytest.mark.parametrize(("lora_rank", "learning_rate"), [(8, 1e-3), (0, 1e-4)], ids=["adapter", "all weights"])
    def test_grpo_trains_on_what_it_samples(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lora_rank: int, learning_rate: float
    ) -> None:
        def load(*given: Any) -> Any:
            model = load_model(*given)
            # On a CPU vLLM 0.32 lays the output head out once, and does not reload one that is tied to the embedding.
            model.get_input_embeddings().weight.requires_grad_(False)
            return model

        monkeypatch.setattr(loading, "load_model", load)
        changed = {"lora_rank": lora_rank, "learning_rate": learning_rate}
        sizes = {"model": "smollm2", **changed, "context": 1024, "vllm_memory": 0.2}
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
        sampler = VllmSampler(model, {2}, 256, VLLM, 0.2, tmp_path / "serving")
        sampler.refresh()
        try:
            asked = [sampler.submit(f"{seed}", PROMPT, Sampling(1.0, 1.0, 1), 2**40 + seed) for seed in range(256)]
            answers = [each.result(LIMIT_S) for each in asked]
        finally:
            sampler.close()
        for answer in answers:
            assert answer.logprobs[0] == pytest.approx(float(logprobs[answer.ids[0]]), abs=1e-3)
        surprise = -sum(answer.logprobs[0] for answer in answers) / len(answers)
        assert abs(surprise - entropy) < 4 * spread / len(answers) ** 0.5
