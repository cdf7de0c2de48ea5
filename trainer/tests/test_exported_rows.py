"""Loads exported rollouts with the programs that read them: `datasets`, TRL, and Rehearsal's import."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import pytest
from conftest import ENGINE, REPOSITORY, node_of
from trl import data_utils  # noqa: TID251

DOMAIN = REPOSITORY / "domains" / "order-desk"
FORMATS = ("rehearsal", "openai", "trl", "trl-text")


def rehearsal(*words: object) -> None:
    finished = subprocess.run([node_of(), ENGINE, *map(str, words)], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rollouts of a small synthesis in each format."""
    folder = tmp_path_factory.mktemp("exports")
    rehearsal("synth", DOMAIN, "--count", 12, "--out", folder / "cold")
    for name in FORMATS:
        rehearsal("synth", "export", folder / "cold", "--format", name, "--out", folder / f"{name}.jsonl")
    return folder


def rows_in(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def loaded(file: Path) -> datasets.Dataset:
    return datasets.Dataset.from_json(str(file), cache_dir=str(file.parent / "cache"))  # pyright: ignore[reportReturnType]


def said_in_export(row: Mapping[str, Any]) -> str:
    """Returns the messages of a row as one text, from the customer's first message on."""
    messages = row["messages"]
    start = next(n for n, each in enumerate(messages) if each["role"] == "user")
    return json.dumps(
        [
            [
                each["role"],
                each.get("content") or "",
                [[call["function"]["name"], arguments_of(call)] for call in each.get("tool_calls") or []],
            ]
            for each in messages[start:]
        ],
        sort_keys=True,
    )


def arguments_of(call: Mapping[str, Any]) -> Any:
    given = call["function"]["arguments"]
    return json.loads(given) if isinstance(given, str) else given


def said_in_recording(file: Path) -> str:
    said: list[Any] = []
    for event in (json.loads(line)["event"] for line in file.read_text(encoding="utf-8").splitlines()):
        match event["type"]:
            case "userReplied":
                said.append(["user", event["content"], []])
            case "agentReplied":
                calls = [[call["name"], call["arguments"]] for call in event["toolCalls"]]
                said.append(["assistant", event["content"] or "", calls])
            case "toolReturned":
                said.append(["tool", event["content"], []])
            case _:
                pass
    return json.dumps(said, sort_keys=True)


@pytest.mark.parametrize("name", FORMATS)
def test_rows_that_datasets_loads_and_writes_are_imported_as_they_were(exports: Path, name: str) -> None:
    exported = exports / f"{name}.jsonl"
    written = exports / f"{name}-written.jsonl"
    loaded(exported).to_json(str(written))
    run = exports / f"{name}-run"
    rehearsal("import", "chats", written, "--domain", DOMAIN, "--keep-personal-data", "--yes", "--out", run)
    imported = Counter(said_in_recording(file) for file in run.glob("*.traj.jsonl"))
    assert imported == Counter(said_in_export(row) for row in rows_in(exported))
    assert imported.total() > 0


def test_rows_for_openai_have_its_keys_alone_and_end_with_the_assistant(exports: Path) -> None:
    keys = {"role", "content", "tool_calls", "tool_call_id", "weight"}
    for row in rows_in(exports / "openai.jsonl"):
        assert row.keys() == {"messages", "tools"}
        assert {key for message in row["messages"] for key in message} <= keys
        assert row["messages"][-1]["role"] == "assistant"


@pytest.mark.parametrize("name", ["trl", "trl-text"])
def test_rows_for_trl_render_with_its_loader(exports: Path, tokenizer: Any, name: str) -> None:
    rows = loaded(exports / f"{name}.jsonl")
    assert 0 < len(rows) < len(rows_in(exports / "rehearsal.jsonl")), "near-misses are left out"
    for row in rows:
        example: dict[str, Any] = dict(row)
        assert data_utils.is_conversational(example)
        tools = example["tools"]
        example["tools"] = json.loads(tools) if isinstance(tools, str) else tools
        text = data_utils.apply_chat_template(example, tokenizer)["text"]
        assert all(each["content"] in text for each in example["messages"] if each.get("content"))
