from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from waiting import LIMIT_S, until

TRAINER = Path(__file__).resolve().parents[1]
PROCESSES = TRAINER / "rehearsal_trainer" / "processes"
PARTS = (
    PROCESSES / "child_process.py",
    PROCESSES / "trainer_process.py",
    TRAINER / "install_wheel.py",
    TRAINER / "remote_agent.py",
)
PROGRAM = b"".join(path.read_bytes() for path in PARTS)
"""The program that is sent, in the same form as in src/cli/targets/ssh/remoteAgent.ts."""
remote_agent: Any = types.ModuleType("remote_agent")
exec(compile(PROGRAM, "remote_agent.py", "exec"), remote_agent.__dict__)

Have = dict[str, tuple[int, str]]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a target over SSH needs Linux or macOS")


def of(path: Path) -> tuple[int, str]:
    data = path.read_bytes()
    return len(data), hashlib.sha256(data).hexdigest()


def told(run: Path, have: Have, once: bool = False) -> list[dict[str, Any]]:
    """Returns the messages that follow a run that has ended; a message about a file includes its bytes."""
    sink = io.BytesIO()
    remote_agent.follow(run, {"have": have, "once": once}, sink)
    source, messages = io.BytesIO(sink.getvalue()), []
    while line := source.readline():
        message = json.loads(line)
        messages.append({**message, "data": source.read(message["size"])} if "size" in message else message)
    return messages


def test_a_follower_gets_what_it_lacks_and_events_last(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("1\n2\n")
    (tmp_path / "metrics.jsonl").write_text("abcdef")
    for folder in ("checkpoints", "serving"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "weights").write_text("heavy")
    for own in ("pid", "stop", "launch.json"):
        (tmp_path / own).write_text("999999999")
    known = tmp_path / "elsewhere"
    known.write_text("abc")
    have = {"metrics.jsonl": of(known), "elsewhere": of(known)}
    assert told(tmp_path, have) == [
        {"path": "metrics.jsonl", "offset": 3, "size": 3, "data": b"def"},
        {"path": "events.jsonl", "offset": 0, "size": 4, "data": b"1\n2\n"},
        {"over": True},
    ]


@pytest.mark.parametrize("now", ["new", "other than before", ""])
def test_a_file_that_was_written_anew_is_sent_from_its_beginning(tmp_path: Path, now: str) -> None:
    (tmp_path / "config.json").write_text("before")
    have = {"config.json": of(tmp_path / "config.json")}
    (tmp_path / "config.json").write_text(now)
    first, last = told(tmp_path, have)
    assert first == {"path": "config.json", "offset": 0, "size": len(now), "data": now.encode()}
    assert last == {"over": True}


def test_what_is_no_more_is_told(tmp_path: Path) -> None:
    have: Have = {"trajectories/step-000002/a.0.traj.jsonl": (3, "x")}
    assert told(tmp_path, have) == [{"gone": "trajectories/step-000002/a.0.traj.jsonl"}, {"over": True}]


def test_a_checkpoint_that_is_deleted_meanwhile_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="was deleted meanwhile"):
        told(tmp_path / "checkpoint-3", {}, once=True)


def test_only_checkpoints_that_the_run_told_of_can_be_fetched(tmp_path: Path) -> None:
    for name in ("checkpoint-1", "checkpoint-2", "checkpoint-3"):
        (tmp_path / "checkpoints" / name).mkdir(parents=True)
    (tmp_path / "checkpoints" / "checkpoint-1").rmdir()
    events = [{"type": "checkpoint", "path": f"checkpoint-{step}"} for step in (1, 2, 2)]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    assert remote_agent.checkpoints(tmp_path) == {"checkpoints": ["checkpoint-2"]}


def bring(folder: Path, trees: dict[str, Any], *contents: bytes) -> list[dict[str, Any]]:
    source, sink = io.BytesIO(), io.BytesIO()
    for content in contents:
        source.write(json.dumps({"size": len(content)}).encode() + b"\n" + content)
    source.seek(0)
    answer = remote_agent.bring(folder, {"trees": trees}, source, sink)
    return [*map(json.loads, sink.getvalue().splitlines()), answer]


def test_only_what_changed_is_brought_and_trees_stay_as_they_were(tmp_path: Path) -> None:
    one, two, run = (hashlib.sha256(text).hexdigest() for text in (b"one", b"two!", b"#!"))
    first = {"t1": {"desk/a.txt": (one, 3, False), "desk/bin/run": (run, 2, True)}}
    assert bring(tmp_path, first, b"one", b"#!") == [{"want": [one, run]}, {"brought": 2}]
    second = {"t2": {"desk/a.txt": (two, 4, False), "desk/bin/run": (run, 2, True)}}
    assert bring(tmp_path, second, b"two!") == [{"want": [two]}, {"brought": 1}]
    assert bring(tmp_path, first | second) == [{"want": []}, {"brought": 0}]
    assert [(tmp_path / "trees" / tree / "desk" / "a.txt").read_text() for tree in ("t1", "t2")] == ["one", "two!"]
    assert os.access(tmp_path / "trees" / "t2" / "desk" / "bin" / "run", os.X_OK)


