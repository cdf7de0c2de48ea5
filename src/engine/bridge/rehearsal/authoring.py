"""Declarations of tools and environments."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

MARK = "__rehearsal_tool__"
LONGEST_MS = 2**31 - 1
"""The longest time that a timer of the engine can wait for."""


class ToolError(Exception):
    """A refusal that the caller of the tool sees as the result of the call. The database stays as it was."""


@dataclass(frozen=True)
class Declaration:
    """The properties that a domain declares for a tool, besides its signature and docstring."""

    effect: Literal["read", "write"]
    owner: Literal["agent", "user"] = "agent"
    generic: bool = False
    hands_off: bool = False
    timeout_ms: int | None = None
    idempotent: bool | None = None
    cache: bool = False
    retries: int = 0
    rate_limit: tuple[int, int] | None = None


def tool(
    *,
    effect: Literal["read", "write"],
    owner: Literal["agent", "user"] = "agent",
    generic: bool = False,
    hands_off: bool = False,
    timeout_ms: int | None = None,
    idempotent: bool | None = None,
    cache: bool = False,
    retries: int = 0,
    rate_limit: tuple[int, int] | None = None,
) -> Callable[[Function], Function]:
    """Declares a function as a tool; its name is the name of the tool.

    The parameters `db`, `user_db` and `ctx` are filled by the engine; every other one is an argument of the tool. Type
    hints make the JSON Schema, the docstring makes the descriptions.

    Args:
        effect: `write` if a call may change the database; the database is frozen for `read`.
        owner: The seat that may call it.
        generic: Whether the tool does not use the world: think, calculate, transfer to a human.
        hands_off: Whether a successful call hands the conversation to a person and ends the rollout.
        timeout_ms: Milliseconds after which a call times out.
        idempotent: Whether a call that started and has no result may be repeated; by default true for reads.
        cache: Whether equal reads of one rollout are made only once until the next write.
        retries: How often a failed call is repeated; idempotent tools only.
        rate_limit: The most calls, and in how many milliseconds, over all rollouts that run at once.
    """
    if timeout_ms is not None and not is_time(timeout_ms):
        raise TypeError(f"timeout_ms is a whole number of milliseconds, from 1 to {LONGEST_MS}, not {timeout_ms!r}")
    declaration = Declaration(effect, owner, generic, hands_off, timeout_ms, idempotent, cache, retries, rate_limit)

    def mark(function: Function) -> Function:
        setattr(function, MARK, declaration)
        return function

    return mark


DATE = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
"""A number that reads as a date is not recognized as an id, so no id has one."""


def is_time(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LONGEST_MS


@dataclass(frozen=True)
class Context:
    """The value of a tool's parameter named `ctx`."""

    now: str
    """The date and time of the task, ISO 8601. A tool never asks the machine's clock."""
    random: random.Random
    """Random numbers of this call: the same in every replay."""
    idempotency_key: str = field(default="")
    """A key that is the same for every attempt of one call."""

    def id(self, prefix: str = "") -> str:
        """Returns a new id that is the same in every replay, for example `ctx.id("W")` gives `W48213907`.

        The prefix must not end with a digit.
        """
        number = str(10_000_000 + self.random.randrange(90_000_000))
        return self.id(prefix) if DATE.fullmatch(number) else f"{prefix}{number}"


class Environment:
    """The interface to an existing environment in Python: subclass it in the file that domain.yaml names.

    Keep the state in the result of `load`. One process loads it once and serves many rollouts from it: each gets a
    copy whose tables (the dictionaries in it) copy a row when it is first accessed.
    """

    writes: frozenset[str] | set[str] = frozenset()
    """Names of the tools that change the state; a tool can also declare this with `@tool(effect="write")`."""

    def load(self) -> Any:
        """Returns the validated base: a dictionary, or an object whose attributes are its tables. Called once."""
        raise NotImplementedError

    def make(self, db: Any) -> Any:
        """Returns the object whose methods are the tools, for one rollout, on its own view of the base."""
        raise NotImplementedError

    def tools(self, toolkit: Any) -> Mapping[str, Callable[..., Any]]:
        """Returns the tools by name; by default every public method of the toolkit that has a docstring."""
        found: dict[str, Callable[..., Any]] = {}
        for name in dir(type(toolkit)):
            method = getattr(toolkit, name, None)
            if not name.startswith(("_", "assert_")) and callable(method) and getattr(method, "__doc__", None):
                found[name] = method
        return found

    def assertions(self, toolkit: Any) -> Mapping[str, Callable[[], Any]]:
        """Returns the checks of the state by name; by default the methods of the toolkit that begin with `assert_`."""
        names = [name for name in dir(type(toolkit)) if name.startswith("assert_")]
        return {name.removeprefix("assert_"): getattr(toolkit, name) for name in names}

    def state(self, toolkit: Any, db: Any) -> Any:
        """Returns the whole state as data; by default the database."""
        return db

    def set_up(self, toolkit: Any, db: Any, data: Any) -> None:
        """Applies a task's own start to a fresh instance; by default rows by table and key, where null removes one."""
        for table, rows in data.items():
            target = db[table] if isinstance(db, dict) else getattr(db, table)
            for key, row in rows.items():
                if row is None:
                    del target[key]
                else:
                    target[key] = row
