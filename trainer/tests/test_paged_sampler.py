"""Tests the continuous batching of transformers as the sampler, on this machine's CPU."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from configs import evaluation_config, grpo_config, lines
from conftest import all_in_full_suite
from small_models import ARCHITECTURES, save_small_model
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from waiting import LIMIT_S

from rehearsal_trainer.commands.evaluate import run_evaluation
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.gateway import serving
from rehearsal_trainer.models.loading import load_model
from rehearsal_trainer.sampler import paged_attention, paged_sampler
from rehearsal_trainer.sampler.answers import ContextExceededError, Generated, Sampling
from rehearsal_trainer.sampler.cpu_decoder.decoders import ModuleDecoder
from rehearsal_trainer.sampler.cpu_decoder.generation import Generator
from rehearsal_trainer.sampler.paged_sampler import PagedSampler, can_page

PROMPT = [1, 9690, 198, 2683, 359, 253, 5356, 5646, 2, 198, 1, 4093, 198, 28120, 2, 198, 1, 520, 9531, 198]
SMALL: dict[str, Any] = {"num_blocks": 64, "page_size": 32, "max_batch_tokens": 256}
"""Keys and values of 2,048 tokens; by default they take most of the memory that is free."""


@pytest.fixture
def sampler(tiny_model: Any) -> Iterator[PagedSampler]:
    made = PagedSampler(tiny_model, {2}, 256, **SMALL)
    yield made
    made.close()


@pytest.mark.parametrize(
    "architecture", all_in_full_suite(sorted(set(ARCHITECTURES) - {"Qwen3.5"}), ["Gemma 4", "Llama", "Mistral"])
)
def test_sampled_log_probabilities_are_those_of_the_model(tmp_path: Path, architecture: str) -> None:
    expect_the_model_s_own(load_model(str(save_small_model(architecture, tmp_path / "model")), torch.float32).eval())


@pytest.mark.parametrize("window", [None, 8])
def test_pytorch_s_flash_kernel_is_given_each_conversation(
    tmp_path: Path, window: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replaces the kernel, which runs only on GPUs, with the same computation in plain PyTorch."""
    calls: list[int] = []

    def kernel(
        queries: Tensor, keys: Tensor, values: Tensor, ends: Tensor, ends_of_keys: Tensor, *_: int,
        scale: float, window_size: tuple[int, int], enable_gqa: bool,
    ) -> Tensor:  # fmt: skip
        calls.append(len(ends) - 1)
        assert window_size[1] == 0 and enable_gqa
        attended = torch.zeros_like(queries)
        for (first, end), (first_key, end_of_keys) in zip(
            pairwise(ends.tolist()), pairwise(ends_of_keys.tolist()), strict=True
        ):
            at = torch.arange(end_of_keys - first_key)
            asking = at[len(at) - (end - first) :, None]
            seen = (at <= asking) & ((at >= asking - window_size[0]) | (window_size[0] < 0))
            parts = queries[first:end], keys[first_key:end_of_keys], values[first_key:end_of_keys]
            given = [each.transpose(0, 1)[None] for each in parts]
            of_one = scaled_dot_product_attention(*given, attn_mask=seen, scale=scale, enable_gqa=True)
            attended[first:end] = of_one[0].transpose(0, 1)
        return attended

    monkeypatch.setattr(paged_sampler, "can_use_kernel", lambda _: True)
    monkeypatch.setattr(paged_attention, "varlen_attn", kernel)
    folder = save_small_model("Mistral", tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "sliding_window": window}))
    model = load_model(str(folder), torch.float32).eval()
    expect_the_model_s_own(model)
    assert max(calls) > 1, "conversations are answered together"


def test_only_a_gpu_has_the_flash_kernel(tiny_model: Any) -> None:
    assert not paged_attention.can_use_kernel(tiny_model.to(torch.bfloat16))


def expect_the_model_s_own(model: Any) -> None:
    attention = model.config._attn_implementation
    sampler = PagedSampler(model, {2}, 256, **SMALL)
    ids = [each % model.config.vocab_size for each in PROMPT]
    asked = [sampler.submit(f"{at}", ids[: 12 + at], Sampling(0.8, 1.0, 12), at) for at in range(6)]
    answers = [each.result(LIMIT_S) for each in asked]
    sampler.close()
    assert model.config._attn_implementation == attention
    for at, answer in enumerate(answers):
        assert len(answer.ids) == len(answer.logprobs) > 0
        prompt = ids[: 12 + at]
        with torch.inference_mode():
            logits = model(torch.tensor([[*prompt, *answer.ids]])).logits[0]
        expected = (logits / 0.8).log_softmax(-1)[len(prompt) - 1 : -1].gather(1, torch.tensor(answer.ids)[:, None])
        assert torch.allclose(expected[:, 0], torch.tensor(answer.logprobs), atol=1e-3)


