"""Compares the masks of the real engine's recordings of a real domain with those of the gateway."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import all_in_full_suite, chat_with, replies_of, served

from rehearsal_trainer.sft.trajectories import find_recordings, read_recording
from rehearsal_trainer.values.messages import Conversation


@pytest.fixture(scope="module")
def recordings(gold_run: Path) -> list[Conversation]:
    """Rollouts of parcel-desk by the gold seat, one of each kind of task."""
    by_kind = {path.name.split("-")[0]: path for path in find_recordings([str(gold_run)])}
    assert len(by_kind) >= 4
    return [read_recording(path) for path in by_kind.values()]


@pytest.mark.parametrize("template", all_in_full_suite(["compact", "qwen2_5"], ["qwen2_5"]))
def test_a_recording_has_the_ids_and_the_mask_of_the_gateway(
    recordings: list[Conversation], forced_gateway: Any, tokenizer: Any, template: str
) -> None:
    chat = chat_with(tokenizer, template)
    for recorded in recordings:
        assert recorded.reward == 1
        (expected,) = chat.rows_of(recorded)
        gateway = forced_gateway(replies_of(chat, recorded), template)
        encoded = gateway.chat.template.encoded
        encoded.clear()
        sampled = list(gateway.generator.decoder.ids)
        (row,) = served(gateway, lambda client, recorded=recorded: _again(client, recorded))["rows"]
        assert row["ids"] == expected.ids
        assert row["mask"] == expected.mask
        assert [token for token, bit in zip(row["ids"], row["mask"], strict=True) if bit] == sampled
        answers = sum(message.role == "assistant" for message in recorded.messages)
        assert len(encoded) == answers  # the prompt before the first answer, and what each later one follows


async def _again(client: Any, recorded: Conversation) -> Any:
    """The recorded conversation over the gateway, as an engine would have it."""
    tools = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in recorded.tools
    ]
    _, opened = await client.send("POST", "/sessions", {})
    messages: list[Any] = [{"role": "system", "content": recorded.system}]
    ids: dict[str, str] = {}
    for message in recorded.messages:
        if message.role == "assistant":
            reply = await client.complete(opened["id"], messages, tools=tools)
            made = reply.get("tool_calls", [])
            ids |= {said.id: call["id"] for said, call in zip(message.tool_calls, made, strict=True)}
            messages.append(reply)
        elif message.role == "tool":
            messages.append({"role": "tool", "tool_call_id": ids[message.call_id or ""], "content": message.content})
        else:
            messages.append({"role": "user", "content": message.content})
    return (await client.send("GET", f"/sessions/{opened['id']}/trace"))[1]
