"""A job of a real Ray head on loopback: submitted by the command line, followed, stopped; and what is refused."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import DOMAIN, REPOSITORY
from waiting import LIMIT_S, until

from rehearsal_trainer.models.loading import model_folder

NODE = REPOSITORY / "node_modules" / "node" / "bin" / "node"
BIN = Path(sys.executable).parent


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Head:
    """`ray start --head`, with its dashboard and job server."""

    def __init__(self, folder: Path, gpus: int, cpus: int = 8, **environment: str) -> None:
        self.port = free_port()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("RAY_ADDRESS", "PYTHONPATH"))},
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": "a-token-of-the-test-that-is-long-enough-0123456789",
            "RAY_TMPDIR": str(folder),
            **environment,
        }
        command = [str(BIN / "ray"), "start", "--head", f"--port={free_port()}"]
        command += [f"--num-cpus={cpus}", f"--num-gpus={gpus}"]
        # The agent that takes jobs listens where that of no other head of this machine does.
        ports = [f"--dashboard-port={self.port}", f"--dashboard-agent-listen-port={free_port()}"]
        hosts = ["--dashboard-host=127.0.0.1", "--node-ip-address=127.0.0.1"]
        self.process = subprocess.Popen(
            [*command, *ports, *hosts, "--block", "--disable-usage-stats"],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def target(self) -> str:
        return f"ray://127.0.0.1:{self.port}"

    def rehearsal(self, *args: Any, **environment: str) -> subprocess.Popen[str]:
        command = [str(NODE), str(REPOSITORY / "dist" / "rehearsal.mjs"), "train", *map(str, args)]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, env={**self.environment, **environment}, stdout=pipe, stderr=pipe, text=True, cwd=REPOSITORY
        )

    def train(self, run: Path, *more: Any, **environment: str) -> subprocess.Popen[str]:
        sets = ["--set", f"storage={run.parent / 'storage'}", "--set", "evaluate_every=0"]
        args = ["grpo", DOMAIN, "--model", model_folder("tiny"), "--out", run, "--target", self.target, *sets]
        return self.rehearsal(*args, "--profile", "trial", *more, **environment)

    def wait(self) -> None:
        """Waits until the job server has an agent that takes jobs."""
        import urllib.request

        headers = {"Authorization": f"Bearer {self.environment['RAY_AUTH_TOKEN']}"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api/jobs/", headers=headers)

        def answers() -> bool:
            try:
                with urllib.request.urlopen(request, timeout=60):
                    return True
            except OSError:
                return False

        until("the job server answers", answers, lambda: self.process.poll() is None)

    def close(self) -> None:
        # `ray stop` would end every cluster of this machine: those of this head are known by its folder.
        mark = f"RAY_TMPDIR={self.environment['RAY_TMPDIR']}\0".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
        self.process.wait(LIMIT_S)


@contextlib.contextmanager
def started_head(gpus: int, cpus: int = 8, **environment: str) -> Iterator[Head]:
    """A head that takes jobs, with these variables in the environment of every process of its cluster."""
    # A socket's path may not be long.
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        started = Head(Path(folder), gpus, cpus, **environment)
        try:
            started.wait()
            yield started
        finally:
            started.close()


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with started_head(gpus=1) as started:
        yield started


def said(process: subprocess.Popen[str]) -> str:
    """Returns the last line of a command that fails."""
    _, words = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 2, words
    return words.strip().splitlines()[-1]


VERL_BEGAN = "ppo"
"""A word that the log of a job contains once verl itself has started."""


def until_written(process: subprocess.Popen[str], file: Path, word: str, times: int = 1) -> None:
    """Waits until a file that the process fetches has a word so many times."""

    def is_running() -> bool:
        assert process.poll() is None, process.communicate()
        return True

    until(f"{file.name} has {word}", lambda: file.exists() and file.read_text().count(word) >= times, is_running)


def events_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def stopped(head: Head, run: Path, following: subprocess.Popen[str]) -> str:
    """Stops a run, and waits until the command that follows it has ended well; what that said."""
    stopping = head.rehearsal("stop", run)
    _, words = stopping.communicate(timeout=LIMIT_S)
    assert stopping.returncode == 0, words
    _, words = following.communicate(timeout=LIMIT_S)
    assert following.returncode == 0, words
    return words


def test_a_head_with_another_token_is_one_message(head: Head, tmp_path: Path) -> None:
    assert "requires its token" in said(head.train(tmp_path / "run", RAY_AUTH_TOKEN="wrong" * 10))


def test_too_few_gpus_and_wrong_options_are_said_before_training(head: Head, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert "the run wants 4 x 8 GPUs, and the cluster has 1" in said(head.train(run, "--profile", "paper"))
    assert "prompt_tokens: 5000 leaves nothing" in said(head.train(run, "--set", "prompt_tokens=5000"))
    assert not (run / "ray.json").exists()


def test_a_key_that_the_cluster_lacks_is_named(head: Head, tmp_path: Path) -> None:
    user = {"base_url": "http://127.0.0.1:1/v1", "model": "m", "api_key_env": "KEY_OF_THE_USER"}
    words = said(head.train(tmp_path / "run", "--set", f"user={json.dumps(user)}", KEY_OF_THE_USER="here"))
    assert "KEY_OF_THE_USER is not set on" in words


def test_a_job_is_submitted_followed_stopped_and_not_resumed_without_a_checkpoint(head: Head, tmp_path: Path) -> None:
    run = tmp_path / "run"
    following = head.train(run)
    until_written(following, run / "events.jsonl", '"started"')
    assert json.loads((run / "config.json").read_text())["kind"] == "grpo"
    until_written(following, run / "log.txt", VERL_BEGAN)
    words = stopped(head, run, following)
    assert [event["type"] for event in events_of(run)] == ["started", "data", "stopped"], words
    assert "is not being trained on" in said(head.rehearsal("stop", run))
    assert "has no checkpoint to resume from" in said(head.rehearsal("resume", run))