def test_float32_weights_that_compute_in_bfloat16_are_sampled(tiny_model: Any, sampler: PagedSampler) -> None:
    tiny_model.forward = torch.autocast("cpu", torch.bfloat16)(tiny_model.forward)  # as accelerate does
    asked = [sampler.submit(f"{at}", PROMPT[: 12 + at], Sampling(1.0, 1.0, 12), at) for at in range(4)]
    for at, answer in enumerate(each.result(LIMIT_S) for each in asked):
        prompt = PROMPT[: 12 + at]
        with torch.inference_mode():
            logits = tiny_model(torch.tensor([[*prompt, *answer.ids]])).logits[0].float()
        expected = logits.log_softmax(-1)[len(prompt) - 1 : -1].gather(1, torch.tensor(answer.ids)[:, None])
        assert torch.allclose(expected[:, 0], torch.tensor(answer.logprobs), atol=0.1)


def test_linear_attention_has_no_pages(tmp_path: Path, tiny_model: Any) -> None:
    model = load_model(str(save_small_model("Qwen3.5", tmp_path / "model")), torch.float32)
    assert not can_page(model)
    assert can_page(tiny_model)
    # On a device that is not a CPU its own forward samples, one conversation after the other.
    sampler = serving.sampler_of(model.to("meta"), {2}, 64, 8)
    sampler.close()
    assert isinstance(sampler, Generator) and isinstance(sampler.decoder, ModuleDecoder)


def test_a_gpu_samples_by_transformers_and_a_cpu_by_our_own_decoder(tiny_model: Any) -> None:
    on_cpu = serving.sampler_of(tiny_model, {2}, 64, 8)
    on_cpu.close()
    assert isinstance(on_cpu, Generator)
    assert isinstance(serving.sampler_of(tiny_model.to("meta"), {2}, 64, 8), PagedSampler)


@pytest.mark.full
def test_grpo_trains_on_what_it_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "sampler_of", lambda model, ids, room, _slots: PagedSampler(model, ids, room, **SMALL))
    run_grpo(grpo_config(tmp_path / "run", learning_rate=0.1, concurrency=8))
    first, second = lines(tmp_path / "run" / "metrics.jsonl")
    assert first["failed"] == second["failed"] == 0
    assert second["kl"] > 1e-3, "the weights have changed"
    assert max(first["drift_max"], second["drift_max"]) < 1e-3
    result = run_evaluation(evaluation_config(tmp_path / "evaluation", greedy_trials=1))
    assert result is not None and (result["sampled"]["rollouts"], result["greedy"]["rollouts"]) == (8, 4)


def test_greedy_answers_and_stop_ids_are_those_of_our_own_decoder(tiny_model: Any, sampler: PagedSampler) -> None:
    own = serving.sampler_of(tiny_model, {2}, 256, 8)
    greedy = Sampling(0.0, 1.0, 8)
    expected = own.submit("a", PROMPT, greedy, 1).result(LIMIT_S)
    own.close()
    assert sampler.submit("a", PROMPT, greedy, 1).result(LIMIT_S).ids == expected.ids
    sampler.stop_ids = {expected.ids[0]}
    sampler.suspend()
    answer = sampler.submit("a", PROMPT, greedy, 1).result(LIMIT_S)
    assert (answer.ids, answer.finish_reason) == (expected.ids[:1], "stop")
    assert sampler.sampled_tokens == len(expected.ids) + 1


def test_the_update_gets_the_model_back_as_it_was(tiny_model: Any, sampler: PagedSampler) -> None:
    tiny_model.train()
    attention = tiny_model.config._attn_implementation
    sampler.submit("a", PROMPT, Sampling(1.0, 1.0, 4), 1).result(LIMIT_S)
    assert not tiny_model.training
    sampler.suspend()
    assert (tiny_model.training, tiny_model.config._attn_implementation) == (True, attention)
    assert [each.name for each in threading.enumerate() if each.name == "answers"] == []


def failure(answer: Future[Generated]) -> str:
    return str(answer.exception(LIMIT_S))


def test_every_request_ends_with_an_answer_or_an_error(
    tiny_model: Any, sampler: PagedSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Sampling(1.0, 1.0, 200)
    assert isinstance(sampler.submit("full", [1] * 256, long, 1).exception(LIMIT_S), ContextExceededError)
    one, other = sampler.submit("a", PROMPT, long, 1), sampler.submit("b", PROMPT, long, 2)
    sampler.release("a")
    assert failure(one) == "the session was closed"
    assert len(other.result(LIMIT_S).ids) > 0
    open_one = sampler.submit("c", PROMPT, long, 3)
    sampler.suspend()
    assert open_one.done()

    def full(*_: Any, **__: Any) -> Any:
        raise MemoryError("no room for keys and values")

    with monkeypatch.context() as broken:
        broken.setattr("transformers.ContinuousBatchingManager._create_batch_processor", full)
        assert "no room for keys and values" in failure(sampler.submit("d", PROMPT, long, 4))
    assert len(sampler.submit("e", PROMPT, Sampling(1.0, 1.0, 4), 5).result(LIMIT_S).ids) == 4
