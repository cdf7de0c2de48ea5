from __future__ import annotations

import importlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from waiting import LIMIT_S, until

TRAINER = Path(__file__).resolve().parents[1]
SCRIPT = TRAINER / "rehearsal_trainer" / "setup_environment.py"
setup: Any = importlib.import_module("rehearsal_trainer.setup_environment")


def run(cache: Path, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "REHEARSAL_CACHE": str(cache), **environment}
    return subprocess.run([sys.executable, str(SCRIPT), *argv], capture_output=True, text=True, env=env)


def test_check_says_what_is_missing(tmp_path: Path) -> None:
    done = run(tmp_path, "--check")
    assert done.returncode == 1
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["ready"] is False and last["download"] > 300e6
    assert str(tmp_path) in last["python"]


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A cache in which the virtual environment was made and the first install failed, and what the set-up said."""
    cache = tmp_path_factory.mktemp("cache")
    return cache, run(cache, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(cache))


def test_a_failed_install_is_one_message_and_leaves_no_marker(
    failed: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    cache, done = failed
    assert done.returncode == 1
    assert "error: could not install TRL" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(cache.rglob("*.done"))


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_a_cancelled_install_ends_at_once_and_leaves_nothing_half_made(
    failed: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    cache, _ = failed
    with socket.create_server(("127.0.0.1", 0)) as silent:  # an index that takes the question and never answers
        index = {"PIP_INDEX_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/simple", "PIP_CONFIG_FILE": os.devnull}
        # pip itself would wait longer than this test does.
        env = {**os.environ, "REHEARSAL_CACHE": str(cache), **index, "PIP_DEFAULT_TIMEOUT": str(10 * LIMIT_S)}
        command = [sys.executable, str(SCRIPT)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        ) as setting_up:
            silent.settimeout(LIMIT_S)
            connection, _ = silent.accept()  # pip is at work
            with connection:
                setting_up.send_signal(signal.SIGTERM)
                _, said = setting_up.communicate(timeout=LIMIT_S)
    assert setting_up.returncode == 1
    assert said.splitlines()[-1] == "cancelled; what is complete is kept"
    assert "Traceback" not in said
    assert not list(cache.rglob("*.done"))
    list_processes = ["ps", "-A", "-o", "args="]
    until("the end of pip", lambda: str(cache) not in subprocess.check_output(list_processes, text=True))


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
    assert done[0][1:] == ["-P", "-m", "venv", "--clear", str(folder)]


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
    assert json.loads(capsys.readouterr().out) == {
        "python": str(setup.interpreter(folder)),
        "ready": True,
        "download": 0,
    }


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(setup, "OLDEST", (99, 0))
    assert setup.main([]) == 2
    assert "needs Python 3.11 or newer" in capsys.readouterr().err


def pins_in(name: str) -> list[str]:
    """Returns the requirements of a file, each with its hashes."""
    text = "".join(line for line in (setup.REQUIREMENTS / name).open() if not line.startswith("#"))
    return [line for line in text.replace("\\\n", " ").splitlines() if line]


def test_every_requirement_is_pinned() -> None:
    for name in {path.name for path in setup.REQUIREMENTS.glob("*.txt")} - {"supported.txt"}:
        for pin in pins_in(name):
            assert "==" in pin, f"{name}: {pin}"


def test_users_install_every_package_but_torch_by_its_hash() -> None:
    steps = setup.steps_of("remote")
    assert {name for name, *_ in steps} == {"local.txt", "torch.txt", "model.txt", "tensorboard.txt", "node.txt"}
    for name, _, _, extra in steps:
        if name != "torch.txt":
            assert "--require-hashes" in extra
            assert [pin for pin in pins_in(name) if "--hash=sha256:" not in pin] == []


def test_a_package_with_another_hash_is_not_installed(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "local_package-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("local_package.py", "")
        info = "local_package-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: local-package\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    (tmp_path / "pins.txt").write_text(f"local-package==1.0 --hash=sha256:{'0' * 64}\n")
    install = ["-m", "pip", "install", "--no-index", "--find-links", str(tmp_path), "--target", str(tmp_path / "site")]
    command = [sys.executable, *install, "-r", str(tmp_path / "pins.txt"), *setup.HASHED]
    with pytest.raises(setup.SetupError, match=r"could not install a package: .*DO NOT MATCH THE HASHES"):
        setup.run(command, "a package", "try again")
    assert not (tmp_path / "site").exists()


SITE = Path(importlib.import_module("torch").__file__ or "").parents[1]
"""The packages of the trainer's own environment."""


