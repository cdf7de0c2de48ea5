"""The loop of the bridge: one JSON object a line in, one out; requests are answered in order."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any

from .description import BridgeError, place_in, words_of
from .hosted import Hosted
from .on_database import OnDatabase
from .tools_file import ToolsFile

NAME = "rehearsal_domain"


def main() -> None:
    """Serves until standard input ends. Whatever the domain prints goes to standard error, its input is empty."""
    # Ctrl+C in a terminal reaches every process; the engine decides what becomes of the rollouts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    waiting: queue.Queue[bytes] = queue.Queue()

    def read() -> None:
        # Reads in a separate thread, so that the end of the parent process also ends a tool that hangs.
        for line in requests:
            waiting.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    server = Server()
    while True:
        answers.write(answered(server, waiting.get()) + "\n")
        answers.flush()


def answered(server: Server, line: bytes) -> str:
    """Returns the answer to a request as a line of JSON: an error where one cannot be read or written."""
    request: dict[str, Any] = {"id": 0}
    try:
        request = json.loads(line)
        return encoded({"id": request["id"], **server.answer(request["method"], request.get("params", {}))})
    except BaseException as error:
        # No data of a domain or a model may end this process, which serves other rollouts too.
        fault = {"code": "environment/failed", **described(error, server.folder)}
        return encoded({"id": request["id"], "error": fault})


def encoded(answer: Mapping[str, Any]) -> str:
    # As ASCII, since UTF-8 has no lone surrogates, which a JSON string may have.
    return json.dumps(answer, separators=(",", ":"), allow_nan=False)


class Server:
    """Answers requests about one file of a domain, which the first request names."""

    def __init__(self) -> None:
        self._host: Any = None
        self.folder = ""

    def answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return {"result": self._perform(method, params)}
        except BridgeError as error:
            return {"error": {"code": error.code, "message": words_of(error), "file": error.file, "line": error.line}}
        except BaseException as error:
            return {"error": {"code": "environment/failed", **described(error, self.folder)}}

    def _perform(self, method: str, params: Mapping[str, Any]) -> Any:
        if method == "open":
            return self._open(params)
        session = str(params.get("session", ""))
        host: Any = self._host
        simple = {"drop": "drop", "read": "read", "snapshot": "snapshot", "reset": "reset"}
        if method == "call":
            return host.call(params)
        if method in ("about", "audit"):
            return getattr(host, method)()
        if isinstance(self._host, OnDatabase) and method in ("set_up", "sync", "ask"):
            return getattr(host, method)(params)
        if method in simple:
            return getattr(host, simple[method])(session)
        if method == "set_up":
            return host.set_up(session, params["data"])
        if method == "restore":
            return host.restore(session, params["snapshot"])
        if method == "assert":
            return host.check(session, params["name"])
        raise BridgeError("bridge/method", f"the bridge has no method {method}")

    def _open(self, params: Mapping[str, Any]) -> Any:
        self.folder = params["folder"]
        if params["kind"] == "database":
            self._host = OnDatabase(params, log)
            return self._host.describe()
        module = load(params["file"], self.folder)
        if params["kind"] == "tools":
            self._host = ToolsFile(module, self.folder, params["base"], log)
        else:
            self._host = Hosted(module, self.folder, log)
        return self._host.describe()


def load(file: str, folder: str) -> Any:
    """Runs the module of a domain; its neighbours can be imported."""
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(NAME, file)
    if spec is None or spec.loader is None:
        raise BridgeError("tool/code", f"{file} is not a Python file", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        where = described(error, folder)
        raise BridgeError("tool/code", where["message"], where["file"] or file, where["line"]) from error
    return module


def described(error: BaseException, folder: str) -> dict[str, Any]:
    """Returns message and place of an exception; the place is the innermost line in the domain."""
    if isinstance(error, SyntaxError):
        return {"message": f"{type(error).__name__}: {error.msg}", "file": error.filename, "line": error.lineno}
    file, line = place_in(error, folder) or (None, None)
    return {"message": f"{type(error).__name__}: {words_of(error)}", "file": file, "line": line}


def log(text: str) -> None:
    """Writes a line to standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
