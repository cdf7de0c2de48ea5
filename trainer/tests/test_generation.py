from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import all_in_full_suite
from peft import LoraConfig, get_peft_model
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM
from waiting import LIMIT_S, until

from rehearsal_trainer.models.weights import merged_weight
from rehearsal_trainer.processes.devices import release_threads
from rehearsal_trainer.sampler.answers import ContextExceededError, Generated, Sampling
from rehearsal_trainer.sampler.cpu_decoder import llama_decoder
from rehearsal_trainer.sampler.cpu_decoder.decoder import Entry
from rehearsal_trainer.sampler.cpu_decoder.decoders import ModuleDecoder, decoder_for
from rehearsal_trainer.sampler.cpu_decoder.generation import Generator, common_prefix
from rehearsal_trainer.sampler.cpu_decoder.llama_decoder import LlamaDecoder
from rehearsal_trainer.sampler.cpu_decoder.ngram_speculation import NgramSpeculator

PROMPT = list(range(300, 340))
SMALL: dict[str, Any] = {
    "vocab_size": 600,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
}


def generate(
    decoder: Any, prompts: dict[str, list[int]], sampling: Sampling, seed: int = 7, **extra: Any
) -> list[Generated]:
    generator = Generator(decoder, stop_ids={2}, context=512, **extra)
    try:
        futures = [generator.submit(name, prompt, sampling, seed) for name, prompt in prompts.items()]
        return [future.result(LIMIT_S) for future in futures]
    finally:
        generator.close()


def logits_of(model: Any, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0].float()


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "module"])
def test_the_logits_are_the_models(kind: str, tiny_model: Any) -> None:
    torch.manual_seed(3)
    models = {
        "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SMALL)),
        "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SMALL)),
    }
    model = models[kind]().eval() if kind in models else tiny_model
    for parameter in model.parameters():  # biases and norms that are not their defaults
        parameter.data += 0.02 * torch.randn_like(parameter)
    decoder = ModuleDecoder(model) if kind == "module" else decoder_for(model)
    assert kind == "module" or isinstance(decoder, LlamaDecoder)
    ids = PROMPT[:30]
    expected = logits_of(model, ids)
    with torch.inference_mode():
        for name in "abc":
            decoder.copy(None, name, 0)
        first = decoder.extend([("a", ids[:10], 1), ("b", ids[:20], 1)])
        second = decoder.extend([("a", ids[10:11], 1), ("b", ids[20:21], 1), ("c", ids[:5], 1)])
        decoder.truncate("a", 4)
        decoder.copy("b", "d", 7)
        third = decoder.extend([("a", ids[4:6], 1), ("d", ids[7:8], 1), ("c", ids[5:6], 1)])
    places = [(first[0], 9), (first[1], 19), (second[0], 10), (second[1], 20), (second[2], 4)]
    places += [(third[0], 5), (third[1], 7), (third[2], 5)]
    for logits, place in places:
        torch.testing.assert_close(logits.float(), expected[place], atol=1e-4, rtol=1e-4)


def test_a_beginning_that_all_share_is_read_once_and_the_logits_stay_the_models(
    tiny_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = LlamaDecoder(tiny_model.eval())
    rests = {"a": [], "b": [41, 42, 43], "c": [51]}
    shared: list[int] = []
    original = decoder._with_shared

    def counted(queries: Any, beginning: Any, window: Any, singles: Any) -> Any:
        shared.append(singles.shared)
        return original(queries, beginning, window, singles)

    monkeypatch.setattr(decoder, "_with_shared", counted)
    said = {name: [*PROMPT, *rest, 60] for name, rest in rests.items()}
    with torch.inference_mode():
        decoder.copy(None, "a", 0)
        decoder.extend([("a", PROMPT, 1)])
        for name in "bc":
            decoder.copy("a", name, len(PROMPT))
            decoder.extend([(name, rests[name], 1)])
        logits = decoder.extend([(name, [60], 1) for name in "abc"])
        decoder.truncate("b", 5)
        decoder.extend([("b", [7, 8], 1)])
        said["b"] = [*PROMPT[:5], 7, 8, 61]
        after = decoder.extend([("a", [61], 1), ("b", [61], 1)])
    assert set(shared) == {len(PROMPT)}, "five tokens in common are too few to be read apart"
    for found, name in zip(logits, "abc", strict=True):
        expected = logits_of(tiny_model, [*PROMPT, *rests[name], 60])[-1]
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(after[0], logits_of(tiny_model, [*said["a"], 61])[-1], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(after[1], logits_of(tiny_model, said["b"])[-1], atol=1e-4, rtol=1e-4)


def test_an_adapter_is_merged_and_refreshed(tiny_model: Any) -> None:
    adapted: Any = get_peft_model(tiny_model, LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False))
    adapted.eval()
    decoder = decoder_for(adapted)
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_B" in name:
                parameter += 0.1
    decoder.refresh()
    with torch.inference_mode():
        decoder.copy(None, "a", 0)
        logits = decoder.extend([("a", PROMPT, 1)])[0]
    torch.testing.assert_close(logits, logits_of(adapted, PROMPT)[-1], atol=1e-4, rtol=1e-4)


def test_an_adapter_over_bfloat16_gives_what_the_trained_module_gives(tiny_model: Any) -> None:
    torch.manual_seed(0)
    adapted: Any = get_peft_model(
        tiny_model.to(torch.bfloat16), LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)
    )
    attention = adapted.get_base_model().model.layers[0].self_attn
    projections = [attention.q_proj, attention.k_proj, attention.v_proj]
    with torch.no_grad():
        for each in projections:
            # Ten optimizer steps of 1e-5 move each entry of lora_B by about as much.
            each.lora_B["default"].weight.normal_(std=1e-4)
        rows = torch.randn(512, attention.q_proj.in_features).to(torch.bfloat16)
        trained = torch.cat([each(rows) for each in projections], -1)
        merged = rows @ torch.cat([merged_weight(each) for each in projections]).T
    assert torch.equal(llama_decoder._joined(projections)(rows), trained)
    assert not torch.equal(merged, trained)