def existing(tmp_path: Path, *packages: str) -> Path:
    """Another real interpreter without pip, which sees the trainer's packages, or only those that are written here.

    A package is a name and a version, such as `trl 1.10.0`. Without one the trainer's packages are seen.
    """
    folder = tmp_path / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "trainer.pth").write_text(f"{SITE}\n")
    for package in packages:
        name, version = package.split()
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder / "bin" / "python"


def checked(command: list[str], **asked: Any) -> subprocess.CompletedProcess[str]:
    question = json.dumps({"command": command, **asked})
    env = {**os.environ, "PYTHONPATH": str(TRAINER)} if asked.pop("passes", True) else os.environ
    script = str(SCRIPT)
    return subprocess.run([*command, script, "--existing", question], capture_output=True, text=True, env=env)


needs_unix = pytest.mark.skipif(os.name == "nt", reason="virtual environments have other folders on Windows")


def without_network() -> list[str]:
    """The command that takes the network away, where the system allows it."""
    command = ["unshare", "--map-root-user", "--net"]
    try:
        able = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    except OSError:
        able = False
    return command if able else []


@needs_unix
def test_an_existing_python_is_used_as_it_is_without_a_network(tmp_path: Path) -> None:
    python = existing(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = checked([*without_network(), str(python)], paths=[str(tmp_path)])
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["python"] == str(python)
    assert subprocess.run([answer["node"], "--version"], capture_output=True).returncode == 0
    assert sorted(tmp_path.rglob("*")) == before


@needs_unix
def test_a_wrapper_script_is_an_interpreter(tmp_path: Path) -> None:
    python = existing(tmp_path)
    wrapper = tmp_path / "in container"
    wrapper.write_text(f'#!/bin/sh\nexec "{python}" "$@"\n')
    wrapper.chmod(0o755)
    assert checked([str(wrapper)]).returncode == 0


@needs_unix
def test_a_package_in_a_wrong_version_is_one_message_with_its_remedy(tmp_path: Path) -> None:
    python = str(existing(tmp_path, "trl 1.10.0", "peft 9.0"))
    done = checked([python])
    assert done.returncode == 1
    assert done.stderr == (
        f"error: {python} is used as it is and can't train: trl 1.10.0 is installed and >=1.16,<1.17 is needed; "
        f"peft 9.0 is installed and >=0.21,<0.22 is needed. Install with: {python} -m pip install "
        "'trl>=1.16,<1.17' 'peft>=0.21,<0.22' (of a container: in its image)\n"
    )


@needs_unix
def test_missing_packages_are_one_message(tmp_path: Path) -> None:
    python = existing(tmp_path)
    next(tmp_path.glob("other/lib/python*/site-packages/trainer.pth")).unlink()
    done = checked([str(python)])
    assert done.returncode == 1
    assert "torch is not installed and >=2.13,<2.14 is needed" in done.stderr
    assert f"Install with: {python} -m pip install 'packaging>=23' 'torch>=2.13,<2.14'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"paths": ["/no/such/folder"]}, r"does not see /no/such/folder: mount it at the same path"),
        ({"passes": False}, r"does not pass PYTHONPATH on: add the options that do \(docker: -e PYTHONPATH"),
    ],
)
def test_a_container_that_shares_too_little_is_told(asked: dict[str, Any], words: str) -> None:
    done = checked([sys.executable], **asked)
    assert done.returncode == 1
    assert re.search(words, done.stderr), done.stderr


@pytest.mark.skipif(not Path("/proc/self/ns/pid").exists(), reason="process ids have namespaces on Linux only")
def test_a_container_with_its_own_process_ids_is_told() -> None:
    done = checked([sys.executable], pids="pid:[1]")
    assert "has its own process ids" in done.stderr
    assert checked([sys.executable], pids=str(Path("/proc/self/ns/pid").readlink())).returncode == 0


def test_verl_has_an_environment_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REHEARSAL_CACHE", str(tmp_path))
    assert setup.environment_folder("verl") != setup.environment_folder("local") == setup.environment_folder("dev")
    names = [name for name, *_ in setup.steps_of("verl")]
    assert names[:2] == ["torch.txt", "verl.txt"]
    assert "local.txt" not in names
