"""Sessions on an existing environment whose state is the domain's database: the engine keeps it, and rows travel."""

from __future__ import annotations

import copy
import functools
import gc
import importlib
import pickle
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .database_environment import DatabaseEnvironment
from .description import BridgeError, message_of
from .objects import with_floats
from .rows import MISSING, Rows, same
from .schema import plain
from .whole_numbers import FLOATS, as_told, kinds_between, same_kinds, with_kinds

SIDES = ("agent", "user")

Revive = Callable[[tuple[str, ...], Any], Any]
Same = Callable[[Any, Any], bool]


class Base:
    """One side of the base, shared by all rollouts. Its tables are the dictionaries; the rest is small."""

    def __init__(self, value: Any) -> None:
        self.value = value
        members: Mapping[str, Any] = value if isinstance(value, dict) else {} if value is None else vars(value)
        self.tables = {name: each for name, each in members.items() if isinstance(each, dict)}
        self.rest = {name: Frozen(each) for name, each in members.items() if not isinstance(each, dict)}


class Frozen:
    """A member that is not a table: as bytes, for quick copies and comparisons, and as JSON data."""

    def __init__(self, value: Any) -> None:
        self.bytes = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        self.json = plain(value)

    def copy(self) -> Any:
        return pickle.loads(self.bytes)