def test_logprobs_are_those_of_the_sampled_ids(tiny_model: Any) -> None:
    (made,) = generate(decoder_for(tiny_model), {"a": PROMPT}, Sampling(0.7, 1.0, 8))
    logprobs = (logits_of(tiny_model, PROMPT + made.ids) / 0.7).log_softmax(-1)
    expected = [logprobs[len(PROMPT) - 1 + i, token].item() for i, token in enumerate(made.ids)]
    assert made.logprobs == pytest.approx(expected, abs=1e-4)
    assert made.finish_reason == "length"


def test_neighbours_do_not_change_an_answer(tiny_model: Any) -> None:
    alone = generate(decoder_for(tiny_model), {"a": PROMPT}, Sampling(1.0, 1.0, 10))
    crowd = {"x": PROMPT[5:], "a": PROMPT, "y": PROMPT[:7], "z": PROMPT}
    assert generate(decoder_for(tiny_model), crowd, Sampling(1.0, 1.0, 10))[1].ids == alone[0].ids


def test_greedy_takes_the_most_likely(tiny_model: Any) -> None:
    (made,) = generate(decoder_for(tiny_model), {"a": PROMPT}, Sampling(0.0, 1.0, 4))
    ids = list(PROMPT)
    for token in made.ids:
        assert token == int(logits_of(tiny_model, ids)[-1].argmax())
        ids.append(token)


def test_a_small_nucleus_is_greedy(tiny_model: Any) -> None:
    (narrow,) = generate(decoder_for(tiny_model), {"a": PROMPT}, Sampling(1.0, 1e-9, 4))
    (greedy,) = generate(decoder_for(tiny_model), {"a": PROMPT}, Sampling(0.0, 1.0, 4))
    assert narrow.ids == greedy.ids
    assert narrow.logprobs == pytest.approx([0.0] * 4)


def test_a_turn_goes_on_from_what_is_cached(tiny_model: Any) -> None:
    generator = Generator(decoder_for(tiny_model), stop_ids={2}, context=512)
    try:
        first = generator.submit("a", PROMPT, Sampling(1.0, 1.0, 5), 1).result(LIMIT_S)
        again = [*PROMPT, *first.ids, 50, 51]
        second = generator.submit("a", again, Sampling(0.0, 1.0, 3), 1).result(LIMIT_S)
        other = generator.submit("b", [*PROMPT, 9], Sampling(1.0, 1.0, 1), 1).result(LIMIT_S)
        assert first.cached_tokens == 0
        assert second.cached_tokens == len(PROMPT) + 4  # the last sampled id was never an input
        assert other.cached_tokens == len(PROMPT)
        assert second.ids[0] == int(logits_of(tiny_model, again)[-1].argmax())
        before = generator.computed_tokens
        generator.refresh()
        generator.submit("a", again, Sampling(1.0, 1.0, 1), 1).result(LIMIT_S)
        assert generator.computed_tokens - before == len(again)
    finally:
        generator.close()


def test_more_sessions_than_slots_all_get_answers(tiny_model: Any) -> None:
    prompts = {f"s{index}": PROMPT[index % 7 :] for index in range(20)}
    made = generate(decoder_for(tiny_model), prompts, Sampling(1.0, 1.0, 6), slots=3)
    assert [len(answer.ids) for answer in made] == [6] * 20
    assert made[0].ids == made[7].ids  # the same prompt and seed


