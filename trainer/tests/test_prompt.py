"""Tests how the tokens of a policy with its tools are counted."""

from __future__ import annotations

import io
import json

import pytest

from rehearsal_trainer.commands import prompt

POLICY = "You help people who wait for a parcel."
TOOL = {"name": "find_parcel", "description": "Finds a parcel.", "parameters": {"type": "object", "properties": {}}}


def test_a_policy_and_its_tools_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [{"system": "", "tools": []}, {"system": POLICY, "tools": []}, {"system": POLICY, "tools": [TOOL]}]
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(asked)))
    assert prompt.main(["--model", "tiny", "--dialect", "compact"]) == 0
    printed = json.loads(capsys.readouterr().out)
    empty, policy, with_tool = printed["tokens"]
    assert 5 < policy - empty < 20 < with_tool - empty < 100
    assert printed["limit"] >= 2048
