"""Reads recordings as the conversations that SFT learns from. Torch-free.

A recording is JSON lines of {"n", "event", "state", "chain"}. Only the events that the agent's model received or wrote
are read. Chains and hashes are not checked here (`rehearsal verify` does that).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rehearsal_trainer.sft.selection import selection_in, selection_over
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.bounded_file import lines_of
from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.messages import Conversation, Json, Message, Tool, ToolCall

FORMAT = 1


def find_recordings(places: Iterable[str]) -> list[Path]:
    """Returns all recordings in these files and folders, in a stable order; TrainingError if there are none.

    From a synthesis of cold-start data, it returns only the accepted recordings.
    """
    found: set[Path] = set()
    for place in places:
        path = Path(place)
        selection = selection_in(path) if path.is_dir() else None
        if selection is not None:
            found.update(selection)
        elif path.is_dir():
            found.update(path.rglob(f"*{run_files.RECORDING}"))
        elif path.is_file():
            found.add(path)
        else:
            raise TrainingError(f"there are no recordings at {place}: neither a file nor a folder")
    if not found:
        nothing = f"no *{run_files.RECORDING} under {', '.join(places)}"
        raise TrainingError(f"{nothing}; record some with `rehearsal run` first")
    return sorted(found)


def read_recording(path: Path) -> Conversation:
    """Reads a recording as a conversation with its reward; TrainingError names an invalid file and line."""
    conversation: Conversation | None = None
    messages: list[Message] = []
    reward: float | None = None
    withheld = (selection_over(path) or {}).get(path.resolve())
    for number, line in enumerate(lines_of(path), 1):
        event = _event(line, path, number)
        try:
            if event["type"] == "rolloutStarted":
                conversation = _started(event, path)
            elif event["type"] == "userReplied" and event.get("tools"):
                told = (
                    "tools were added during the rollout, and one prompt cannot express that; leave this recording out"
                )
                raise TrainingError(f"{path}:{number}: {told}")
            elif event["type"] == "rewarded":
                reward = event["reward"]
            elif message := _message(event):
                # Steps count from 0 and lines from 1.
                messages.append(replace(message, trained=number - 1 not in (withheld or ())))
        except (KeyError, TypeError) as error:
            raise TrainingError(
                f"{path}:{number}: {event.get('type')} has a missing or invalid field: {error}"
            ) from error
    if conversation is None:
        raise TrainingError(f"{path}:1: expected the event rolloutStarted; the file is empty or is not a recording")
    spoken = (*conversation.messages, *messages)
    return replace(conversation, messages=spoken, reward=reward, is_selected=withheld is not None)


def successful(conversations: Iterable[Conversation], min_reward: float = 1.0) -> list[Conversation]:
    """Returns the conversations to learn from.

    They have a reward of at least `min_reward` or are selected by a synthesis, and have an agent's message to learn.
    Previews are left out.
    """
    return [
        conversation
        for conversation in conversations
        if (conversation.is_selected or (conversation.reward is not None and conversation.reward >= min_reward))
        and not conversation.is_preview
        and any(message.role == "assistant" and message.trained for message in conversation.messages)
    ]


def _event(line: bytes, path: Path, number: int) -> Mapping[str, Json]:
    try:
        event = json.loads(line)["event"]
        if not isinstance(event, dict) or "type" not in event:
            raise TypeError
    except (ValueError, KeyError, TypeError) as error:
        raise TrainingError(f"{path}:{number}: expected a recorded event as one JSON object") from error
    return event


def _started(event: Mapping[str, Json], path: Path) -> Conversation:
    if event.get("format", FORMAT) != FORMAT:
        raise TrainingError(f"{path}:1: recording format {event['format']}; this trainer reads format {FORMAT}")
    tools = [Tool(tool["name"], tool.get("description", ""), tool.get("parameters", {})) for tool in event["tools"]]
    # The prompt of an editor's language model differs from the recording; for example, it has no system prompt.
    is_preview = any(str(seat).startswith("editor:") for seat in event.get("seats", {}).values())
    task = event["task"]
    greeting = (Message("assistant", event["greeting"], trained=False),) if event.get("greeting") else ()
    return Conversation(
        event["system"], tools, greeting, task["id"], source=str(path), is_preview=is_preview, split=task.get("split")
    )


def _message(event: Mapping[str, Json]) -> Message | None:
    if event.get("by") == "user" or (event["type"] == "userReplied" and event.get("toolCalls")):
        return None  # The user's own tools: the agent's model saw neither the call nor its result.
    match event["type"]:
        case "userReplied":
            return Message("user", event["content"])
        case "agentReplied":
            return Message("assistant", event["content"], _calls(event["toolCalls"]), reasoning=event.get("reasoning"))
        case "toolReturned":
            return Message("tool", event["content"], call_id=event["callId"])
        case _:
            return None


def _calls(values: Sequence[Mapping[str, Json]]) -> list[ToolCall]:
    return [ToolCall(value["id"], value["name"], value["arguments"]) for value in values]