def test_the_end_mark_ends(tiny_model: Any) -> None:
    (made,) = generate(decoder_for(tiny_model), {"a": PROMPT}, Sampling(0.0, 1.0, 5))
    generator = Generator(decoder_for(tiny_model), stop_ids={made.ids[0]}, context=512)
    ended = generator.submit("a", PROMPT, Sampling(0.0, 1.0, 5), 0).result(LIMIT_S)
    generator.close()
    assert (ended.ids, ended.finish_reason) == (made.ids[:1], "stop")


def test_a_full_context_is_refused_and_the_last_place_is_used(tiny_model: Any) -> None:
    generator = Generator(decoder_for(tiny_model), stop_ids={2}, context=42)
    with pytest.raises(ContextExceededError, match="42"):
        generator.submit("a", list(range(300, 342)), Sampling(), 0).result(LIMIT_S)
    made = generator.submit("b", PROMPT, Sampling(1.0, 1.0, 10), 0).result(LIMIT_S)
    generator.close()
    assert (len(made.ids), made.finish_reason) == (2, "length")


def test_a_broken_pass_answers_its_callers(tiny_model: Any) -> None:
    decoder = decoder_for(tiny_model)
    generator = Generator(decoder, stop_ids={2}, context=512)
    extend, decoder.extend = decoder.extend, lambda entries: (_ for _ in ()).throw(RuntimeError("no memory"))
    with pytest.raises(RuntimeError, match="no memory"):
        generator.submit("a", PROMPT, Sampling(1.0, 1.0, 2), 0).result(LIMIT_S)
    decoder.extend = extend
    assert len(generator.submit("a", PROMPT, Sampling(1.0, 1.0, 2), 0).result(LIMIT_S).ids) == 2
    generator.close()


def test_an_error_at_admission_answers_its_caller_before_the_pass_computes(tiny_model: Any) -> None:
    """The failed request has its error before anything is computed for the others, which get their answers."""
    decoder = decoder_for(tiny_model)
    copy, extend = decoder.copy, decoder.extend
    all_asked = threading.Event()
    failed: list[str] = []
    answered: list[bool] = []

    def broken(source: str | None, target: str, length: int) -> None:
        copy(source, target, length)
        if target == "a":
            assert all_asked.wait(LIMIT_S)
            failed.append(target)
            raise RuntimeError("no room")

    def watched(entries: Sequence[Entry]) -> torch.Tensor:
        answered.extend(asked[name].done() for name in failed)
        return extend(entries)

    decoder.copy, decoder.extend = broken, watched  # pyright: ignore
    generator = Generator(decoder, stop_ids={2}, context=512)
    asked = {name: generator.submit(name, PROMPT, Sampling(1.0, 1.0, 2), 0) for name in "bac"}
    all_asked.set()
    assert [len(asked[name].result(LIMIT_S).ids) for name in "bc"] == [2, 2]
    assert answered and all(answered)
    with pytest.raises(RuntimeError, match="no room"):
        asked["a"].result(0)
    assert isinstance(decoder, LlamaDecoder) and "a" not in decoder._slots
    generator.close()


def test_an_error_at_admission_needs_no_pass(tiny_model: Any) -> None:
    """With nothing else to compute, the error comes without a pass of the model."""
    decoder = decoder_for(tiny_model)
    computed: list[int] = []

    def broken(_source: str | None, _target: str, _length: int) -> None:
        raise RuntimeError("no room")

    decoder.copy = broken  # pyright: ignore
    decoder.extend = lambda entries: computed.append(len(entries)) or torch.zeros(0)
    generator = Generator(decoder, stop_ids={2}, context=512)
    with pytest.raises(RuntimeError, match="no room"):
        generator.submit("a", PROMPT, Sampling(1.0, 1.0, 2), 0).result(LIMIT_S)
    generator.close()
    assert computed == []


def test_a_caller_that_gives_up_takes_no_other_along(tiny_model: Any) -> None:
    generator = Generator(decoder_for(tiny_model), stop_ids={10**6}, context=512)
    left, kept = (generator.submit(name, PROMPT, Sampling(1.0, 1.0, 30), 0) for name in "ab")
    left.cancel()
    assert len(kept.result(LIMIT_S).ids) == 30
    generator.close()


