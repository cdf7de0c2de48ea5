from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TRAINER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TRAINER))
setup: Any = importlib.import_module("setup_environment")


def run(cache: Path, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "REHEARSAL_CACHE": str(cache), **environment}
    return subprocess.run(
        [sys.executable, str(TRAINER / "setup_environment.py"), *argv], capture_output=True, text=True, env=env
    )


def test_check_says_what_is_missing(tmp_path: Path) -> None:
    done = run(tmp_path, "--check")
    assert done.returncode == 1
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["ready"] is False
    assert str(tmp_path) in last["python"]


def test_a_failed_install_is_one_message_and_leaves_no_marker(tmp_path: Path) -> None:
    done = run(tmp_path, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert done.returncode == 1
    assert "error: could not install PyTorch" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.done"))


def test_a_made_environment_is_instant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REHEARSAL_CACHE", str(tmp_path))
    folder = setup.environment_folder()
    folder.mkdir(parents=True)
    for name, *_ in setup.steps_of("dev"):
        setup.marker(folder, name).touch()
    monkeypatch.setattr(setup, "run", lambda *_: pytest.fail("nothing is to be installed"))
    assert setup.main(["--profile", "dev"]) == 0
    assert json.loads(capsys.readouterr().out) == {"python": str(setup.interpreter(folder)), "ready": True}


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(setup, "OLDEST", (99, 0))
    assert setup.main([]) == 2
    assert "needs Python 3.11 or newer" in capsys.readouterr().err


def test_every_requirement_is_pinned() -> None:
    for path in setup.REQUIREMENTS.glob("*.txt"):
        for line in path.read_text().splitlines():
            assert "==" in line, f"{path.name}: {line}"
