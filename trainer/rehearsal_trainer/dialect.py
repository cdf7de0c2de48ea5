"""How tools and calls look to the model: the one place that renders schemas and parses calls. Torch-free.

Two dialects:

- `hermes`: tools as JSON Schemas inside <tools>, a call as <tool_call>{"name": ..., "arguments": {...}}</tool_call>;
  what Hermes and Qwen models were trained on.
- `compact`: one line a tool, `get_parcel(parcel_id: string) - Reads a parcel.`, and a call as
  <tool_call>get_parcel(parcel_id="P-1034")</tool_call>. With SmolLM2's tokenizer such a call is 27 tokens
  and the JSON form 37, the schemas shrink to about a quarter, and there are no nested brackets to balance:
  a model of 135 million parameters writes it without a slip after few steps.

Both share ChatML's frame. Each message is rendered on its own, so the ids of a conversation are the
concatenation of the ids of its messages and a longer conversation only adds ids. Text never becomes a mark:
`<|im_end|>` typed by a user is encoded as ordinary characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rehearsal_trainer.failures import ConfigurationError
from rehearsal_trainer.messages import Json, Tool, ToolCall

CALL_OPEN, CALL_CLOSE = "<tool_call>", "</tool_call>"
MALFORMED_NAME = "malformed"

_SPAN = re.compile(re.escape(CALL_OPEN) + r"(.*?)(?:" + re.escape(CALL_CLOSE) + r"|\Z)", re.DOTALL)
_HEAD = re.compile(r"\s*([A-Za-z_][\w.\-]*)\s*\(")
_KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
_JSON_NAME = re.compile(r'"name"\s*:\s*"([^"]+)"')
_JSON = json.JSONDecoder()

DialectName = Literal["hermes", "compact"]


@dataclass(frozen=True)
class ParsedReply:
    """What the assistant said beside its calls, and its calls without ids: (name, arguments or raw text)."""

    content: str | None
    calls: Sequence[tuple[str, Mapping[str, Json] | str]]

    @property
    def malformed(self) -> int:
        """How many calls could not be read."""
        return sum(isinstance(arguments, str) for _, arguments in self.calls)


@dataclass(frozen=True)
class Dialect:
    """A named way to show tools and to write calls."""

    name: str
    render_tools: Callable[[Sequence[Tool]], str]
    render_call: Callable[[str, Mapping[str, Json] | str], str]
    parse_call: Callable[[str], tuple[str, Mapping[str, Json] | str]]

    def system_text(self, system: str, tools: Sequence[Tool]) -> str:
        """The whole system message: the policy, then the tools if there are any."""
        parts = [system.strip(), self.render_tools(tools) if tools else ""]
        return "\n\n".join(part for part in parts if part)

    def reply_text(self, content: str | None, calls: Sequence[ToolCall]) -> str:
        """The assistant's block without its end mark; `parse_reply` reads it back."""
        said = [content.strip()] if content and content.strip() else []
        return "\n".join(said + [self.render_call(call.name, call.arguments) for call in calls])

    def parse_reply(self, text: str) -> ParsedReply:
        """Splits what the model wrote into words and calls; never fails, whatever it wrote."""
        calls = [self.parse_call(match.group(1)) for match in _SPAN.finditer(text)]
        content = _SPAN.sub("", text).strip()
        return ParsedReply(content or None, calls)


def dialect_named(name: str) -> Dialect:
    """The dialect of that name; ConfigurationError names the known ones."""
    if name not in DIALECTS:
        raise ConfigurationError(f"dialect: {name!r} is none; known are {', '.join(sorted(DIALECTS))}")
    return DIALECTS[name]


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _hermes_tools(tools: Sequence[Tool]) -> str:
    lines = [
        _dump({"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)})
        for tool in tools
    ]
    return (
        "# Tools\n\nYou may call one or more functions. Their signatures are given as JSON Schemas:\n<tools>\n"
        + "\n".join(lines)
        + "\n</tools>\n\nFor each call return a JSON object with the function's name and arguments:\n"
        + f'{CALL_OPEN}{{"name": "<name>", "arguments": {{...}}}}{CALL_CLOSE}'
    )


def _hermes_call(name: str, arguments: Mapping[str, Json] | str) -> str:
    body = arguments if isinstance(arguments, str) else _dump({"name": name, "arguments": dict(arguments)})
    return f"{CALL_OPEN}{body}{CALL_CLOSE}"


def _parse_json_call(body: str) -> tuple[str, Mapping[str, Json] | str]:
    raw = body.strip()
    try:
        value = json.loads(raw)
    except ValueError:
        value = None
    if isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("arguments", {}), dict):
        return value["name"], value.get("arguments", {})
    found = _JSON_NAME.search(raw)
    return (found.group(1) if found else MALFORMED_NAME), raw


def _compact_type(schema: Mapping[str, Json]) -> str:
    if "enum" in schema:
        return "|".join(_dump(value) for value in schema["enum"])
    if "const" in schema:
        return _dump(schema["const"])
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return "|".join(map(str, kind))
    if kind == "array":
        return f"[{_compact_type(schema.get('items') or {})}]"
    if kind == "object" and schema.get("properties"):
        return "{" + _compact_parameters(schema) + "}"
    return str(kind)


def _compact_parameters(schema: Mapping[str, Json]) -> str:
    required = set(schema.get("required", []))
    fields = (schema.get("properties") or {}).items()
    return ", ".join(f"{name}{'' if name in required else '?'}: {_compact_type(value or {})}" for name, value in fields)


def _compact_tools(tools: Sequence[Tool]) -> str:
    lines = []
    for tool in tools:
        description = " ".join(tool.description.split())
        lines.append(
            f"{tool.name}({_compact_parameters(tool.parameters)})" + (f" - {description}" if description else "")
        )
    return "Tools:\n" + "\n".join(lines) + f"\nCall a tool with {CALL_OPEN}name(key=value){CALL_CLOSE}"


def _compact_call(name: str, arguments: Mapping[str, Json] | str) -> str:
    if isinstance(arguments, str):
        return f"{CALL_OPEN}{arguments}{CALL_CLOSE}"
    return f"{CALL_OPEN}{name}({', '.join(f'{key}={_dump(value)}' for key, value in arguments.items())}){CALL_CLOSE}"


def _parse_compact_call(body: str) -> tuple[str, Mapping[str, Json] | str]:
    raw = body.strip()
    head = _HEAD.match(raw)
    if head is None:
        return _parse_json_call(raw) if raw.startswith("{") else (MALFORMED_NAME, raw)
    arguments, position = {}, head.end()
    while not raw[position:].lstrip().startswith(")"):
        key = _KEY.match(raw, position)
        if key is None or key.group(1) in arguments:
            return head.group(1), raw
        try:
            arguments[key.group(1)], position = _JSON.raw_decode(raw, key.end())
        except ValueError:
            return head.group(1), raw
        rest = raw[position:].lstrip()
        if rest.startswith(","):
            position = len(raw) - len(rest) + 1
        elif not rest.startswith(")"):
            return head.group(1), raw
    closed = raw[position:].lstrip() == ")"
    return head.group(1), (arguments if closed else raw)


DIALECTS: Mapping[str, Dialect] = {
    "hermes": Dialect("hermes", _hermes_tools, _hermes_call, _parse_json_call),
    "compact": Dialect("compact", _compact_tools, _compact_call, _parse_compact_call),
}
