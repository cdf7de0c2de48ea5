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

from rehearsal_trainer.chat.chat_template import ChatTemplate
from rehearsal_trainer.chat.reasoning import separate
from rehearsal_trainer.values.failures import ModelError, ToollessTemplateError
from rehearsal_trainer.values.messages import Json, Message, Tool, ToolCall

MALFORMED_NAME = "malformed"


@dataclass(frozen=True)
class Reply:
    """The text, the reasoning and the calls of an answer. A call has no id: (name, arguments or raw text)."""

    content: str | None
    reasoning: str | None
    calls: Sequence[tuple[str, Mapping[str, Json] | str]]
    written_ids: Sequence[str | None] = ()
    """The ids that the model wrote for its calls, as those of Mistral do."""

    @property
    def malformed(self) -> int:
        """The number of calls that could not be parsed."""
        return sum(isinstance(arguments, str) for _, arguments in self.calls)


Reader = Callable[[list[int], Sequence[dict[str, Json]]], renderers.ParsedResponse]
"""Parses sampled ids without reasoning, given the tools as JSON; the end token is included. It never fails."""

ReaderBuilder = Callable[[ChatTemplate], Reader]
"""Builds the reader of a format for a template; fails if the tokenizer lacks a token of the format."""


@dataclass(frozen=True)
class ReplyFormat:
    """A format of answers. `name` is for display."""

    name: str
    template: ChatTemplate
    read: Reader

    def parse(self, sampled: Sequence[int], prompt: Sequence[int], tools: Sequence[dict[str, Json]]) -> Reply:
        """Parses an answer of the model; never fails, whatever the ids are."""
        reasoning, ids = separate(self.template.tokenizer, sampled, prompt, self.template.stop_ids)
        parsed = self.read(ids, tools)
        schemas = {tool["function"]["name"]: tool["function"]["parameters"].get("properties", {}) for tool in tools}
        calls = [_call_of(call, schemas.get(call.name or "", {})) for call in parsed.tool_calls]
        written = [call.id for call in parsed.tool_calls]
        return Reply((parsed.content or "").strip() or None, reasoning, calls, written)


def reply_format_of(template: ChatTemplate) -> ReplyFormat:
    """Returns the format that reads back what the template renders.

    ToollessTemplateError if the template does not show tools to the model, ModelError if the format is unknown.
    """
    before = [Message("system", "Be brief."), Message("user", "Is P1 here?")]
    prompt = template.prompt_ids(before, [_TOOL])
    if prompt == template.prompt_ids(before, []):
        raise ToollessTemplateError(
            "the model's chat template shows it no tools. Choose a model that was trained to call tools, put a "
            "chat_template.jinja that shows tools into the model's folder, or set dialect: compact, with which a small "
            "model learns to"
        )
    answers = [(answer, ids) for answer, ids in _rendered(template, before) if ids is not None]
    tools = [tool_json(_TOOL)]
    best: tuple[int, ReplyFormat] | None = None
    for name, build in FORMATS.items():
        try:
            form = ReplyFormat(name, template, build(template))
        except Exception:  # the tokenizer lacks a token of this format
            continue
        read = [_is_read_back(form, answer, ids, prompt, tools) for answer, ids in answers]
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


def _rendered(template: ChatTemplate, before: Sequence[Message]) -> Iterator[tuple[Message, list[int] | None]]:
    """Yields the examples and their ids. ModelError if the template does not take one of the first two."""
    for at, answer in enumerate(_examples()):
        try:
            yield answer, template.reply_ids(before, answer, [_TOOL])
        except ModelError:
            if at < 2:
                raise
            yield answer, None


def _is_read_back(
    form: ReplyFormat, answer: Message, ids: Sequence[int], prompt: Sequence[int], tools: Sequence[dict[str, Json]]
) -> bool:
    try:
        reply = form.parse(ids, prompt, tools)
    except Exception:  # the answer is in another format
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
        # The reasoning is already separated.
        options = {name: False for name in template.options if name in config.model_fields}
        renderer = renderers.create_renderer(template.tokenizer, config(**options))
        return lambda ids, tools: renderer.parse_response(ids, tools=cast(Any, list(tools)), prompt_ids=[])

    return build


def _harmony(template: ChatTemplate) -> Reader:
    tokenizer = template.tokenizer
    # The renderer of this family downloads OpenAI's vocabulary; its parser needs only these ids.
    marks = ("return", "call", "start", "end", "channel", "message", "constrain")
    ids = {f"{mark}_id": _mark_id(tokenizer, f"<|{mark}|>") for mark in marks}
    head = tokenizer("<|start|>assistant", add_special_tokens=False)["input_ids"]
    ends = template.stop_ids - set(ids.values())

    def read(sampled: list[int], _tools: Sequence[dict[str, Json]]) -> renderers.ParsedResponse:
        answer = [token for token in sampled if token not in ends]
        return parse_gpt_oss(tokenizer, answer if answer[:1] == [ids["start_id"]] else [*head, *answer], **ids)

    return read


def _mark_id(tokenizer: Any, mark: str) -> int:
    found = tokenizer.convert_tokens_to_ids(mark)
    if not isinstance(found, int) or found == tokenizer.unk_token_id:
        raise ModelError(f"the tokenizer has no token {mark}")
    return found


def _by_text(read_calls: Callable[[str], tuple[str, list[renderers.ParsedToolCall]]]) -> ReaderBuilder:
    """Returns the builder of the reader for a format that is parsed from text."""

    def build(template: ChatTemplate) -> Reader:
        def read(sampled: list[int], _tools: Sequence[dict[str, Json]]) -> renderers.ParsedResponse:
            ids = [token for token in sampled if token not in template.stop_ids]
            content, calls = read_calls(template.tokenizer.decode(ids, skip_special_tokens=False))
            return renderers.ParsedResponse(content, None, calls)

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
        written = value.get("id")
        return renderers.ParsedToolCall(raw, value["name"], given, id=written if isinstance(written, str) else None)
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
        head, _, rest = part.partition("[ARGS]")
        name, _, written = (each.strip() for each in head.partition("[CALL_ID]"))
        body = f'{{"name": {json.dumps(name)}, "id": {json.dumps(written)}, "arguments": {rest}}}'
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
