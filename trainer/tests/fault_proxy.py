"""A proxy in front of a gateway that injects one fault into each session, for tests only. Standard library only."""

from __future__ import annotations

import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, str, bytes]
"""Status, type and body of an answer."""


@dataclass
class Exchange:
    """A request of a session, and the data for its answer."""

    handler: BaseHTTPRequestHandler
    body: bytes
    forward: Callable[[bytes], Answer]
    earlier: list[Answer]
    """The gateway's answers to earlier requests of the session."""
    others: list[Answer]
    """The gateway's answers to other sessions."""

    def send(self, status: int, kind: str, body: bytes, cut: int | None = None) -> None:
        """Sends an answer; with `cut`, only that many bytes of it before the connection ends."""
        handler = self.handler
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("retry-after-ms", "1")
        handler.end_headers()
        handler.wfile.write(body[:cut])

    def answer(self) -> Answer:
        """Requests and keeps the gateway's answer, and returns it."""
        self.earlier.append(self.forward(self.body))
        return self.earlier[-1]

    def streamed(self) -> Answer:
        """Returns the gateway's answer as a stream."""
        return self.forward(json.dumps({**json.loads(self.body), "stream": True}).encode())


Inject = Callable[[Exchange], None]


@dataclass(frozen=True)
class Fault:
    """A fault that is injected into one request of a session, or into all requests from that one on."""

    name: str
    inject: Inject
    at: int = 1
    is_lasting: bool = False
    cause: str | None = None
    """The message of the rollout's failure; None if the fault does not change the rollout."""


def _close(_: Exchange) -> None:
    """Sends nothing; the connection is closed after each request."""


def _lose(exchange: Exchange) -> None:
    exchange.answer()


def _break_off(exchange: Exchange) -> None:
    answer = exchange.answer()
    exchange.send(*answer, cut=len(answer[2]) // 2)


def _fail(exchange: Exchange) -> None:
    exchange.send(500, "application/json", b'{"error": {"message": "boom"}}')


def _limit(exchange: Exchange) -> None:
    exchange.send(429, "application/json", b'{"error": {"message": "slow down"}}')


def _show_page(exchange: Exchange) -> None:
    exchange.send(502, "text/html", b"<html><body><h1>502 Bad Gateway</h1></body></html>")


def _choose_nothing(exchange: Exchange) -> None:
    exchange.send(200, "application/json", b'{"object": "chat.completion", "choices": []}')


def _fail_with_200(exchange: Exchange) -> None:
    exchange.send(200, "application/json", b'{"error": {"message": "boom", "code": 502}}')


def _fail_after(exchange: Exchange) -> None:
    exchange.answer()
    _fail(exchange)


def _repeat(exchange: Exchange) -> None:
    exchange.answer()
    exchange.send(*exchange.forward(exchange.body))


def _stream(exchange: Exchange) -> None:
    exchange.send(*exchange.streamed())


def _cut_stream(exchange: Exchange) -> None:
    status, kind, body = exchange.streamed()
    exchange.send(status, kind, body[: body.index(b"\n\n") // 2])


def _end_stream(exchange: Exchange) -> None:
    status, kind, body = exchange.streamed()
    exchange.send(status, kind, body[: body.index(b"\n\n") + 2])


def _fail_in_stream(exchange: Exchange) -> None:
    status, kind, body = exchange.streamed()
    first = body[: body.index(b"\n\n") + 2]
    exchange.send(status, kind, first + b'data: {"error": {"message": "boom"}}\n\ndata: [DONE]\n\n')


def _shift(exchange: Exchange) -> None:
    before = exchange.earlier[-1]
    exchange.answer()
    exchange.send(*before)


def _mix_up(exchange: Exchange) -> None:
    exchange.answer()
    exchange.send(*exchange.others[-1])


MIXED_UP = "took other answers of the model than were sampled for it"
FAULTS: Sequence[Fault] = [
    Fault("the connection is closed before the request arrives", _close),
    Fault("the answer is lost", _lose),
    Fault("the last answer is lost", _lose, at=2),
    Fault("the answer breaks off", _break_off),
    Fault("an error in place of the answer", _fail_after),
    Fault("the request arrives twice", _repeat),
    Fault("the rate is limited", _limit),
    Fault("an answer without choices", _choose_nothing),
    Fault("the answer is a stream", _stream),
    Fault("the stream is cut in an event", _cut_stream),
    Fault("the stream ends before its answer", _end_stream),
    Fault("an error in the middle of the stream", _fail_in_stream),
    Fault("an error always", _fail, is_lasting=True, cause="500: .*boom"),
    Fault("a page of a gateway always", _show_page, is_lasting=True, cause="502"),
    Fault("an error with status 200 always", _fail_with_200, is_lasting=True, cause="boom"),
    Fault("each stream ends before its answer", _end_stream, is_lasting=True, cause="broke off"),
    Fault("each answer is that of the request before", _shift, is_lasting=True, cause=MIXED_UP),
    Fault("the last answer is that of the request before", _shift, at=2, cause=MIXED_UP),
    Fault("an answer is that of another session", _mix_up, cause=MIXED_UP),
]


@dataclass
class FaultProxy:
    """Injects the fault of each session, in the order in which they make their first requests."""

    faults: Sequence[Fault | None]
    target: str = ""
    base_url: str = ""
    injected: set[str] = field(default_factory=set)
    """The names of the faults that were injected."""
    _sessions: dict[str, list[Answer]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answers a request with the fault of its session."""
        found = re.search(r"/sessions/([^/]+)/", handler.path)
        assert found is not None
        session = found[1]
        earlier = self._sessions.setdefault(session, [])
        order = list(self._sessions).index(session)
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        headers = {name: value for name, value in handler.headers.items() if name.lower() != "host"}
        url = f"{self.target}{handler.path}"
        others = [each for name, answers in self._sessions.items() if name != session for each in answers]
        exchange = Exchange(handler, body, lambda sent: _forward(url, sent, headers), earlier, others)
        fault = self.faults[order] if order < len(self.faults) else None
        count = self._counts.get(session, 0)
        self._counts[session] = count + 1
        if fault is None or count < fault.at or (count > fault.at and not fault.is_lasting):
            exchange.send(*exchange.answer())
            return
        self.injected.add(fault.name)
        fault.inject(exchange)


def _forward(url: str, body: bytes, headers: dict[str, str]) -> Answer:
    own = {**headers, "Content-Length": str(len(body))}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, own), timeout=300) as response:
            return response.status, response.headers["Content-Type"], response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read()


@contextmanager
def proxied(faults: Sequence[Fault | None]) -> Iterator[FaultProxy]:
    """Serves a proxy; set its `target` before the first request."""
    proxy = FaultProxy(faults)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            proxy.answer(self)

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.base_url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