def test_a_file_that_did_not_arrive_whole_is_not_kept(tmp_path: Path) -> None:
    content = hashlib.sha256(b"whole").hexdigest()
    tree = {"t": {"a": (content, 5, False)}}
    with pytest.raises(SystemExit, match="was changed while it was brought"):
        bring(tmp_path, tree, b"wrong")
    with pytest.raises(SystemExit, match="connection was cut"):
        remote_agent.bring(tmp_path, {"trees": tree}, io.BytesIO(b'{"size": 5}\nwh'), io.BytesIO())
    assert list((tmp_path / "store").iterdir()) == []
    assert not (tmp_path / "trees" / "t").exists()


def test_a_trainer_outlives_who_started_it_and_its_key_is_in_no_file(tmp_path: Path) -> None:
    package = tmp_path / "trainer" / "rehearsal_trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    trainer = "import os, signal; open('events.jsonl', 'a').write('{}'); open('key', 'w').write(os.environ['KEY'][:1])"
    (package / "__main__.py").write_text(f"{trainer}; signal.pause()")
    run = tmp_path / "runs" / "one"
    asked = {
        "folder": str(run), "do": "start", "python": [sys.executable], "trainer": str(tmp_path / "trainer"),
        "kind": "sft", "config": {"a": 1}, "resume": False, "environment": {"KEY": "k-secret"},
    }  # fmt: skip
    bootstrap = "import sys; exec(compile(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())), 'f', 'exec'))"
    given = f"{len(PROGRAM)}\n".encode() + PROGRAM + json.dumps(asked).encode() + b"\n"
    done = subprocess.run([sys.executable, "-c", bootstrap], input=given, capture_output=True, timeout=LIMIT_S)
    pid = json.loads(done.stdout.removeprefix(remote_agent.MARK))["pid"]
    try:
        assert os.getsid(pid) == pid
        key = run / "key"
        assert until("the trainer writes its key", lambda: key.exists() and key.read_text()) == "k"
        assert all(b"k-secret" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    finally:
        os.kill(pid, 9)


def test_a_trainer_that_can_not_begin_is_told_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "rehearsal_trainer.py").write_text("import sys; sys.exit('error: there is no checkpoint')")
    asked = {"python": [sys.executable], "trainer": str(tmp_path), "kind": "sft", "config": {}, "resume": True}
    assert remote_agent.start(tmp_path / "run", asked) == {"failed": "there is no checkpoint"}


def test_the_program_needs_nothing_of_the_trainer(tmp_path: Path) -> None:
    given = PROGRAM + b"\nprint(running_process(Path('pid')), 'rehearsal_trainer' in sys.modules)"
    program = given.replace(b'if __name__ == "__main__"', b"if False")
    done = subprocess.run([sys.executable, "-IS", "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "None False\n", done.stderr


def test_a_pid_that_the_system_gave_away_again_is_no_trainer(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    assert remote_agent.running_process(pid) is None
    pid.write_text(str(os.getpid()))
    assert remote_agent.running_process(pid) == os.getpid()
    os.utime(pid, (1, 1))
    assert remote_agent.running_process(pid) is None
    (tmp_path / "pid").write_text("999999999")
    assert remote_agent.stop(tmp_path) == {"isRunning": False}
    assert not (tmp_path / "stop").exists()


@pytest.mark.parametrize("offline", ["0", "1"])
def test_a_hub_that_can_not_be_asked_refuses_nothing(tmp_path: Path, offline: str) -> None:
    environment = {"HF_ENDPOINT": "http://127.0.0.1:1", "HF_HUB_OFFLINE": offline, "HF_HOME": str(tmp_path)}
    assert remote_agent.refusal("ada/desk", environment) is None


def test_no_redirect_takes_the_token_to_another_origin(tmp_path: Path) -> None:
    asked: list[tuple[str, str | None]] = []

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append((f"{self.headers['Host']}{self.path}", self.headers.get("Authorization")))
            elsewhere = f"http://localhost:{hub.server_port}/other"
            self.send_response(307)
            self.send_header("Location", "/ada/moved/" if self.path.startswith("/ada/desk/") else elsewhere)
            self.end_headers()

        # Python before 3.13 follows a redirect of HEAD with GET.
        do_GET = do_HEAD

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as hub:
        threading.Thread(target=hub.serve_forever).start()
        address = f"127.0.0.1:{hub.server_port}"
        environment = {"HF_ENDPOINT": f"http://{address}", "HF_TOKEN": "hf_planted", "HF_HOME": str(tmp_path)}
        assert remote_agent.refusal("ada/desk", environment) is None
        hub.shutdown()
    paths = ("/ada/desk/resolve/main/config.json", "/ada/moved/")
    assert asked == [(f"{address}{path}", "Bearer hf_planted") for path in paths]


def test_what_is_tried_out_tells_what_the_run_needs(tmp_path: Path) -> None:
    package = tmp_path / "trainer" / "rehearsal_trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys; sys.exit(sys.stdin.read() == '{}' or print('needs 5'))")
    (tmp_path / "node").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "node").chmod(0o755)
    asked = {
        "python": [sys.executable], "node": str(tmp_path / "node"), "trainer": str(package.parent), "engine": "e",
        "kind": "sft", "domains": ["d"],
    }  # fmt: skip
    tried = remote_agent.try_out(tmp_path, {**asked, "config": {"steps": 1}})
    assert tried == {"words": "needs 5\n"}
    assert remote_agent.try_out(tmp_path, {**asked, "config": {}})["failed"] == "options"
