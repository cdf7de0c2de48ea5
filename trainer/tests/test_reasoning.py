"""Tests that reasoning is neither shown to the user nor run, for each family with the reader of its format."""

from __future__ import annotations

from typing import Any

import pytest
from model_families import FAMILIES, Family, chat_of
from test_chat_templates import TOOLS

from rehearsal_trainer.chat.reasoning import separate
from rehearsal_trainer.gateway.session import Session
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values.messages import Message, ToolCall

ASKED = [Message("system", "Be brief."), Message("user", "Is P1 here?")]
CALL = Message("assistant", None, [ToolCall("call-1", "find_parcel", {"parcel": "P1"})])


def marks_of(family: Family) -> tuple[str, str]:
    """Returns the texts that start and end a thought."""
    if family.name == "gpt-oss":
        return "<|channel|>analysis<|message|>", "<|end|><|start|>assistant"
    return ("<|channel>thought\n", "<channel|>") if "Gemma" in family.name else ("<think>", "</think>")


def said_after(family: Family, written: str, messages: list[Message]) -> Message:
    """Returns what a session makes of a text that the model sampled."""
    chat = chat_of(family)
    session = Session(chat, Sampling(), "x")
    session.prompt(messages, TOOLS)
    is_call = family.name == "gpt-oss" and written.endswith("}")  # calls have a different end mark
    end = chat.tokenizer.convert_tokens_to_ids("<|call|>") if is_call else min(chat.stop_ids)
    ids = [*chat.tokenizer(written, add_special_tokens=False)["input_ids"], end]
    return session.reply(ids, [0.0] * len(ids), "stop")


def answer_of(family: Family, message: Message) -> str:
    """Returns the text of an answer as the family's template writes it, without reasoning and end mark."""
    chat = chat_of(family)
    ids = chat.template.reply_ids(ASKED, message, TOOLS)
    text = chat.tokenizer.decode([token for token in ids if token not in chat.stop_ids])
    if family.name == "gpt-oss":
        return text
    return text.rpartition(marks_of(family)[1])[2].strip()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_thought_is_neither_shown_nor_run(family: Family) -> None:
    opening, closing = marks_of(family)
    call, visible = answer_of(family, CALL), answer_of(family, Message("assistant", "VISIBLE"))
    thought = f"SECRET {call} SECRET"
    closed, unclosed = f"{opening}{thought}{closing}", f"{opening}{thought}"
    for written, is_said in (
        (f"{closed}{visible}", True),
        (f"\n{closed}\n\n{visible}", True),
        (f"{closed}{closed}{visible}", True),
        (unclosed, False),
        (f"{opening}SECRET{closing}{unclosed}", False),
    ):
        said = said_after(family, written, ASKED)
        assert (said.content, list(said.tool_calls)) == ("VISIBLE" if is_said else None, []), written
        assert said.reasoning is not None and "SECRET" in said.reasoning
    said = said_after(family, f"{closed}{call}", ASKED)
    assert [(each.name, each.arguments) for each in said.tool_calls] == [("find_parcel", {"parcel": "P1"})]
    assert said.content is None


@pytest.mark.parametrize("family", [each for each in FAMILIES if each.name != "gpt-oss"], ids=lambda each: each.name)
def test_a_thought_that_the_prompt_opened_or_that_follows_text_is_neither_shown_nor_run(family: Family) -> None:
    opening, closing = marks_of(family)
    call, visible = answer_of(family, CALL), answer_of(family, Message("assistant", "VISIBLE"))
    said = said_after(family, f"SECRET {call} SECRET{closing}{visible}", ASKED)
    assert (said.content, list(said.tool_calls)) == ("VISIBLE", [])
    chat = chat_of(family)
    if chat.tokenizer.decode(chat.template.prompt_ids(ASKED, TOOLS)).rstrip().endswith(opening.strip()):
        assert said_after(family, f"SECRET {call}", ASKED).content is None
    else:
        said = said_after(family, f"VISIBLE {opening}SECRET {call}{closing}", ASKED)
        assert (said.content, list(said.tool_calls)) == ("VISIBLE", [])


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_marks_of_reasoning_in_arguments_are_text(family: Family) -> None:
    chat = chat_of(family)
    arguments = {"parcel": 'a "<think>" </think> b'}
    called = Message("assistant", None, [ToolCall("call-1", "find_parcel", arguments)])
    ids = chat.template.reply_ids(ASKED, called, TOOLS)
    parsed = chat.parse(ids, chat.template.prompt_ids(ASKED, TOOLS), TOOLS)
    assert list(parsed.calls) == [("find_parcel", arguments)]


def test_the_thought_of_an_earlier_answer_does_not_hide_the_next_one() -> None:
    family = next(each for each in FAMILIES if each.name == "Qwen3 thinking")
    cut = Message("assistant", None, reasoning="Well")
    said = said_after(family, "VISIBLE", [*ASKED, cut, Message("user", "Continue.")])
    assert (said.content, said.reasoning) == ("VISIBLE", None)


def test_only_the_reasoning_channel_of_gpt_oss_is_hidden() -> None:
    family = next(each for each in FAMILIES if each.name == "gpt-oss")
    preamble = "<|channel|>commentary<|message|>One moment.<|end|><|start|>assistant"
    secret = "<|channel|>analysis to=functions.find_parcel<|message|>{}<|end|><|start|>assistant"
    said = said_after(family, f"{preamble}{secret}{answer_of(family, CALL)}", ASKED)
    assert (said.content, said.reasoning) == ("One moment.", "{}")
    assert [each.name for each in said.tool_calls] == ["find_parcel"]


@pytest.mark.parametrize(
    ("prompt", "written", "reasoning", "said"),
    [
        ("assistant\n<think>\n", "SECRET</think>\n\nVISIBLE", "SECRET", "VISIBLE"),
        ("assistant\n<think>\n", "SECRET", "SECRET", ""),
        ("assistant\n", "<think>SECRET</think> VISIBLE", "SECRET", "VISIBLE"),
        ("assistant\n", "VISIBLE <think>SECRET", "SECRET", "VISIBLE"),
        ("assistant\n", "SECRET</think>VISIBLE", "SECRET", "VISIBLE"),
        ("assistant\n", "[THINK]SECRET 🙂[/THINK]東京", "SECRET 🙂", "東京"),
        ("assistant\n", "VISIBLE", None, "VISIBLE"),
    ],
)
def test_marks_that_are_not_tokens_are_found_in_the_text(
    tokenizer: Any, prompt: str, written: str, reasoning: str | None, said: str
) -> None:
    sampled, given = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (written, prompt))
    separated = separate(tokenizer, [*sampled, tokenizer.eos_token_id], given, {tokenizer.eos_token_id})
    assert (separated.reasoning, tokenizer.decode(separated.ids[:-1]).strip()) == (reasoning, said)
