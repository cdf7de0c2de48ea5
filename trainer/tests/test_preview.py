"""Tests the preview of the text that a model is trained on, and the selection of a synthesis."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import TOOLS_JSON, served

from rehearsal_trainer.chat.chat import Chat, preview_of
from rehearsal_trainer.chat.masks import Row
from rehearsal_trainer.commands.preview import main
from rehearsal_trainer.gateway.gateway import Gateway
from rehearsal_trainer.sft.trajectories import find_recordings, read_recording, successful
from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.messages import Conversation

EVENTS: list[dict[str, Any]] = [
    {"type": "rolloutStarted", "format": 1, "system": "Be kind.", "tools": [], "task": {"id": "t"}, "greeting": "Hi!"},
    {"type": "userReplied", "content": "Cancel it."},
    {"type": "agentReplied", "content": None, "toolCalls": [{"id": "c", "name": "cancel", "arguments": {"id": "W1"}}]},
    {"type": "toolReturned", "callId": "c", "content": "{}", "isError": False},
    {"type": "agentReplied", "content": "It is done.", "toolCalls": []},
    {"type": "userReplied", "content": "Bye."},
    {"type": "rewarded", "reward": 0},
]


def synthesis(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Writes a synthesis with a recording for each row."""
    for row in rows:
        path = folder / row["recording"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps({"n": n, "event": event}) + "\n" for n, event in enumerate(EVENTS)))
    (folder / "selection.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def row(name: str, accepted: bool = True, withheld: list[int] | None = None) -> dict[str, Any]:
    return {"recording": f"runs/desk/{name}.traj.jsonl", "accepted": accepted, "withheld": withheld or []}


def row_of(chat: Chat, conversation: Conversation) -> Row:
    (found,) = chat.rows_of(conversation)
    return found


def trained(preview: Any) -> list[str]:
    return [piece["text"] for piece in preview["pieces"] if piece["trained"]]


def test_of_a_synthesis_only_what_is_accepted_is_learned_whatever_its_reward(tmp_path: Path) -> None:
    folder = synthesis(tmp_path, [row("good"), row("out", accepted=False), row("near", withheld=[2])])
    found = find_recordings([str(folder)])
    assert [path.name for path in found] == ["good.traj.jsonl", "near.traj.jsonl"]
    assert len(successful(map(read_recording, found))) == 2


def test_a_recording_without_a_selection_needs_its_reward(tmp_path: Path) -> None:
    folder = synthesis(tmp_path, [row("good")])
    (folder / "selection.jsonl").unlink()
    assert successful(map(read_recording, find_recordings([str(folder)]))) == []


def test_a_step_that_broke_a_rule_and_a_greeting_are_given_and_the_rest_is_learned(tmp_path: Path, chat: Chat) -> None:
    folder = synthesis(tmp_path, [row("near", withheld=[2]), row("good")])
    near, good = (read_recording(folder / row(name)["recording"]) for name in ("near", "good"))
    assert trained(preview_of(chat.tokenizer, row_of(chat, near))) == ["It is done.<|im_end|>"]
    call = '<tool_call>cancel(id="W1")</tool_call><|im_end|>'
    assert trained(preview_of(chat.tokenizer, row_of(chat, good))) == [call, "It is done.<|im_end|>"]
    assert row_of(chat, near).ids == row_of(chat, good).ids
    assert "Hi!<|im_end|>" in preview_of(chat.tokenizer, row_of(chat, good))["text"]


def test_the_pieces_of_a_preview_are_its_text_ids_and_mask(gold_run: Path, chat: Chat) -> None:
    for path in find_recordings([str(gold_run)])[:4]:
        expected = row_of(chat, read_recording(path))
        preview = preview_of(chat.tokenizer, expected)
        assert preview["text"] == chat.tokenizer.decode(expected.ids, skip_special_tokens=False)
        bits = [bit for piece in preview["pieces"] for bit in [int(piece["trained"])] * piece["tokens"]]
        assert (preview["ids"], bits) == (expected.ids, expected.mask)


def test_the_command_prints_what_the_trainer_makes(
    tmp_path: Path, chat: Chat, capsys: pytest.CaptureFixture[str]
) -> None:
    path = synthesis(tmp_path, [row("near", withheld=[2])]) / row("near")["recording"]
    assert main(["--recording", str(path), "--model", "tiny", "--dialect", "compact"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == preview_of(chat.tokenizer, row_of(chat, read_recording(path))) | {
        "dialect": "compact",
        "model": "tiny",
    }


def test_the_gateway_previews_a_conversation_as_sft_trains_it(tiny_gateway: Gateway) -> None:
    said = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Here.", "weight": 0}]
    body = {"messages": [*said, said[0], {"role": "assistant", "content": "There."}], "tools": TOOLS_JSON}
    _, answer = served(tiny_gateway, lambda client: client.send("POST", "/preview", body))
    assert trained(answer) == ["There.<|im_end|>"]
    body["messages"].append(said[0])
    _, longer = served(tiny_gateway, lambda client: client.send("POST", "/preview", body))
    assert longer["text"].startswith(answer["text"]) and longer["text"].endswith("<|im_start|>assistant\n")
    assert trained(longer) == ["There.<|im_end|>"]


@pytest.mark.parametrize("line", ["", "no JSON", '{"recording": 1}', '{"recording": "x", "accepted": true}'])
def test_a_broken_selection_names_its_line(tmp_path: Path, line: str) -> None:
    folder = synthesis(tmp_path, [row("good")])
    with (folder / "selection.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(TrainingError, match=r"selection\.jsonl:2: expected a line of a selection"):
        find_recordings([str(folder)])


def test_a_preview_of_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="there is no recording"):
        main(["--recording", str(tmp_path / "none.traj.jsonl"), "--dialect", "compact"])
    path = synthesis(tmp_path, [row("near", withheld=[2, 4])]) / row("near")["recording"]
    with pytest.raises(TrainingError, match="the agent said nothing in it that a model could learn"):
        main(["--recording", str(path), "--model", "tiny", "--dialect", "compact"])
