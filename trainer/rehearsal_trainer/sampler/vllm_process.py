"""Runs vLLM's engine in a process (`vllm_worker.py`), which any thread can send requests to as JSON lines."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import threading
from concurrent.futures import Future
from pathlib import Path

from rehearsal_trainer.processes.child_process import HUB_KEYS, OWN_SESSION, without_keys
from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.messages import Json

START_S = 900
"""The longest that vLLM may take to load a model and to look at the memory."""
END_S = 30
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Keeps vLLM's own processes, which start with -m and -c, from loading modules of the working folder: the run's."""
LEFT_S = 0.5
"""The longest that the last answers are waited for, once the process or its output has ended."""
SHOWN = 200
"""The number of characters of a broken line that an error message shows."""
LAST_WORDS = 20
"""The number of lines of vLLM's log that are appended to an error message."""


class VllmProcess:
    """A process that the constructor starts and waits for; TrainingError if it does not start.

    Its standard error goes to `log_file`.
    """

    def __init__(self, python: str, model: str, options: dict[str, Json], log_file: Path) -> None:
        side = Path(__file__).with_name("vllm_worker.py")
        self._log = log_file
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    [python, str(side), model, json.dumps(options)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8",
                    errors="replace",
                    env=without_keys(HUB_KEYS) | SAFE_PATH, **OWN_SESSION,
                )  # fmt: skip
        except OSError as error:
            raise TrainingError(f"vLLM did not start: {error}") from error
        ready: Future[dict[str, Json]] = Future()
        self._waiting = {0: ready}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        reader = threading.Thread(target=self._read, name="vllm", daemon=True)
        reader.start()
        threading.Thread(target=self._fail_at_end, args=(reader,), name="vllm's end", daemon=True).start()
        try:
            ready.result(START_S)
        except Exception as error:
            self._process.kill()
            raise TrainingError(f"vLLM did not start: {error or f'it took more than {START_S} s'}") from error

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, so that it can no longer be used."""
        return self._process.poll() is not None

    def ask(self, line: dict[str, Json]) -> tuple[int, Future[dict[str, Json]]]:
        """Sends a line, and returns its number and the future answer, which can fail with a RuntimeError."""
        future: Future[dict[str, Json]] = Future()
        with self._lock:
            number = next(self._numbers)
            if self.has_ended:
                future.set_exception(RuntimeError(self._end()))
                return number, future
            self._waiting[number] = future
            assert self._process.stdin is not None
            with contextlib.suppress(OSError, ValueError):  # if the process is ending, `_read` fails the future
                self._process.stdin.write(json.dumps({"id": number, **line}) + "\n")
                self._process.stdin.flush()
        return number, future

    def is_asked(self, number: int) -> bool:
        """Returns whether a line still waits for its answer."""
        return number in self._waiting

    def close(self) -> None:
        """Ends the process; open requests fail."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _end(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([f"vLLM has ended; its output is in {self._log}", *lines[-LAST_WORDS:]])

    def _read(self) -> None:
        assert self._process.stdout is not None
        for text in self._process.stdout:
            try:
                line = json.loads(text)
            except ValueError:
                line = None
            if not isinstance(line, dict):
                # It can be what is left of any answer.
                self._fail_all(f"vLLM's process wrote a line that is not an answer: {text[:SHOWN].rstrip()}")
                continue
            future = self._waiting.pop(line.get("id", 0), None)
            if future is None:
                continue
            if "error" in line:
                future.set_exception(RuntimeError(line["error"]))
            else:
                future.set_result(line)
        # A process that has closed its output can no longer answer.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LEFT_S)
        self._process.kill()

    def _fail_at_end(self, reader: threading.Thread) -> None:
        """Fails the requests that are open when the process ends, also if its children keep its output open."""
        self._process.wait()
        reader.join(LEFT_S)  # the last answers
        with self._lock:  # `ask` does not add requests after the end of the process
            self._fail_all(self._end())

    def _fail_all(self, message: str) -> None:
        with contextlib.suppress(KeyError):  # until none is left
            while True:
                self._waiting.popitem()[1].set_exception(RuntimeError(message))
