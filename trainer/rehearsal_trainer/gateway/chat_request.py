"""Parses and validates the requests of the gateway's clients. Torch-free."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values.messages import Json, Message, Tool, ToolCall


class RequestError(Exception):
    """An invalid request, with the fields of OpenAI's errors: message, code, HTTP status, parameter."""

    def __init__(self, message: str, code: str, status: int = 400, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.param = param


@dataclass(frozen=True)
class ChatRequest:
    """The fields of a chat completion request that the gateway uses."""

    messages: Sequence[Message]
    tools: Sequence[Tool]
    max_tokens: int | None
    temperature: float | None
    top_p: float | None
    stream: bool

    def sampling(self, defaults: Sampling) -> Sampling:
        """Returns the sampling that a client without a session asks for; in a session, the session's own applies."""
        temperature = defaults.temperature if self.temperature is None else self.temperature
        top_p = defaults.top_p if self.top_p is None else self.top_p
        return Sampling(temperature, top_p, defaults.max_tokens)


def read_chat_request(body: Json) -> ChatRequest:
    """Parses a chat completion request; RequestError names the field that is wrong."""
    if not isinstance(body, dict):
        raise RequestError("the request must be a JSON object", "invalid_json")
    raw = body.get("messages")
    if not isinstance(raw, list) or not raw:
        raise RequestError("messages must be a list with at least one message", "invalid_messages", param="messages")
    messages = [_message(value, f"messages[{index}]") for index, value in enumerate(raw)]
    tools = body.get("tools") or []
    if not isinstance(tools, list):
        raise RequestError("tools must be a list", "invalid_tools", param="tools")
    limits = (body.get(name) for name in ("max_completion_tokens", "max_tokens"))
    limit = next((each for each in limits if each is not None), None)
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise RequestError("max_tokens must be a positive whole number", "invalid_request", param="max_tokens")
    parsed_tools = [_tool(value, f"tools[{index}]") for index, value in enumerate(tools)]
    temperature = _asked_number(body, "temperature", 0, 10)
    top_p = _asked_number(body, "top_p", 0.01, 1)
    return ChatRequest(messages, parsed_tools, limit, temperature, top_p, body.get("stream") is True)


def read_session_request(body: Json, defaults: Sampling) -> tuple[str, Sampling]:
    """Parses the body of `POST /sessions`, and returns the seed and the sampling."""
    if not isinstance(body, dict):
        raise RequestError("the request must be a JSON object", "invalid_json")
    asked = body.get("sampling") or {}
    if not isinstance(asked, dict):
        raise RequestError("sampling must be an object", "invalid_request", param="sampling")
    temperature = _number(asked, "temperature", defaults.temperature, 0, 10)
    top_p = _number(asked, "top_p", defaults.top_p, 0.01, 1)
    max_tokens = int(_number(asked, "max_tokens", defaults.max_tokens, 1, 1_000_000))
    return str(body.get("seed", "0")), Sampling(temperature, top_p, max_tokens)


def _asked_number(body: dict[str, Json], name: str, low: float, high: float) -> float | None:
    if body.get(name) is None:
        return None
    return _number(body, name, 0, low, high, name)


def _number(
    values: dict[str, Json], name: str, default: float, low: float, high: float, path: str | None = None
) -> float:
    value = values.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        said = path or f"sampling.{name}"
        raise RequestError(f"{said} must be a number from {low:g} to {high:g}", "invalid_request", param=name)
    return value


def _message(value: Json, path: str) -> Message:
    role = value.get("role") if isinstance(value, dict) else None
    if role == "developer":
        role = "system"
    if not isinstance(value, dict) or role not in ("system", "user", "assistant", "tool"):
        raise RequestError(f"{path}.role must be system, user, assistant or tool", "invalid_messages", param=path)
    content = _content(value.get("content"), path)
    called = value.get("tool_calls")
    if called is not None and not isinstance(called, list):
        raise RequestError(f"{path}.tool_calls must be a list", "invalid_messages", param=path)
    calls = [_call(call, f"{path}.tool_calls[{index}]") for index, call in enumerate(called or [])]
    identity = value.get("rehearsal_id")
    call_id = value.get("tool_call_id")
    if role == "tool" and not isinstance(call_id, str):
        raise RequestError(f"{path}.tool_call_id is missing", "invalid_messages", param=path)
    reasoning = value.get("reasoning_content")
    return Message(
        role,
        content,
        calls,
        call_id,
        rehearsal_id=identity if isinstance(identity, str) else None,
        reasoning=reasoning if isinstance(reasoning, str) else None,
        trained=value.get("weight") != 0,
    )


def _content(value: Json, path: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in value):
        return "".join(part["text"] for part in value)
    raise RequestError(f"{path}.content must be text, a list of text parts, or null", "invalid_messages", param=path)


def _call(value: Json, path: str) -> ToolCall:
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise RequestError(f"{path}.function.name is missing", "invalid_messages", param=path)
    raw = function.get("arguments", "{}")
    try:
        arguments = json.loads(raw)
    except (TypeError, ValueError):
        arguments = None
    return ToolCall(str(value.get("id", "")), function["name"], arguments if isinstance(arguments, dict) else str(raw))


def _tool(value: Json, path: str) -> Tool:
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise RequestError(f"{path}.function.name is missing", "invalid_tools", param=path)
    parameters = function.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise RequestError(f"{path}.function.parameters must be a JSON Schema object", "invalid_tools", param=path)
    return Tool(function["name"], str(function.get("description") or ""), parameters)
