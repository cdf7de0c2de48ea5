"""How tools and environments are declared."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

MARK = "__rehearsal_tool__"


class ToolError(Exception):
    """A refusal that the caller of the tool sees as the result of the call. The database stays as it was."""


@dataclass(frozen=True)
class Declaration:
    """What a domain says of a tool beside its signature and docstring."""

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
        effect: `write` if a call may change the database; only then is it changeable.
        owner: The seat that may call it.
        generic: It asks oneself and not the world: think, calculate, transfer to a human.
        hands_off: A successful call hands the conversation to a person and ends the rollout.
        timeout_ms: Milliseconds until a call counts as hung.
        idempotent: A call that was begun and has no result may be made again; by default true for reads.
        cache: Equal reads of one rollout are made once, until something is written.
        retries: How often a call that failed is made again; idempotent tools only.
        rate_limit: Calls at most, and in how many milliseconds, over all rollouts that run at once.
    """
    declaration = Declaration(effect, owner, generic, hands_off, timeout_ms, idempotent, cache, retries, rate_limit)

    def mark(function: Function) -> Function:
        setattr(function, MARK, declaration)
        return function

    return mark


@dataclass(frozen=True)
class Context:
    """What a tool gets beside the database and its arguments, by a parameter named `ctx`."""

    now: str
    """The date and time of the task, ISO 8601. A tool never asks the machine's clock."""
    random: random.Random
    """Random numbers of this call: the same in every replay."""
    idempotency_key: str = field(default="")
    """The same for every attempt of one call."""

    def id(self, prefix: str = "") -> str:
        """A new id that is the same in every replay, for example `ctx.id("W")` gives `W48213907`."""
        return f"{prefix}{10_000_000 + self.random.randrange(90_000_000)}"


class Environment:
    """An existing environment in Python, as the bridge drives it: subclass it in the file that domain.yaml names.

    State belongs into what `load` returns. One process loads it once and serves many rollouts from it: each gets a
    copy whose tables (the dictionaries in it) copy a row when it is first looked at.
    """

    writes: frozenset[str] | set[str] = frozenset()
    """Names of the tools that change something; a tool can also say so by `@tool(effect="write")`."""

    def load(self) -> Any:
        """The validated base: a dictionary, or an object whose attributes are its tables. Called once."""
        raise NotImplementedError

    def make(self, db: Any) -> Any:
        """The object whose methods are the tools, for one rollout, on its own view of the base."""
        raise NotImplementedError

    def tools(self, toolkit: Any) -> Mapping[str, Callable[..., Any]]:
        """The tools by name; by default every public method of the toolkit that has a docstring."""
        found: dict[str, Callable[..., Any]] = {}
        for name in dir(type(toolkit)):
            method = getattr(toolkit, name, None)
            if not name.startswith(("_", "assert_")) and callable(method) and getattr(method, "__doc__", None):
                found[name] = method
        return found

    def assertions(self, toolkit: Any) -> Mapping[str, Callable[[], Any]]:
        """Checks of the state by name; by default the methods of the toolkit that begin with `assert_`."""
        names = [name for name in dir(type(toolkit)) if name.startswith("assert_")]
        return {name.removeprefix("assert_"): getattr(toolkit, name) for name in names}

    def state(self, toolkit: Any, db: Any) -> Any:
        """The whole state as data; by default the database."""
        return db

    def set_up(self, toolkit: Any, db: Any, data: Any) -> None:
        """Puts a task's own start on a fresh instance; by default rows by table and key, where null removes one."""
        for table, rows in data.items():
            target = db[table] if isinstance(db, dict) else getattr(db, table)
            for key, row in rows.items():
                if row is None:
                    del target[key]
                else:
                    target[key] = row


class DatabaseEnvironment:
    """An existing environment that works on the domain's database, as an adapter of ours drives it.

    The engine keeps the database of both sides; this process has the base once, validated as the environment's own
    types, and for each rollout the rows that differ from it. `state: database` in domain.yaml.
    """

    has_sync = False
    """Whether `sync` brings both sides into step after set-up and after each successful call."""
    gold_syncs = True
    """Whether it also does between gold actions."""
    gold_apart = False
    """Whether gold actions are played on an instance of their own: its state is more than its rows tell."""
    keeps_failed_writes = False
    """Whether what a call wrote before it failed stays written."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = settings

    def start(self) -> tuple[Any, Any]:
        """Both sides as the environment's own data says; what an import writes down."""
        raise NotImplementedError

    def load(self, agent: Mapping[str, Any], user: Mapping[str, Any]) -> tuple[Any, Any]:
        """Both sides of the base as the environment's own types, validated; None for a side that it has not."""
        raise NotImplementedError

    def describe(self) -> list[dict[str, Any]]:
        """The tools: name, description, parameters, effect, owner and generic."""
        raise NotImplementedError

    def prompts(self) -> dict[str, str]:
        """Texts of the environment for the seats: `agent` with {policy} in it, `user` with {instructions}."""
        return {}

    def about(self) -> dict[str, Any]:
        """What an import needs beside the tools."""
        return {}

    def make(self, agent: Any, user: Any) -> Any:
        """An instance for one rollout on its own views of both sides."""
        raise NotImplementedError

    def call(self, instance: Any, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """One call by `agent` or `user`. What it raises is the result that the caller sees."""
        raise NotImplementedError

    def text(self, result: Any) -> str:
        """A result as the caller sees it."""
        raise NotImplementedError

    def failure(self, error: Exception) -> str:
        """What the caller sees of a call that raised."""
        return f"Error: {error}"

    def view(self) -> Any:
        """The agent's side for one rollout, where the environment keeps its state in objects of its own; else None."""
        return None

    def sync(self, instance: Any) -> None:
        """Brings both sides into step."""

    def set_up(self, instance: Any, data: Any) -> None:
        """Puts a task's own start on a fresh instance."""
        raise NotImplementedError

    def ask(self, instance: Any, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """What a function of the environment says of the state at the end, as data."""
        raise NotImplementedError

    def sides(self, instance: Any) -> tuple[Any, Any]:
        """The databases that an instance has now, where a set-up put others in the place of its views."""
        raise NotImplementedError

    def revive(self, side: str, path: tuple[str, ...], value: Any) -> Any:
        """JSON data of a member (`[name]`) or of a row (`[name, key]`) as the environment's own type."""
        raise NotImplementedError
