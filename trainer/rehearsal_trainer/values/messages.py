"""The conversation as the model's side knows it: frozen data, torch-free."""

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
    """A call; `arguments` is the parsed object, or the raw text where the model wrote something else."""

    id: str
    name: str
    arguments: Mapping[str, Json] | str


@dataclass(frozen=True)
class Message:
    """One message; `tool_calls` only with role assistant, `call_id` only with role tool."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    call_id: str | None = None
    rehearsal_id: str | None = None
    reasoning: str | None = None
    """What the model thought before it answered: only its own template sees it, no user and no tool does."""
    trained: bool = True
    """Whether SFT learns it, of an assistant's: a greeting is given, and a near-miss has a step that is not learned."""


@dataclass(frozen=True)
class Conversation:
    """What SFT learns from: the system prompt, the tools, and the messages after it."""

    system: str
    tools: Sequence[Tool]
    messages: Sequence[Message]
    task: str = ""
    reward: float | None = None
    source: str = ""
    is_preview: bool = False
    split: str | None = None
    """The split of the task, where its domain has splits."""
    is_selected: bool = False
    """A synthesis of cold-start data accepted it, whatever its reward."""
