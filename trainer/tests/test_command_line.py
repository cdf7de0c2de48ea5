"""Tests the commands for a trained model: `gateway` serves it, and `export` writes it as a whole model."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from conftest import ENGINE, node_of
from waiting import LIMIT_S


def rehearsal(*arguments: str) -> list[str]:
    return [node_of(), str(ENGINE), *arguments, "--python", sys.executable, "--json"]


@pytest.mark.full
def test_a_served_model_answers_a_chat_completion_with_a_tool_and_ends_when_it_is_told_to() -> None:
    serving = subprocess.Popen(rehearsal("serve-model", "tiny"), stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    try:
        served = json.loads(serving.stdout.readline())
        tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
        body = {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "tools": [tool], "max_tokens": 8}
        request = urllib.request.Request(
            f"{served['url']}/chat/completions",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {served['token']}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            completion = json.load(answer)
        assert completion["choices"][0]["message"]["role"] == "assistant"
        assert 1 <= completion["usage"]["completion_tokens"] <= 8
    finally:
        serving.terminate()
        assert serving.wait(LIMIT_S) == 0


@pytest.mark.full
def test_an_exported_adapter_is_a_whole_model(runs: Path, tmp_path: Path) -> None:
    checkpoint, out = runs / "grpo" / "checkpoints" / "final", tmp_path / "merged"
    command = rehearsal("export-model", str(checkpoint), "--out", str(out))
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said == {"model": str(out), "bytes": sum(file.stat().st_size for file in out.glob("*.safetensors"))}
    assert said["bytes"] > 1e6 and not (out / "adapter_config.json").exists()
    again = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert again.returncode == 2 and "expected a new or an empty folder" in again.stdout
