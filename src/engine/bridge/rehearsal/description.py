"""Descriptions of tools for the engine, and calls of tools."""

from __future__ import annotations

import asyncio
import inspect
import json
import random
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .authoring import Context, Declaration, ToolError
from .rows import ReadOnlyError
from .schema import Signature, convert, plain, signature_of


class BridgeError(Exception):
    """Raised for a problem that a person has to correct, with a code, and the place if it is known."""

    def __init__(self, code: str, message: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.code, self.file, self.line = code, file, line


@dataclass(frozen=True)
class Tool:
    """A function of a domain as a tool, with what the agent sees of it."""

    name: str
    function: Callable[..., Any]
    declaration: Declaration
    signature: Signature

    def described(self) -> dict[str, Any]:
        said = self.declaration
        return {
            "name": self.name,
            "description": self.signature.description,
            "parameters": self.signature.parameters,
            "effect": said.effect,
            "owner": said.owner,
            "generic": said.generic,
            "handsOff": said.hands_off,
            "timeoutMs": said.timeout_ms,
            "idempotent": said.effect == "read" if said.idempotent is None else said.idempotent,
            "cache": said.cache,
            "retries": said.retries,
            "rateLimit": said.rate_limit,
            **place_of(self.function),
        }

    def run(self, arguments: Mapping[str, Any], filled: Mapping[str, Any]) -> Any:
        """Makes the call; a coroutine is awaited."""
        given = {name: convert(value, self.signature.hints.get(name)) for name, value in arguments.items()}
        own = {name: value for name, value in filled.items() if name in self.signature.filled}
        result = self.function(**given, **own)
        return asyncio.run(result) if inspect.iscoroutine(result) else result


def tool_of(name: str, function: Callable[..., Any], declaration: Declaration, filled: frozenset[str]) -> Tool:
    """Describes a function. Throws a `BridgeError` with its place when its signature can't be one of a tool."""
    try:
        return Tool(name, function, declaration, signature_of(function, filled))
    except Exception as error:
        where = place_of(function)
        raise BridgeError("tool/bad-schema", f"{name} has {error}", where.get("file"), where.get("line")) from error


def place_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns the file and line of a function; empty if they are not known."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return {"file": code.co_filename, "line": code.co_firstlineno} if code else {}


def context_of(params: Mapping[str, Any]) -> Context:
    """Creates the context of a call from the parameters that the engine sent."""
    numbers = random.Random(str(params.get("seed", "")))
    return Context(str(params.get("now", "")), numbers, str(params.get("key") or ""))


def content_of(result: Any) -> str:
    """Returns a result as the agent sees it: a text, data as JSON, or `ok` for None."""
    if isinstance(result, str):
        return result
    if result is None:
        return "ok"
    return json.dumps(plain(result), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def failure_of(name: str, error: BaseException, folder: str, log: Callable[[str], None]) -> str:
    """Returns the text that the agent sees for an exception. Logs anything but a `ToolError`, with its place."""
    text = words_of(error) if isinstance(error, (ToolError, ReadOnlyError)) else message_of(error)
    if not isinstance(error, ToolError):
        place = place_in(error, folder)
        log(f"{name}: {text}{f' ({place[0]}:{place[1]})' if place else ''}")
    return f"Error: {text}"


def message_of(error: BaseException) -> str:
    """Returns the message of an exception, with its type where the message alone says too little."""
    text = words_of(error)
    if isinstance(error, SystemExit):
        return f"the tool called sys.exit({text})"
    return f"{type(error).__name__}: {text}" if text and isinstance(error, KeyError) else text or type(error).__name__


def words_of(error: BaseException) -> str:
    """Returns the text of an exception; empty where its class fails to make one."""
    try:
        return str(error)
    except BaseException:
        return ""


def place_in(error: BaseException, folder: str) -> tuple[str, int | None] | None:
    """Returns file and line of the innermost frame of the domain in a traceback; None without such a frame."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename.startswith(folder)]
    return (frames[-1].filename, frames[-1].lineno) if frames else None
