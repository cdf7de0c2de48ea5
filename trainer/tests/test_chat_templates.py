"""Compares our token ids with the models' own chat templates, token by token, for each family."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from conftest import RUNS, template_of
from model_families import FAMILIES, Family, chat_of, tokenizer_of

from rehearsal_trainer.chat.chat import Chat, template_options
from rehearsal_trainer.chat.chat_template import rendered_id
from rehearsal_trainer.chat.reply_formats import tool_json
from rehearsal_trainer.gateway.session import Session
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values.failures import ModelError
from rehearsal_trainer.values.messages import Message, Tool, ToolCall

CONVERSATIONS = 10 * RUNS
GROWN = CONVERSATIONS if RUNS > 1 else 3
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

EMPTY_THOUGHT = re.compile(r"<think>\s*</think>\s*")
REWRITTEN = (
    "Qwen3",
    "Qwen3 thinking",
    "Qwen3.5",
    "Qwen3.5 thinking",
    "Qwen3.6 thinking",
    "Nemotron 3 Nano",
    "Nemotron 3 Ultra",
)
"""Families whose template leaves out empty thoughts of earlier turns, or writes them differently."""
ALWAYS_REWRITTEN = ("Qwen3",)

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
        said = padded(answer(family, draw, "x"), draw)
        ids = chat.template.reply_ids(before, said, TOOLS)
        parsed = chat.parse(ids, chat.template.prompt_ids(before, TOOLS), TOOLS)
        wanted = [(call.name, call.arguments) for call in said.tool_calls]
        content = (said.content or "").strip() or None
        assert (parsed.content, parsed.reasoning, list(parsed.calls)) == (content, said.reasoning, wanted)


@pytest.mark.parametrize("exact_history", [False, True], ids=["keeps-empty-thoughts", "exact-history"])
@pytest.mark.parametrize("family", TRIED, ids=lambda family: family.name)
def test_a_row_that_grows_is_what_the_template_renders_at_once(family: Family, exact_history: bool) -> None:
    """Compares a row that grows by bridge ids with a new rendering of the whole conversation.

    The ids are those of the template's text, tokenized in the parts that the model was given and sampled. Without
    exact_history, the row may keep an empty thought at the start of an answer where the template leaves it out or
    writes it differently, and may differ in nothing else.
    """
    draw = random.Random(family.name)
    chat, tokenizer = chat_of(family, exact_history), tokenizer_of(family)
    grown = kept = 0
    for _ in range(GROWN):
        messages = conversation(family, draw, turns=3)
        asked = [at for at, message in enumerate(messages) if message.role == "assistant"]
        parts: list[list[int]] = []
        for at, until in zip(asked, [*asked[1:], len(messages)], strict=True):
            before, said, new = messages[:at], messages[at], messages[at + 1 : until]
            parts = parts or [chat.template.prompt_ids(before, TOOLS)]
            parts.append(chat.template.reply_ids(before, said, TOOLS))
            bridge = chat.template.bridge_ids(before, said, new, TOOLS, parts[-1][-1])
            if bridge is None:
                parts = []
                continue
            parts.append(bridge)
            whole = tokenizer.decode(rendered(tokenizer, family, messages[:until]))
            texts = [tokenizer.decode(part) for part in parts]
            assert parts == [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
            if whole != "".join(texts):
                assert not exact_history
                assert re.fullmatch(without_thoughts(texts), whole)
                kept += 1
            grown += 1
    assert grown > 0 or (exact_history and family.name in ALWAYS_REWRITTEN)
    assert not kept or family.name in REWRITTEN


def test_a_call_has_the_id_that_the_model_wrote() -> None:
    family = next(each for each in FAMILIES if each.name == "Mistral Small 3.2")
    chat = chat_of(family)
    messages = [Message("user", "Where is P1?")]
    session = Session(chat, Sampling(), "x")
    session.prompt(messages, TOOLS)
    written = '[TOOL_CALLS]find_parcel[CALL_ID]Ab3dE6gH9[ARGS]{"parcel": "P1"}</s>'
    ids = chat.tokenizer(written, add_special_tokens=False)["input_ids"]
    said = session.reply(ids, [0.0] * len(ids), "stop")
    row = session.prompt([*messages, said, Message("tool", "here", call_id=said.tool_calls[0].id)], TOOLS)
    assert len(session.rows) == 1
    assert chat.tokenizer.decode(row).endswith(f"{written}[TOOL_RESULTS]Ab3dE6gH9[TOOL_CONTENT]here[/TOOL_RESULTS]")


def test_a_refusal_names_what_the_template_said() -> None:
    family = next(each for each in FAMILIES if each.name == "Mistral 7B v0.3")
    tokenizer = copy.deepcopy(tokenizer_of(family))
    tokenizer.chat_template = tokenizer.chat_template.replace("length != 9", "length != 8")
    with pytest.raises(ModelError, match=r"does not take this conversation: An id of a call has nine characters\."):
        Chat.of(tokenizer, tokenizer.convert_tokens_to_ids(list(family.stops)))


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
    speaks = (not calls or family.speaks_beside_calls) and draw.random() < (0.4 if calls else 0.9)
    return Message("assistant", sentence(draw) if speaks else None, calls, reasoning=reasoning)


def padded(said: Message, draw: random.Random) -> Message:
    """Returns an answer with white space around its content, or with an empty one instead of none."""
    if not said.content:
        return replace(said, content=draw.choice(["", None]))
    return replace(said, content=draw.choice(["{}", "  {}", "\n{}\n\n", "{}\n"]).format(said.content))


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
    calls = {call.id: call for message in messages for call in message.tool_calls}
    given: list[dict[str, Any]] = []
    for message in messages:
        plain: dict[str, Any] = {"role": message.role, "content": message.content or ""}
        if message.reasoning:
            plain |= {"reasoning_content": message.reasoning, "thinking": message.reasoning}
        if message.tool_calls:
            plain["tool_calls"] = [
                {
                    "id": rendered_id(each),
                    "type": "function",
                    "function": {"name": each.name, "arguments": each.arguments},
                }
                for each in message.tool_calls
            ]
        if message.call_id is not None:
            plain |= {"tool_call_id": rendered_id(calls[message.call_id]), "name": calls[message.call_id].name}
        given.append(plain)
    options = template_options(family.thinks)
    template = tokenizer.chat_template.replace('strftime_now("%Y-%m-%d")', '"2024-07-26"')
    template = template.replace('strftime_now("%d %b %Y")', '"26 Jul 2024"')
    ids = tokenizer.apply_chat_template(
        given, tools=[tool_json(tool) for tool in TOOLS], add_generation_prompt=True, tokenize=True,
        return_dict=False, chat_template=template, **options,
    )  # fmt: skip
    return list(ids)


def without_thoughts(texts: Sequence[str]) -> str:
    """Returns a pattern for the parts of a row in which empty thoughts at the starts of answers may be missing."""
    row, pattern, done, start = "".join(texts), "", 0, 0
    for at, text in enumerate(texts):
        for found in EMPTY_THOUGHT.finditer(row, done):
            if at % 2 and found.start() <= start <= found.end():
                pattern += re.escape(row[done : found.start()]) + f"(?:{EMPTY_THOUGHT.pattern})?"
                done = found.end()
                break
        start += len(text)
    return pattern + re.escape(row[done:])