class View:
    """One side in one rollout. A row is copied when a write first accesses it; a read sees shared rows."""

    def __init__(self, base: Base, revive: Revive, is_exact: bool) -> None:
        self._revive = revive
        self._is_exact = is_exact
        self._same: Same = exactly_same if is_exact else same
        self._kinds: dict[str, dict[str, str]] = {}
        """The types of numbers that the engine's JSON does not keep, by their place."""
        self.tables = {name: Rows(table, copy.deepcopy) for name, table in base.tables.items()}
        self._rest = dict(base.rest)
        self.value = {} if isinstance(base.value, dict) else copy.copy(base.value)
        for name, table in self.tables.items():
            self._put(name, table)
        for name, member in self._rest.items():
            self._put(name, member.copy())

    def _put(self, name: str, value: Any) -> None:
        # A class may validate what is assigned, which would copy a table.
        self._members()[name] = value

    def _members(self) -> dict[str, Any]:
        return self.value if isinstance(self.value, dict) else {} if self.value is None else vars(self.value)

    def share(self, is_shared: bool) -> None:
        for table in self.tables.values():
            table.is_shared = is_shared

    def settle(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Yields path and JSON of everything that changed since the last call, without a value if it was removed."""
        kinds: dict[str, dict[str, str]] = {}
        for path, value in self._changes():
            data = value if value is MISSING else plain(value)
            if self._is_exact:
                read = None if data is MISSING else self._revive(path, as_told(data))
                kinds["/".join(path)] = dict(kinds_between(value, read))
            yield path, data
        yield from self._learned({place: each for place, each in kinds.items() if each != self._kinds.get(place, {})})

    def _learned(self, changed: Mapping[str, dict[str, str]]) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Takes over types of numbers, and tells them as rows of a table that is there while it has some."""
        had_some = bool(self._kinds)
        self._kinds = {place: each for place, each in {**self._kinds, **changed}.items() if each}
        if had_some and self._kinds:
            yield from (((FLOATS, place), each or MISSING) for place, each in changed.items())
        elif changed:
            yield (FLOATS,), dict(self._kinds) or MISSING

    def _changes(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        members = self._members()
        for name, table in self.tables.items():
            if members.get(name) is not table:
                replace(table, members.get(name) or {}, self._same)
                self._put(name, table)
            for path, value in list(table.changed(self._same)):
                yield (name, str(plain(path[0]))), value
            table.commit()
        for name, known in self._rest.items():
            value = members.get(name)
            if pickle.dumps(value, pickle.HIGHEST_PROTOCOL) == known.bytes:
                continue
            now = self._rest[name] = Frozen(value)
            if not same(known.json, now.json) or not (self._same is same or same_kinds(known.copy(), value)):
                yield (name,), value

    def discard(self) -> None:
        """Takes back what was changed since the last time."""
        for name, table in self.tables.items():
            table.rollback()
            self._put(name, table)
        for name, known in self._rest.items():
            self._put(name, known.copy())

    def apply_all(self, changes: Mapping[tuple[str, ...], Any]) -> None:
        """Puts in the JSON that the engine changed, by path."""
        rows = {path: value for path, value in changes.items() if path[0] != FLOATS}
        told = {path[1]: value for path, value in changes.items() if path[0] == FLOATS and len(path) > 1}
        if (FLOATS,) in changes:
            whole = changes[FLOATS,]
            told = {**dict.fromkeys(self._kinds, MISSING), **({} if whole is MISSING else whole)}
        self._kinds = {place: each for place, each in {**self._kinds, **told}.items() if each is not MISSING}
        for path in (tuple(place.split("/", 1)) for place in told):
            if path not in rows and (known := self._at(path)) is not MISSING:
                rows[path] = as_told(plain(known))
        for path, value in rows.items():
            kinds = self._kinds.get("/".join(path), {})
            self._apply(path, value if value is MISSING else with_kinds(self._revive(path, value), kinds))

    def _at(self, path: tuple[str, ...]) -> Any:
        name, *rest = path
        if not rest:
            return self._members().get(name, MISSING)
        return self.tables[name].get(rest[0], MISSING) if name in self.tables else MISSING

    def _apply(self, path: tuple[str, ...], change: Any) -> None:
        name, *rest = path
        if not rest:
            if name not in self.tables:
                self._put(name, change)
                self._rest[name] = Frozen(change)
            else:
                replace(self.tables[name], {} if change is MISSING else change, self._same)
        elif change is MISSING:
            self.tables[name].pop(rest[0], None)
        else:
            self.tables[name][rest[0]] = change

    def commit(self) -> None:
        for table in self.tables.values():
            table.commit()

    def take(self, other: Any) -> None:
        """Takes over what another database of this side holds."""
        members = other if isinstance(other, dict) else vars(other)
        for name, value in members.items():
            if name in self.tables:
                replace(self.tables[name], value, self._same)
            else:
                self._put(name, value)


def exactly_same(one: Any, other: Any) -> bool:
    """Whether values are equal as in JSON, except that 5 does not equal 5.0."""
    return same(one, other) and same_kinds(one, other)


def replace(table: Rows, rows: Mapping[Any, Any], equal: Same) -> None:
    """Replaces the rows of a table. An equal row stays the same object."""
    for key in [key for key in table if key not in rows]:
        del table[key]
    # The rows themselves, and not the copies that a table makes of what is looked at.
    for key, row in list(dict.items(typing.cast("dict[Any, Any]", rows))):
        known = dict.__getitem__(table, key) if key in table else MISSING
        if known is MISSING or not same(plain(known), plain(row)) or not (equal is same or same_kinds(known, row)):
            table[key] = row


class Session:
    """One rollout's instance, and its views of both sides."""

    def __init__(self, environment: DatabaseEnvironment, bases: Mapping[str, Base]) -> None:
        own = environment.view()
        self.views = {
            side: View(base, functools.partial(environment.revive, side), environment.is_exact)
            if side == "user" or own is None
            else own
            for side, base in bases.items()
        }
        self.instance = environment.make(self.views["agent"].value, self.views["user"].value)

    def settle(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for side, view in self.views.items():
            for path, value in view.settle():
                rows.append({"side": side, "path": list(path), **({} if value is MISSING else {"value": value})})
        return rows

    def discard(self) -> None:
        for view in self.views.values():
            view.discard()

    def share(self, is_shared: bool) -> None:
        for view in self.views.values():
            view.share(is_shared)


class OnDatabase:
    """An adapter's environment and its sessions."""

    def __init__(self, params: Mapping[str, Any], log: Callable[[str], None]) -> None:
        self._log = log
        self._environment = adapter_of(params["adapter"], params["settings"])
        self._bases: dict[str, Base] = {}
        self._reads: frozenset[tuple[str, str]] = frozenset()
        self._sessions: dict[str, Session] = {}
        self._loads = params.get("base")

    def describe(self) -> dict[str, Any]:
        environment = self._environment
        if self._loads is not None:
            bases = environment.load(self._loads.get("agent", {}), self._loads.get("user", {}))
            self._bases = {side: Base(value) for side, value in zip(SIDES, bases, strict=True)}
            self._loads = None
            # The base stays as it is for good: no collection has to look at its many objects.
            gc.freeze()
        tools = environment.describe()
        self._reads = frozenset((tool["owner"], tool["name"]) for tool in tools if tool["effect"] == "read")
        environment_says = {"sync": environment.has_sync, "goldSyncs": environment.gold_syncs}
        environment_says["goldApart"] = environment.gold_apart
        return {"tools": [{**DEFAULTS, **tool} for tool in tools], **environment_says, "prompts": environment.prompts()}

    def about(self) -> dict[str, Any]:
        agent, user = self._environment.start()
        database = {
            side: {} if value is None else plain(value) for side, value in zip(SIDES, (agent, user), strict=True)
        }
        return {"database": database, **self._environment.about()}

    def call(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Makes one call and runs `sync`. The writes of `sync` are separate, because they make their own event."""
        session = self._ready(params)
        if session is None:
            return {"stale": True}
        environment, instance = self._environment, session.instance
        by, name = params["by"], params["tool"]
        arguments = with_floats(params["arguments"], params.get("floats", []))
        rows: list[dict[str, Any]] = []
        synced: list[dict[str, Any]] = []
        is_read = (by, name) in self._reads
        session.share(is_read)
        try:
            content = environment.decided(instance, name, params.get("earlier", []))
            if content is None:
                content = environment.text(environment.call(instance, by, name, arguments))
            session.share(False)
            # After a read there is nothing to find before the sync; what it wrote all the same is found after it.
            rows = [] if is_read and environment.has_sync else session.settle()
            if environment.has_sync:
                environment.sync(instance)
                synced = session.settle()
        except Exception as error:
            session.share(False)
            return {"content": environment.failure(error), "isError": True, "rows": rows + self._after_failure(session)}
        return {"content": content, "isError": False, "rows": rows, "synced": synced}

    def _after_failure(self, session: Session) -> list[dict[str, Any]]:
        if self._environment.keeps_failed_writes:
            return session.settle()
        session.discard()
        return []

    def set_up(self, params: Mapping[str, Any]) -> dict[str, Any]:
        session = self._ready(params)
        if session is None:
            return {"stale": True}
        try:
            self._environment.set_up(session.instance, params["data"])
        except Exception as error:
            session.discard()
            raise BridgeError("environment/set-up", f"the task can't be set up: {message_of(error)}") from error
        for view, now in zip(session.views.values(), self._environment.sides(session.instance), strict=True):
            if now is not view.value and now is not None:
                view.take(now)
        rows = session.settle()
        # A set-up may have put other databases into the instance: the next one works on the views again.
        session.instance = self._environment.make(session.views["agent"].value, session.views["user"].value)
        return {"rows": rows}

    def sync(self, params: Mapping[str, Any]) -> dict[str, Any]:
        session = self._ready(params)
        if session is None:
            return {"stale": True}
        try:
            self._environment.sync(session.instance)
        except Exception as error:
            session.discard()
            raise BridgeError("sync/failed", f"sync failed: {message_of(error)}") from error
        return {"rows": session.settle()}

    def ask(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the answer of a function about the state, and undoes any change that it made."""
        session = self._ready(params)
        if session is None:
            return {"stale": True}
        name = params["tool"]
        try:
            said = self._environment.ask(session.instance, params["by"], name, params["arguments"])
        except Exception as error:
            raise BridgeError("environment/assertion", f"{name} can't tell: {message_of(error)}") from error
        finally:
            session.discard()
        return {"rows": [], "said": plain(said)}

    def drop(self, name: str) -> None:
        self._sessions.pop(name, None)

    def audit(self) -> dict[str, Any]:
        """Whether the shared base is still what was loaded: compares all of it, so only tests ask."""
        fresh = {side: Base(value) for side, value in zip(SIDES, self._environment.start(), strict=True)}
        changed = [
            f"{side}.{name}"
            for side, base in fresh.items()
            for name, table in base.tables.items()
            if not same(plain(table), plain(self._bases[side].tables.get(name)))
        ]
        return {"changed": changed}

    def _ready(self, params: Mapping[str, Any]) -> Session | None:
        """Returns the session in the state that the engine has; None if the session is not known."""
        name = params["session"]
        if params.get("fresh"):
            self._sessions[name] = Session(self._environment, self._bases)
        session = self._sessions.get(name)
        if session is None:
            return None
        for side, view in session.views.items():
            view.apply_all(
                {
                    tuple(change["path"]): change.get("value", MISSING)
                    for change in params.get("changes", [])
                    if change["side"] == side
                }
            )
        if params.get("changes"):
            for view in session.views.values():
                view.commit()
        return session


DEFAULTS = {
    "generic": False,
    "handsOff": False,
    "timeoutMs": None,
    "idempotent": False,
    "cache": False,
    "retries": 0,
    "rateLimit": None,
}


def adapter_of(name: str, settings: Mapping[str, str]) -> DatabaseEnvironment:
    """Returns the adapter of a benchmark, by its name."""
    try:
        module = importlib.import_module(f"{__package__}.adapters.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__package__}.adapters.{name}":
            raise
        raise BridgeError("environment/adapter", f"there is no adapter {name}") from error
    return module.Adapter(settings)