def test_a_session_that_is_closed_before_its_turn_is_answered_after_a_few_passes(tiny_model: Any) -> None:
    generator = Generator(decoder_for(tiny_model), stop_ids={10**6}, context=10**6, slots=1)
    first = generator.submit("first", PROMPT, Sampling(1.0, 1.0, 10**5), 0)
    until("tokens are sampled", lambda: generator.sampled_tokens > 1)
    waiting = generator.submit("waiting", PROMPT, Sampling(1.0, 1.0, 2), 0)
    before = generator.sampled_tokens
    generator.release("waiting")
    with pytest.raises(RuntimeError, match="the session was closed"):
        waiting.result(LIMIT_S)
    # A pass samples at most 16 tokens with the guesses. Without a turn, thousands were sampled first.
    assert generator.sampled_tokens - before < 200
    generator.close()
    with pytest.raises(RuntimeError, match="the generator was closed"):
        first.result(LIMIT_S)


@pytest.mark.parametrize(
    ("left", "right", "limit", "length"),
    [([1, 2, 3], [1, 2, 4], 9, 2), ([1, 2], [1, 2, 3], 9, 2), ([1, 2], [1, 2], 1, 1), ([], [1], 9, 0)],
)
def test_common_prefix(left: list[int], right: list[int], limit: int, length: int) -> None:
    assert common_prefix(left, right, limit) == length


def test_a_session_that_is_closed_takes_no_other_along(tiny_model: Any) -> None:
    generator = Generator(decoder_for(tiny_model), stop_ids={10**6}, context=10**6)
    try:
        # Without being closed, the session would continue for a long time.
        closed, kept = (
            generator.submit(name, PROMPT, Sampling(1.0, 1.0, length), seed=7)
            for name, length in (("closed", 10**5), ("kept", 200))
        )
        until("tokens are sampled", lambda: generator.sampled_tokens > 1)
        generator.release("closed")
        with pytest.raises(RuntimeError, match="the session was closed"):
            closed.result(LIMIT_S)
        assert len(kept.result(LIMIT_S).ids) == 200
    finally:
        generator.close()


@pytest.mark.parametrize("kind", all_in_full_suite(["llama", "module"], ["module"]))
def test_what_is_guessed_changes_no_answer(kind: str, tiny_model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeats the same requests: tokens of the later ones are guessed, some of them wrongly."""
    after = NgramSpeculator.propose
    spoiled = cycle((0, 1, 1))
    monkeypatch.setattr(NgramSpeculator, "propose", lambda *given: [token + next(spoiled) for token in after(*given)])
    decoder = LlamaDecoder(tiny_model.eval()) if kind == "llama" else ModuleDecoder(tiny_model)
    prompts = {name: [*PROMPT, at] for at, name in enumerate("abc", 100)}
    asked = [(name, temperature, seed) for seed in range(3) for temperature in (0.0, 0.3, 1.0) for name in prompts]
    alone = [
        generate(decoder, {name: prompts[name]}, Sampling(temperature, 1.0, 12), seed)[0]
        for name, temperature, seed in asked
    ]
    guesses: list[int] = []
    extend = decoder.extend

    def counted(entries: Sequence[Entry]) -> torch.Tensor:
        guesses.extend(wanted - 1 for *_, wanted in entries)
        return extend(entries)

    decoder.extend = counted
    generator = Generator(decoder, stop_ids={2}, context=512)
    try:
        for together in range(0, len(asked), len(prompts)):
            some = asked[together : together + len(prompts)]
            futures = [
                generator.submit(f"{name}{together}", prompts[name], Sampling(temperature, 1.0, 12), seed)
                for name, temperature, seed in some
            ]
            for future, known in zip(futures, alone[together : together + len(prompts)], strict=True):
                found = future.result(LIMIT_S)
                assert found.ids == known.ids
                assert found.logprobs == pytest.approx(known.logprobs, abs=1e-4)
        assert sum(guesses) > 0 and generator.sampled_tokens < len(guesses) + sum(guesses), "some were wrong"
    finally:
        generator.close()


def test_a_guess_says_what_came_after_the_same_words() -> None:
    drafts = NgramSpeculator(stop_ids={6})
    drafts.learn([1, 2, 3, 4, 5, 6, 7])
    assert drafts.propose([9, 1, 2, 3], 9) == [4, 5]
    assert drafts.propose([9, 9, 2, 3], 1) == [4]
    assert drafts.propose([9, 9, 9], 9) == [] == drafts.propose([1], 9)
    drafts.learn([7, 2, 3, 8])
    assert (drafts.propose([1, 2, 3], 1), drafts.propose([0, 2, 3], 1)) == ([4], [8])


@pytest.mark.skipif(sys.platform != "linux", reason="torch brings libgomp on Linux alone")
def test_threads_that_were_let_go_come_back() -> None:
    usual = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        matrix = torch.randn(400, 400)
        before = matrix @ matrix
        pool = len(list(Path("/proc/self/task").iterdir()))
        assert release_threads()
        assert len(list(Path("/proc/self/task").iterdir())) < pool
        torch.testing.assert_close(matrix @ matrix, before)
    finally:
        torch.set_num_threads(usual)
