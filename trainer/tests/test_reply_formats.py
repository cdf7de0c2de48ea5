"""Tests the parsing of answers in each format, complete and broken."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from conftest import RUNS, TOOLS, chat_with
from hypothesis import given, settings
from hypothesis import strategies as st

from rehearsal_trainer.chat.chat import Chat
from rehearsal_trainer.chat.reply_formats import mistral_calls
from rehearsal_trainer.models.loading import load_tokenizer
from rehearsal_trainer.values.messages import Message, Tool, ToolCall

TEMPLATES = ["compact", "qwen2_5", "qwen3"]
ASKED = [Message("user", "Where is P1?")]


@cache
def chat_of(template: str) -> Chat:
    return chat_with(load_tokenizer("tiny"), template)


def decoded(value: str) -> str:
    tokenizer = chat_of("compact").tokenizer
    return tokenizer.decode(tokenizer(value, add_special_tokens=False)["input_ids"])


names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
# SmolLM2's vocabulary lacks some bytes, so that rare characters are not read back by anyone.
text = st.text(st.characters(max_codepoint=0x2FFF, categories=["L", "N", "P", "Z"]), max_size=12).filter(
    lambda value: "tool_call>" not in value and decoded(value) == value
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
calls = st.lists(st.tuples(names, st.dictionaries(names, values, max_size=4)), max_size=3)


@cache
def reader(template: str) -> Callable[[str], Any]:
    """Reads a text as what the model sampled."""
    chat = chat_of(template)
    return lambda written: chat.parse(
        [*chat.tokenizer(written, add_special_tokens=False)["input_ids"], chat.tokenizer.eos_token_id], [], TOOLS
    )


@pytest.mark.parametrize("template", TEMPLATES)
@settings(max_examples=40 * RUNS)
@given(made=calls)
def test_what_is_rendered_is_read_back(template: str, made: list[tuple[str, dict[str, Any]]]) -> None:
    chat = chat_of(template)
    reply = Message("assistant", "Just a moment.", [ToolCall("x", tool, arguments) for tool, arguments in made])
    parsed = chat.parse(chat.template.reply_ids(ASKED, reply, TOOLS), [], TOOLS)
    assert parsed.content == "Just a moment."
    assert list(parsed.calls) == made


@pytest.mark.parametrize("template", TEMPLATES)
@settings(max_examples=40 * RUNS)
@given(written=st.text(max_size=60))
def test_reading_never_fails(template: str, written: str) -> None:
    for each in (written, f"<tool_call>{written}", f"<think>{written}", f"<think>{written}</think><tool_call>{{"):
        reader(template)(each)


@pytest.mark.parametrize(
    ("template", "written", "call"),
    [
        ("compact", 'a(x="1")', ("a", {"x": "1"})),
        ("compact", "a()", ("a", {})),
        ("compact", '{"name": "a", "arguments": {"x": 1}}', ("a", {"x": 1})),
        ("compact", 'a(x="1"', ("a", 'a(x="1"')),
        ("compact", "a(x=foo)", ("a", "a(x=foo)")),
        ("compact", "a(x=1, x=2)", ("a", "a(x=1, x=2)")),
        ("compact", "a(x=1 y=2)", ("a", "a(x=1 y=2)")),
        ("compact", "a(x=1) and more", ("a", "a(x=1) and more")),
        ("compact", "nonsense", ("malformed", "nonsense")),
        ("qwen2_5", '{"name": "a", "arguments": {}}', ("a", {})),
        ("qwen2_5", '{"name": "a"}', ("a", {})),
        ("qwen2_5", '{"name": "a", "arguments": [1]}', ("a", '{"name": "a", "arguments": [1]}')),
        ("qwen2_5", '{"name": "a", "arguments": {', ("a", '{"name": "a", "arguments": {')),
        ("qwen2_5", "a(x=1)", ("malformed", "a(x=1)")),
    ],
)
def test_a_call_is_read_or_kept_raw(template: str, written: str, call: tuple[str, Any]) -> None:
    for text_of_call in (f"<tool_call>{written}</tool_call>", f"<tool_call>{written}"):
        assert list(reader(template)(text_of_call).calls) == [call]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_call_inside_a_thought_is_not_run(template: str) -> None:
    thought = '<tool_call>{"name": "a", "arguments": {}}</tool_call>'
    for written in (f"<think>\n{thought}\n</think>\n\nNo.", f"<think>\n{thought}"):
        parsed = reader(template)(written)
        assert list(parsed.calls) == []
        assert (parsed.content, parsed.reasoning) == ("No." if "No." in written else None, thought)


@pytest.mark.parametrize(
    ("written", "content", "read"),
    [
        (
            'Wait.[TOOL_CALLS][{"name": "a", "arguments": {"x": 1}}, {"name": "b"}]',
            "Wait.",
            [("a", {"x": 1}), ("b", {})],
        ),
        ('[TOOL_CALLS]a[CALL_ID]9[ARGS]{"x": 1}[TOOL_CALLS]b[ARGS]{}', "", [("a", {"x": 1}), ("b", {})]),
        ('[TOOL_CALLS]a[ARGS]{"x": ', "", [("a", None)]),
        ("[TOOL_CALLS][{]", "", [(None, None)]),
    ],
)  # fmt: skip
def test_calls_of_mistral(written: str, content: str, read: list[Any]) -> None:
    said, made = mistral_calls(written)
    assert (said, [(call.name, call.arguments) for call in made]) == (content, read)


def test_compact_shows_a_tool_in_one_line() -> None:
    schema = {
        "type": "object",
        "properties": {
            "day": {"enum": ["Mon", "Tue"]},
            "items": {"type": "array", "items": {"type": "integer"}},
            "to": {"type": "object", "properties": {"street": {"type": "string"}}},
            "level": {"type": ["integer", "null"]},
            "kind": {"const": "a"},
            "free": {},
        },
        "required": ["day"],
    }
    chat = chat_of("compact")
    ids = chat.template.prompt_ids([Message("system", " Be kind.\n")], [*TOOLS, Tool("move", "Moves\n it.", schema)])
    assert chat.tokenizer.decode(ids) == (
        "<|im_start|>system\nBe kind.\n\nTools:\n"
        "find_parcel(parcel: string) - Where a parcel is.\n"
        'move(day: "Mon"|"Tue", items?: [integer], to?: {street?: string}, level?: integer|null, kind?: "a", '
        "free?: any) - Moves it.\n"
        "Call a tool with <tool_call>name(key=value)</tool_call><|im_end|>\n<|im_start|>assistant\n"
    )
