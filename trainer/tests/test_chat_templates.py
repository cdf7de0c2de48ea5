"""Compares our token ids with the models' own chat templates, token by token, for each family."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Sequence
from typing import Any

import pytest
from conftest import RUNS, template_of
from model_families import FAMILIES, Family, chat_of, tokenizer_of

from rehearsal_trainer.chat.chat import Chat, template_options
from rehearsal_trainer.chat.masks import Row
from rehearsal_trainer.chat.reply_formats import tool_json
from rehearsal_trainer.values.failures import ModelError
from rehearsal_trainer.values.messages import Message, Tool, ToolCall

CONVERSATIONS = 8 * RUNS
TOOLS = [
    Tool(
        "find_parcel",
        "Where a parcel is.",
        {
            "type": "object",
            "properties": {
                "parcel": {"type": "string", "description": "Its number."},
                "days": {"type": "integer"},
                "fast": {"type": "boolean"},
                "to": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
            "required": ["parcel"],
        },
    ),
    Tool("list_parcels", "All parcels.", {"type": "object", "properties": {}}),
]
WORDS = [
    "P1",
    "Köln",
    "naïve",
    "東京",
    "🙂",
    "a <b> c",
    '"quoted"',
    "{json: 1}",
    "3.5",
    "line\nbreak",
    "it's",
    "שלום",
    "\\n",
]

VARIANTS = (
    "Qwen3-2507", "Qwen3.5 thinking", "Qwen3.6 thinking", "Qwen3.8 thinking", "Llama 3.2", "Gemma 4 thinking",
    "GLM 4.5 thinking", "Nemotron 3 Ultra",
)  # fmt: skip
"""Families whose template is like that of another family in `npm test`. Qwen3 is tried with and without reasoning."""
TRIED = [pytest.param(each, marks=pytest.mark.full) if each.name in VARIANTS else each for each in FAMILIES]


@pytest.mark.parametrize("family", TRIED, ids=lambda family: family.name)
def test_a_model_is_given_what_its_own_template_renders(family: Family) -> None:
    """Checks the ids of every prompt: several calls per message, results, reasoning, Unicode, empty contents."""
    draw = random.Random(family.name)
    chat, tokenizer = chat_of(family), tokenizer_of(family)
    for _ in range(CONVERSATIONS):
        messages = conversation(family, draw)
        assert chat.template.prompt_ids(messages, TOOLS) == rendered(tokenizer, family, messages)


@pytest.mark.parametrize("family", TRIED, ids=lambda family: family.name)
def test_every_answer_is_read_back(family: Family) -> None:
    draw = random.Random(family.name)
    chat = chat_of(family)
    for _ in range(CONVERSATIONS):
        before = conversation(family, draw)
        said = answer(family, draw, "x")
        ids = chat.template.reply_ids(before, said, TOOLS)
        parsed = chat.parse(ids, chat.template.prompt_ids(before, TOOLS), TOOLS)
        wanted = [(call.name, call.arguments) for call in said.tool_calls]
        assert (parsed.content, parsed.reasoning, list(parsed.calls)) == (said.content, said.reasoning, wanted)


@pytest.mark.parametrize("family", TRIED, ids=lambda family: family.name)
def test_a_row_that_grows_is_what_the_template_renders_at_once(family: Family) -> None:
    """Compares a row that grows by bridge ids with a new rendering of the whole conversation."""
    draw = random.Random(family.name)
    chat, tokenizer = chat_of(family), tokenizer_of(family)
    grown = 0
    for _ in range(CONVERSATIONS // 4):
        messages = conversation(family, draw, turns=3)
        asked = [at for at, message in enumerate(messages) if message.role == "assistant"]
        row: Row | None = None
        for at, until in zip(asked, [*asked[1:], len(messages)], strict=True):
            before, said, new = messages[:at], messages[at], messages[at + 1 : until]
            if row is None:
                row = Row()
                row.append_given(chat.template.prompt_ids(before, TOOLS))
            row.append_learned(chat.template.reply_ids(before, said, TOOLS))
            bridge = chat.template.bridge_ids(before, said, new, TOOLS, row.ids[-1])
            if bridge is None:
                row = None
                continue
            row.append_given(bridge)
            whole = rendered(tokenizer, family, messages[:until])
            assert without_thoughts(chat, row.ids) == without_thoughts(chat, whole)
            grown += 1
    assert grown > 0


@pytest.mark.parametrize("template", ["deepseekv3", "deepseek_r1_distill"])
def test_the_own_templates_of_deepseek_are_refused_for_they_show_no_tools(template: str) -> None:
    family = next(each for each in FAMILIES if each.name == "DeepSeek V3")
    tokenizer = copy.deepcopy(tokenizer_of(family))
    tokenizer.chat_template = template_of(template)
    stops = tokenizer.convert_tokens_to_ids(list(family.stops))
    with pytest.raises(ModelError, match=r"shows it no tools\..* put a chat_template.jinja that shows tools into"):
        Chat.of(tokenizer, stops)


def conversation(family: Family, draw: random.Random, turns: int | None = None) -> list[Message]:
    """Returns a conversation with a system prompt, questions, answers, calls and results; the model speaks next."""
    messages = [Message("system", sentence(draw)), Message("user", sentence(draw))]
    for turn in range(draw.randrange(4) if turns is None else turns):
        said = answer(family, draw, f"{turn}")
        messages.append(said)
        results = [
            Message("tool", draw.choice(["", '{"a": 1}', sentence(draw)]), call_id=c.id) for c in said.tool_calls
        ]
        messages += results or [Message("user", draw.choice(["", sentence(draw)]))]
    return messages


def answer(family: Family, draw: random.Random, number: str) -> Message:
    reasoning = sentence(draw) if family.always_thinks or (family.thinks and draw.random() < 0.7) else None
    count = draw.randrange(family.most_calls + 1)
    calls = [call(draw, f"call-{number}-{at}") for at in range(count)]
    speaks = not calls or (family.speaks_beside_calls and draw.random() < 0.4)
    return Message("assistant", sentence(draw) if speaks else None, calls, reasoning=reasoning)


def call(draw: random.Random, identity: str) -> ToolCall:
    if draw.random() < 0.2:
        return ToolCall(identity, "list_parcels", {})
    arguments: dict[str, Any] = {"parcel": sentence(draw)}
    for name, value in (("days", draw.randrange(9)), ("fast", draw.random() < 0.5), ("to", {"city": sentence(draw)})):
        if draw.random() < 0.5:
            arguments[name] = value
    return ToolCall(identity, "find_parcel", arguments)


def sentence(draw: random.Random) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randrange(1, 5)))


def rendered(tokenizer: Any, family: Family, messages: Sequence[Message]) -> list[int]:
    """Returns the ids that transformers renders without our code."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    given: list[dict[str, Any]] = []
    for message in messages:
        plain: dict[str, Any] = {"role": message.role, "content": message.content or ""}
        if message.reasoning:
            plain |= {"reasoning_content": message.reasoning, "thinking": message.reasoning}
        if message.tool_calls:
            plain["tool_calls"] = [
                {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
                for each in message.tool_calls
            ]
        if message.call_id is not None:
            plain |= {"tool_call_id": message.call_id, "name": names[message.call_id]}
        given.append(plain)
    options = template_options(family.thinks)
    template = tokenizer.chat_template.replace('strftime_now("%Y-%m-%d")', '"2024-07-26"')
    template = template.replace('strftime_now("%d %b %Y")', '"26 Jul 2024"')
    ids = tokenizer.apply_chat_template(
        given, tools=[tool_json(tool) for tool in TOOLS], add_generation_prompt=True, tokenize=True,
        return_dict=False, chat_template=template, **options,
    )  # fmt: skip
    return list(ids)


def without_thoughts(chat: Any, ids: Sequence[int]) -> str:
    """Returns the text of a row without the empty reasoning that a template writes only into the last turn."""
    return re.sub(r"<think>\s*</think>\s*", "", chat.tokenizer.decode(ids))
