"""Parses sampled ids into text, reasoning and calls. Torch-free.

A chat template defines how calls are written but not how they are read. So every known format is tried on answers that
the template itself renders, and the model gets the format that reads them back. Most formats come from the package
`renderers`; this module has those that it lacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import renderers
from renderers.parsing import parse_gpt_oss
from renderers.reasoning import prompt_ends_in_reasoning, scan_reasoning

from rehearsal_trainer.chat.chat_template import ChatTemplate
from rehearsal_trainer.values.failures import ModelError, ToollessTemplateError
from rehearsal_trainer.values.messages import Json, Message, Tool, ToolCall

MALFORMED_NAME = "malformed"


@dataclass(frozen=True)
class Reply:
    """The text, the reasoning and the calls of an answer. A call has no id: (name, arguments or raw text)."""

    content: str | None
    reasoning: str | None
    calls: Sequence[tuple[str, Mapping[str, Json] | str]]

    @property
    def malformed(self) -> int:
        """The number of calls that could not be parsed."""
        return sum(isinstance(arguments, str) for _, arguments in self.calls)


Reader = Callable[[list[int], list[int], Sequence[dict[str, Json]]], renderers.ParsedResponse]
"""Parses sampled ids, including the end token, given the prompt's ids and the tools as JSON. It never fails."""

ReaderBuilder = Callable[[ChatTemplate], Reader]
"""Builds the reader of a format for a template; fails if the tokenizer lacks a token of the format."""


@dataclass(frozen=True)
class ReplyFormat:
    """A format of answers. `name` is for display."""

    name: str
    read: Reader

    def parse(self, sampled: Sequence[int], prompt: Sequence[int], tools: Sequence[dict[str, Json]]) -> Reply:
        """Parses an answer of the model; never fails, whatever the ids are."""
        parsed = self.read(list(sampled), list(prompt), tools)
        schemas = {tool["function"]["name"]: tool["function"]["parameters"].get("properties", {}) for tool in tools}
        calls = [_call_of(call, schemas.get(call.name or "", {})) for call in parsed.tool_calls]
        return Reply((parsed.content or "").strip() or None, (parsed.reasoning_content or "").strip() or None, calls)


def reply_format_of(template: ChatTemplate) -> ReplyFormat:
    """Returns the format that reads back what the template renders.

    ToollessTemplateError if the template does not show tools to the model, ModelError if the format is unknown.
    """
    answers = list(_examples())
    before = [Message("system", "Be brief."), Message("user", "Is P1 here?")]
    if template.prompt_ids(before, [_TOOL]) == template.prompt_ids(before, []):
        raise ToollessTemplateError(
            "the model's chat template shows it no tools. Choose a model that was trained to call tools, put a "
            "chat_template.jinja that shows tools into the model's folder, or set dialect: compact, with which a small "
            "model learns to"
        )
    tools = [tool_json(_TOOL)]
    prompt = template.prompt_ids(before, [_TOOL])
    best: tuple[int, ReplyFormat] | None = None
    for name, build in FORMATS.items():
        try:
            form = ReplyFormat(name, build(template))
        except Exception:  # the tokenizer lacks a token of this format
            continue
        read = [_is_read_back(form, template, before, answer, prompt, tools) for answer in answers]
        if read[0] and read[1] and (best is None or sum(read) > best[0]):
            best = sum(read), form
    if best is None:
        raise ModelError(
            "the model's chat template writes tool calls in a format that Rehearsal does not know; it knows those of "
            f"{', '.join(FORMATS)}. Choose another model, or set dialect: compact"
        )
    return best[1]


