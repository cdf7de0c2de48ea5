from __future__ import annotations

import asyncio
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rehearsal_trainer.processes.child_process import without_keys
from rehearsal_trainer.rollouts import engine

KEYS = {
    "OPENAI_API_KEY": "sk-openai-planted",
    "HF_TOKEN": "hf-planted-token",
    "WANDB_API_KEY": "wandb-planted",
    "DESK_KEY": "desk-planted-key",
}


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("REHEARSAL_ENGINE_KEYS", raising=False)


def keys_in(environment: dict[str, str]) -> set[str]:
    return set(KEYS) & set(environment)


def test_a_key_is_left_out_unless_it_is_needed() -> None:
    assert keys_in(without_keys()) == set()
    assert keys_in(without_keys(["HF_TOKEN"])) == {"HF_TOKEN"}
    assert "PATH" in without_keys()


@pytest.mark.parametrize(
    ("named", "given"),
    [(None, {"OPENAI_API_KEY", "DESK_KEY"}), ("", set[str]()), ("DESK_KEY", {"DESK_KEY"}), ("HF_TOKEN", {"HF_TOKEN"})],
)
def test_the_engine_gets_the_keys_that_a_run_names(
    named: str | None, given: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if named is not None:
        monkeypatch.setenv("REHEARSAL_ENGINE_KEYS", named)
    printed = "import json, os; print(json.dumps(dict(os.environ)))"

    async def ask() -> bytes:
        process = await engine._started([sys.executable, "-c", printed], str(tmp_path))
        out, _ = await process.communicate()
        return out

    assert keys_in(json.loads(asyncio.run(ask()))) == given


def test_pip_gets_no_key(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    setup: Any = importlib.import_module("rehearsal_trainer.setup_environment")
    seen = tmp_path / "seen.json"
    printed = f"import json, os; open({str(seen)!r}, 'w').write(json.dumps(dict(os.environ)))"
    setup.run([sys.executable, "-c", printed], "a package", "try again")
    assert keys_in(json.loads(seen.read_text())) == set()
