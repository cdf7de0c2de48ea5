"""An OpenAI-compatible server on loopback that owns the tokens, log-probabilities and loss mask of a model.

docs/training-protocol.md specifies it. It does not support logprobs and n > 1 in answers, images, or a forced tool
choice. Torch-free.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import re
import secrets
import sys
import time
from collections.abc import AsyncIterator
from typing import Any, Generic, TypeVar

from aiohttp import web

from rehearsal_trainer.chat.chat import Chat, preview_of
from rehearsal_trainer.chat.masks import Row, joined
from rehearsal_trainer.gateway.chat_request import ChatRequest, RequestError, read_chat_request, read_session_request
from rehearsal_trainer.gateway.session import Session, split_system
from rehearsal_trainer.sampler.answers import Answerer, ContextExceededError, Generated, Sampling
from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.messages import Conversation, Json, Message

MAX_BODY = 16 * 2**20
REQUEST_ID = "X-Client-Request-Id"
"""The header with the client's id of a request. A retry has the same id."""
LOCAL_HOST = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
Model = TypeVar("Model", bound=Answerer, covariant=True)


class Gateway(Generic[Model]):
    """Sessions over one model. `token` gives access to everything; a session's token only to that session."""

    def __init__(self, generator: Model, chat: Chat, model: str, sampling: Sampling, context: int) -> None:
        self.generator = generator
        self.chat = chat
        self.model = model
        self.sampling = sampling
        self.context = context
        self.token = secrets.token_urlsafe(32)
        self.base_url = ""
        self.sessions: dict[str, Session] = {}
        self._busy: set[str] = set()

    @contextlib.asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator[Gateway[Model]]:
        """Serves on loopback; port 0 chooses a free port. `base_url` is set while it serves.

        ConfigurationError for a port that is not available.
        """
        app = web.Application(middlewares=[self._guarded], client_max_size=MAX_BODY)
        app.add_routes(
            [
                web.get("/v1/models", self._models),
                web.post("/v1/chat/completions", self._complete_without_session),
                web.post("/sessions", self._open),
                web.delete("/sessions/{id}", self._close),
                web.get("/sessions/{id}/trace", self._trace),
                web.get("/sessions/{id}/v1/models", self._models),
                web.post("/sessions/{id}/v1/chat/completions", self._complete),
                web.post("/preview", self._preview),
            ]
        )
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        try:
            await site.start()
        except OSError as error:
            await runner.cleanup()
            why = "another program listens there" if error.errno == errno.EADDRINUSE else error.strerror
            raise ConfigurationError(f"--port {port}: {why}; choose another, or leave it out for a free one") from error
        self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    def open_session(self, seed: str, sampling: Sampling | None = None) -> Session:
        """Opens a session; its URL is `session_url(session)`."""
        session = Session(self.chat, sampling or self.sampling, seed)
        self.sessions[session.id] = session
        return session

    def session_url(self, session: Session) -> str:
        """Returns the OpenAI base URL of a session for its client."""
        return f"{self.base_url}/sessions/{session.id}/v1"

    def close_session(self, session: Session) -> None:
        """Forgets a session and its keys and values."""
        self.sessions.pop(session.id, None)
        self.generator.release(session.id)

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        try:
            self._authorize(request)
            return await handler(request)
        except RequestError as error:
            return _error_response(error)
        except web.HTTPException as error:
            code = "not_found" if error.status == 404 else "invalid_request"
            return _error_response(RequestError(f"{request.method} {request.path}: {error.reason}", code, error.status))
        except ContextExceededError as error:
            return _error_response(RequestError(str(error), "context_length_exceeded"))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the client needs an answer, and the log needs the cause
            print(f"gateway: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            return _error_response(RequestError(f"{type(error).__name__}: {error}", "server_error", 500))

    def _authorize(self, request: web.Request) -> None:
        # A page in a browser sends its origin, and under DNS rebinding its own name as the host.
        if "Origin" in request.headers or not LOCAL_HOST.fullmatch(request.headers.get("Host", "")):
            raise RequestError("only programs of this machine are answered", "not_local", 403)
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise RequestError("send the token as 'Authorization: Bearer <token>'", "invalid_api_key", 401)
        if secrets.compare_digest(token.encode(), self.token.encode()):
            return
        owner = next(
            (s for s in self.sessions.values() if secrets.compare_digest(s.token.encode(), token.encode())), None
        )
        named = request.match_info.get("id")
        allowed = owner is not None and (named == owner.id or (named is None and request.path.startswith("/v1/")))
        if not allowed:
            raise RequestError("this token does not open the requested session", "invalid_api_key", 401)
        request["owner"] = owner

    def _named(self, request: web.Request) -> Session:
        session = self.sessions.get(request.match_info["id"])
        if session is None:
            raise RequestError(f"there is no session {request.match_info['id']}", "session_not_found", 404)
        return session

    async def _models(self, _: web.Request) -> web.Response:
        entry = {
            "id": self.model,
            "object": "model",
            "created": 0,
            "owned_by": "rehearsal",
            "max_model_len": self.context,
        }
        return web.json_response({"object": "list", "data": [entry]})

    async def _open(self, request: web.Request) -> web.Response:
        seed, sampling = read_session_request(await _body(request), self.sampling)
        session = self.open_session(seed, sampling)
        return web.json_response({"id": session.id, "base_url": self.session_url(session), "api_key": session.token})

    async def _close(self, request: web.Request) -> web.Response:
        self.close_session(self._named(request))
        return web.json_response({"closed": True})

    async def _trace(self, request: web.Request) -> web.Response:
        return web.json_response(self._named(request).trace())

    async def _preview(self, request: web.Request) -> web.Response:
        chat_request = read_chat_request(await _body(request))
        system, spoken = split_system(chat_request.messages)
        rows = self.chat.rows_of(Conversation(system, chat_request.tools, spoken))
        if not spoken or spoken[-1].role != "assistant":
            # The messages after the last answer are the prompt that the model would continue.
            session = Session(self.chat, self.sampling, "preview")
            prompt = session.prompt(chat_request.messages, chat_request.tools)
            known = rows[-1].ids
            if prompt[: len(known)] != known:
                rows.append(Row())
            rows[-1].append_given(prompt[len(rows[-1].ids) :])
        return web.json_response(preview_of(self.chat.tokenizer, joined(rows)) | {"format": self.chat.form.name})

    async def _complete_without_session(self, request: web.Request) -> web.StreamResponse:
        owner: Session | None = request.get("owner")
        if owner is not None:
            return await self._answer(request, owner, read_chat_request(await _body(request)))
        asked = read_chat_request(await _body(request))
        session = self.open_session(secrets.token_hex(8), asked.sampling(self.sampling))
        try:
            return await self._answer(request, session, asked)
        finally:
            self.close_session(session)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        session = self._named(request)
        return await self._answer(request, session, read_chat_request(await _body(request)))

    async def _answer(self, request: web.Request, session: Session, asked: ChatRequest) -> web.StreamResponse:
        if session.id in self._busy:
            raise RequestError("a session answers one request at a time", "session_busy", 409)
        named = request.headers.get(REQUEST_ID)
        if session.answered is not None and session.answered[0] == named:
            # The client did not get the answer. A new one would leave the first in the rows, where it would train.
            return await _sent(request, asked, session.answered[1])
        self._busy.add(session.id)
        try:
            prompt = session.prompt(asked.messages, asked.tools)
            length = len(prompt)
            limit = min(session.sampling.max_tokens, asked.max_tokens or session.sampling.max_tokens)
            sampling = Sampling(session.sampling.temperature, session.sampling.top_p, limit)
            future = self.generator.submit(session.id, prompt, sampling, session.turn_seed())
            generated = await asyncio.wrap_future(future)
            message = session.reply(generated.ids, generated.logprobs, generated.finish_reason)
        finally:
            self._busy.discard(session.id)
        completion = self._completion(message, generated, length)
        if named is not None:
            session.answered = (named, completion)
        return await _sent(request, asked, completion)

    def _completion(self, message: Message, generated: Generated, prompt_length: int) -> dict[str, Json]:
        reason = generated.finish_reason
        return {
            "id": f"chatcmpl-{message.rehearsal_id}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.model,
            "choices": [
                {
                    "index": 0,
                    "message": _message_json(message),
                    "logprobs": None,
                    "finish_reason": "tool_calls" if message.tool_calls and reason == "stop" else reason,
                }
            ],
            "usage": {
                "prompt_tokens": prompt_length,
                "completion_tokens": len(generated.ids),
                "total_tokens": prompt_length + len(generated.ids),
                "prompt_tokens_details": {"cached_tokens": generated.cached_tokens},
            },
        }


def _message_json(message: Message) -> dict[str, Json]:
    result: dict[str, Json] = {"role": "assistant", "content": message.content, "rehearsal_id": message.rehearsal_id}
    if message.reasoning:
        result["reasoning_content"] = message.reasoning
    if message.tool_calls:
        result["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments
                    if isinstance(call.arguments, str)
                    else json.dumps(call.arguments, ensure_ascii=False),
                },
            }
            for call in message.tool_calls
        ]
    return result


async def _body(request: web.Request) -> Json:
    raw = await request.read()
    try:
        return json.loads(raw) if raw else {}
    except ValueError as error:
        raise RequestError(f"the request's body is not JSON: {error}", "invalid_json") from error


async def _sent(request: web.Request, asked: ChatRequest, completion: dict[str, Json]) -> web.StreamResponse:
    return await _streamed(request, completion) if asked.stream else web.json_response(completion)


async def _streamed(request: web.Request, completion: dict[str, Json]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(request)
    choice = completion["choices"][0]
    delta = dict(choice["message"])
    for index, call in enumerate(delta.get("tool_calls", [])):
        call["index"] = index
    head = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    chunks: list[dict[str, Json]] = [
        head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        head | {"choices": [], "usage": completion["usage"]},
    ]
    for chunk in chunks:
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def _error_response(error: RequestError) -> web.Response:
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    body = {"message": str(error), "type": kind, "code": error.code, "param": error.param}
    return web.json_response({"error": body}, status=error.status)