_TOOL = Tool(
    "find_parcel",
    "Where a parcel is.",
    {
        "type": "object",
        "properties": {
            "parcel": {"type": "string"},
            "days": {"type": "integer"},
            "to": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
        "required": ["parcel"],
    },
)


def _examples() -> Iterator[Message]:
    """Yields answers to test a format with. It must read the first two; reading more of the others is better."""
    arguments = {"parcel": "P1", "days": 3, "to": {"city": "Köln"}}
    call = ToolCall("call-1", _TOOL.name, arguments)
    yield Message("assistant", "It is here.")
    yield Message("assistant", None, [call])
    yield Message("assistant", "One moment.", [call])
    yield Message("assistant", None, [call, ToolCall("call-2", _TOOL.name, {"parcel": 'a "b" <c>'})])
    yield Message("assistant", "It is here.", reasoning="They ask for P1.")
    yield Message("assistant", None, [call], reasoning="They ask for P1.")


def _is_read_back(
    form: ReplyFormat,
    template: ChatTemplate,
    before: Sequence[Message],
    answer: Message,
    prompt: list[int],
    tools: Sequence[dict[str, Json]],
) -> bool:
    try:
        ids = template.reply_ids(before, answer, [_TOOL])
        reply = form.parse(ids, prompt, tools)
    except Exception:  # the template cannot render this answer, or the answer is in another format
        return False
    wanted = [(call.name, call.arguments) for call in answer.tool_calls]
    return (reply.content, reply.reasoning, list(reply.calls)) == (answer.content, answer.reasoning, wanted)


def tool_json(tool: Tool) -> dict[str, Json]:
    """Returns a tool in the format of OpenAI's interface and `renderers`."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


_READ = (renderers.ToolCallParseStatus.OK, renderers.ToolCallParseStatus.UNKNOWN_TOOL)
_PYTHON = {"True": True, "False": False, "None": None}


def _call_of(call: renderers.ParsedToolCall, schemas: Mapping[str, Json]) -> tuple[str, Mapping[str, Json] | str]:
    """Returns a call as (name, arguments), or with its raw text if it is malformed.

    Templates that write arguments as XML print booleans as Python does, and `renderers` reads only JSON.
    """
    arguments = call.arguments
    if call.name and isinstance(arguments, dict) and call.status is renderers.ToolCallParseStatus.INVALID_JSON:
        wrong = {
            key for key, value in arguments.items() if isinstance(value, str) and not _may_be_text(schemas.get(key))
        }
        if all(arguments[key].strip() in _PYTHON for key in wrong):
            return call.name, {k: _PYTHON[v.strip()] if k in wrong else v for k, v in arguments.items()}
    if call.status in _READ and call.name and isinstance(arguments, dict):
        return call.name, arguments
    return call.name or MALFORMED_NAME, call.raw


def _may_be_text(schema: Json) -> bool:
    kind = schema.get("type", "string") if isinstance(schema, dict) else "string"
    return "string" in kind if isinstance(kind, list) else kind == "string"


def _by_renderer(config: type[Any]) -> ReaderBuilder:
    """Returns the builder of the reader for a model family of `renderers`."""

    def build(template: ChatTemplate) -> Reader:
        known = {name: value for name, value in template.options.items() if name in config.model_fields}
        renderer = renderers.create_renderer(template.tokenizer, config(**known))
        return lambda ids, prompt, tools: renderer.parse_response(ids, tools=cast(Any, list(tools)), prompt_ids=prompt)

    return build


def _harmony(template: ChatTemplate) -> Reader:
    tokenizer = template.tokenizer
    # The renderer of this family downloads OpenAI's vocabulary; its parser needs only these ids.
    marks = ("return", "call", "start", "end", "channel", "message", "constrain")
    ids = {f"{mark}_id": _mark_id(tokenizer, f"<|{mark}|>") for mark in marks}
    head = tokenizer("<|start|>assistant", add_special_tokens=False)["input_ids"]
    return lambda sampled, _prompt, _tools: parse_gpt_oss(tokenizer, [*head, *sampled], **ids)


def _mark_id(tokenizer: Any, mark: str) -> int:
    found = tokenizer.convert_tokens_to_ids(mark)
    if not isinstance(found, int) or found == tokenizer.unk_token_id:
        raise ModelError(f"the tokenizer has no token {mark}")
    return found


def _by_text(read_calls: Callable[[str], tuple[str, list[renderers.ParsedToolCall]]]) -> ReaderBuilder:
    """Returns the builder of the reader for a format that is parsed from text; reasoning is inside <think>."""

    def build(template: ChatTemplate) -> Reader:
        tokenizer = template.tokenizer

        def read(sampled: list[int], prompt: list[int], _tools: Sequence[dict[str, Json]]) -> renderers.ParsedResponse:
            ids = [token for token in sampled if token not in template.stop_ids]
            text = tokenizer.decode(ids, skip_special_tokens=False)
            opened = prompt_ends_in_reasoning(tokenizer, prompt, initial_only=False)
            thought = scan_reasoning(tokenizer, ids, prefilled=opened)
            if thought.is_open:
                return renderers.ParsedResponse("", thought.text, [], False)
            if thought.text is not None:
                text = text.partition("</think>")[2]
            content, calls = read_calls(text)
            return renderers.ParsedResponse(content, thought.text, calls)

        return read

    return build


_TAGGED = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_JSON_NAME = re.compile(r'"name"\s*:\s*"([^"]+)"')
_JSON = json.JSONDecoder()


def _tagged_calls(read: Callable[[str], renderers.ParsedToolCall]) -> Callable[..., Any]:
    def split(text: str) -> tuple[str, list[renderers.ParsedToolCall]]:
        return _TAGGED.sub("", text), [read(found.group(1).strip()) for found in _TAGGED.finditer(text)]

    return split


def _json_call(raw: str, arguments: str = "arguments") -> renderers.ParsedToolCall:
    try:
        value = json.loads(raw)
    except ValueError:
        value = None
    given = value.get(arguments, {}) if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(given, dict):
        return renderers.ParsedToolCall(raw, value["name"], given)
    found = _JSON_NAME.search(raw)
    return _malformed(raw, found.group(1) if found else None)


def _malformed(raw: str, name: str | None = None) -> renderers.ParsedToolCall:
    return renderers.ParsedToolCall(raw, name, None, status=renderers.ToolCallParseStatus.MALFORMED_STRUCTURE)


_HEAD = re.compile(r"\s*([A-Za-z_][\w.\-]*)\s*\(")
_KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")


def compact_call(raw: str) -> renderers.ParsedToolCall:
    """Reads `name(key=value, key=value)`, the values as JSON: the calls of compact.jinja."""
    head = _HEAD.match(raw)
    if head is None:
        return _json_call(raw) if raw.startswith("{") else _malformed(raw)
    name, position = head.group(1), head.end()
    arguments: dict[str, Json] = {}
    while not raw[position:].lstrip().startswith(")"):
        key = _KEY.match(raw, position)
        if key is None or key.group(1) in arguments:
            return _malformed(raw, name)
        try:
            arguments[key.group(1)], position = _JSON.raw_decode(raw, key.end())
        except ValueError:
            return _malformed(raw, name)
        rest = raw[position:].lstrip()
        if rest.startswith(","):
            position = len(raw) - len(rest) + 1
        elif not rest.startswith(")"):
            return _malformed(raw, name)
    is_closed = raw[position:].lstrip() == ")"
    return renderers.ParsedToolCall(raw, name, arguments) if is_closed else _malformed(raw, name)


def mistral_calls(text: str) -> tuple[str, list[renderers.ParsedToolCall]]:
    """Reads `[TOOL_CALLS][{"name": ..., "arguments": ...}]` and `[TOOL_CALLS]name[ARGS]{...}`, with `[CALL_ID]` too."""
    content, *parts = text.split("[TOOL_CALLS]")
    calls: list[renderers.ParsedToolCall] = []
    for part in map(str.strip, parts):
        if part.startswith("["):
            try:
                listed = json.loads(part)
            except ValueError:
                listed = [None]
            calls += [_json_call(json.dumps(each)) if each is not None else _malformed(part) for each in listed]
            continue
        name, _, rest = part.partition("[ARGS]")
        name = name.partition("[CALL_ID]")[0].strip()
        body = json.dumps({"name": name}) if not rest else f'{{"name": {json.dumps(name)}, "arguments": {rest}}}'
        calls.append(_json_call(body) if name and rest else _malformed(part, name or None))
    return content, calls


FORMATS: Mapping[str, ReaderBuilder] = {
    "qwen3": _by_renderer(renderers.Qwen3RendererConfig),
    "qwen3.5": _by_renderer(renderers.Qwen35RendererConfig),
    "hermes": _by_text(_tagged_calls(_json_call)),
    "compact": _by_text(_tagged_calls(compact_call)),
    "llama-3": _by_renderer(renderers.Llama3RendererConfig),
    "gemma4": _by_renderer(renderers.Gemma4RendererConfig),
    "mistral": _by_text(mistral_calls),
    "gpt-oss": _harmony,
    "glm-4.5": _by_renderer(renderers.GLM45RendererConfig),
    "glm-5": _by_renderer(renderers.GLM5RendererConfig),
    "deepseek-v3": _by_renderer(renderers.DeepSeekV3RendererConfig),
    "kimi-k2": _by_renderer(renderers.KimiK2RendererConfig),
    "minimax-m2": _by_renderer(renderers.MiniMaxM2RendererConfig),
    "nemotron-3": _by_renderer(renderers.Nemotron3RendererConfig),
}
"""The builders of readers by the names of their formats. If several formats read equally much, the first is used."""
