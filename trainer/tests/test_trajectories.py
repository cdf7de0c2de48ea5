from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import scripted_engine

from rehearsal_trainer.sft.trajectories import find_recordings, read_recording, successful
from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.messages import Message, ToolCall


def gold(folder: Path, name: str = "a", **changes: Any) -> Path:
    path = folder / f"{name}.traj.jsonl"
    params = {
        "task": "move-1",
        "domain": "parcels",
        "agent": "gold",
        "basis": "train",
        "trial": 0,
        "recording": str(path),
    }
    scripted_engine.play({**params, **changes})
    return path


def test_a_recording_becomes_a_conversation(tmp_path: Path) -> None:
    read = read_recording(gold(tmp_path))
    assert (read.system, read.task, read.reward) == (scripted_engine.SYSTEM, "move-1", 1.0)
    assert [tool.name for tool in read.tools] == ["find_parcel", "reschedule"]
    assert [message.role for message in read.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert read.messages[1] == Message("assistant", None, [ToolCall("gold-0", "find_parcel", {"parcel": "P11"})])
    assert read.messages[4] == Message("tool", "ok", call_id="gold-1")


def test_only_what_went_well_is_kept(tmp_path: Path) -> None:
    right, wrong = gold(tmp_path, "right"), gold(tmp_path, "wrong", domain="parity")
    kept = successful(map(read_recording, find_recordings([str(tmp_path)])))
    assert [conversation.source for conversation in kept] == [str(right)]
    assert read_recording(wrong).reward == 0.0


def test_a_preview_is_nothing_to_learn_from(tmp_path: Path) -> None:
    path = gold(tmp_path)
    first, *rest = path.read_text().splitlines()
    started = json.loads(first)
    started["event"]["seats"] = {"agent": "editor:gpt-4.1", "user": "agenda"}
    path.write_text("\n".join([json.dumps(started), *rest]))
    read = read_recording(path)
    assert (read.is_preview, read.reward) == (True, 1.0)
    assert successful([read]) == []


def test_what_the_user_does_with_its_own_tools_is_not_what_the_model_saw(tmp_path: Path) -> None:
    path = gold(tmp_path)
    before = read_recording(path)
    call = {"id": "u1", "name": "look", "arguments": {}}
    own = [
        {"type": "userReplied", "content": "", "stop": None, "toolCalls": [call]},
        {"type": "toolCalled", "call": call, "by": "user"},
        {"type": "toolReturned", "callId": "u1", "content": "dark", "isError": False, "by": "user"},
        {"type": "worldSynced", "writes": []},
    ]
    lines = path.read_text().splitlines()
    added = [json.dumps({"event": event}) for event in own]
    path.write_text("\n".join([*lines[:2], *added, *lines[2:]]))
    assert read_recording(path).messages == before.messages


def test_tools_that_came_midway_are_refused_with_the_line(tmp_path: Path) -> None:
    path = gold(tmp_path)
    brought = {"type": "userReplied", "content": "Now?", "stop": None, "tools": [{"name": "late"}]}
    path.write_text(path.read_text() + json.dumps({"event": brought}) + "\n")
    with pytest.raises(TrainingError, match=r":\d+: tools were added during the rollout"):
        read_recording(path)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], ":1: expected the event rolloutStarted"),
        (["not json"], ":1: expected a recorded event"),
        (["{}"], ":1: expected a recorded event"),
        ([json.dumps({"event": {"type": "rolloutStarted"}})], ":1: rolloutStarted has a missing or invalid field"),
        ([json.dumps({"event": {"type": "rolloutStarted", "format": 9}})], "recording format 9"),
    ],
)
def test_a_broken_recording_is_named_with_its_line(tmp_path: Path, lines: list[str], message: str) -> None:
    path = tmp_path / "x.traj.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(TrainingError, match=f"x.traj.jsonl:1: .*|{message}") as caught:
        read_recording(path)
    assert message in str(caught.value)


def test_nothing_to_read_says_where(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="record some with"):
        find_recordings([str(tmp_path)])
    with pytest.raises(TrainingError, match="neither a file nor a folder"):
        find_recordings([str(tmp_path / "none")])
