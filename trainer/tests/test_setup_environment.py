from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
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


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_a_cancelled_install_ends_at_once_and_leaves_nothing_half_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # an index that takes the question and never answers
        index = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        env = {**os.environ, "REHEARSAL_CACHE": str(tmp_path), "PIP_INDEX_URL": index, "PIP_CONFIG_FILE": os.devnull}
        command = [sys.executable, str(TRAINER / "setup_environment.py")]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        ) as setting_up:
            silent.settimeout(60)
            silent.accept()  # pip is at work
            started = time.monotonic()
            setting_up.send_signal(signal.SIGTERM)
            _, said = setting_up.communicate(timeout=20)
    assert time.monotonic() - started < 20
    assert setting_up.returncode == 1
    assert said.splitlines()[-1] == "cancelled; what is complete is kept"
    assert "Traceback" not in said
    assert not list(tmp_path.rglob("*.done"))
    running = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in running


def test_an_environment_that_was_interrupted_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REHEARSAL_CACHE", str(tmp_path))
    folder = setup.environment_folder()
    python = setup.interpreter(folder)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    assert python.exists()
    assert not setup.has_pip(python)
    done: list[list[str]] = []
    monkeypatch.setattr(setup, "run", lambda command, *_: done.append(command))
    setup.make(folder, python, setup.steps_of("local")[:1])
    assert done[0][1:] == ["-m", "venv", "--clear", str(folder)]


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


def test_verl_has_an_environment_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REHEARSAL_CACHE", str(tmp_path))
    assert setup.environment_folder("verl") != setup.environment_folder("local") == setup.environment_folder("dev")
    names = [name for name, *_ in setup.steps_of("verl")]
    assert names[:2] == ["torch.txt", "verl.txt"]
    assert "local.txt" not in names
