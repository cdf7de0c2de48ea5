"""The messages, tools and calls of a conversation as the model receives them: frozen data, torch-free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any


@dataclass(frozen=True)
class Tool:
    """A tool as the model receives it; `parameters` is a JSON Schema of type object."""

    name: str
    description: str = ""
    parameters: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolCall:
    """A call; `arguments` is the parsed object, or the raw text if the model wrote something else."""

    id: str
    name: str
    arguments: Mapping[str, Json] | str
    written_id: str | None = None
    """The id that the model wrote for the call, which its chat template repeats with the result."""


@dataclass(frozen=True)
class Message:
    """One message; `tool_calls` only with role assistant, `call_id` only with role tool."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    call_id: str | None = None
    rehearsal_id: str | None = None
    reasoning: str | None = None
    """The reasoning of the model before its answer; only its chat template receives it, not the user or tools."""
    trained: bool = True
    """Whether SFT learns an assistant's message. It does not learn greetings and the wrong step of a near-miss."""


@dataclass(frozen=True)
class Conversation:
    """A conversation that SFT learns from: the system prompt, the tools, and the other messages."""

    system: str
    tools: Sequence[Tool]
    messages: Sequence[Message]
    task: str = ""
    reward: float | None = None
    source: str = ""
    is_preview: bool = False
    split: str | None = None
    """The split of the task, if its domain has splits."""
    is_selected: bool = False
    """Whether a synthesis of cold-start data accepted it, regardless of its reward."""
