"""Sessions on an existing environment: many rollouts from one base that was loaded and validated once."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from .authoring import MARK, Declaration, Environment
from .description import BridgeError, Tool, content_of, context_of, failure_of, tool_of
from .objects import with_floats
from .rows import MISSING, REFUSAL, ReadOnlyError, Rows
from .schema import convert, plain

FILLED = frozenset({"ctx"})


class Database:
    """One rollout's view of the base. Its tables copy rows on access; everything else in it is copied at once."""

    def __init__(self, base: Any) -> None:
        self._base = base
        self._members: Mapping[str, Any] = base if isinstance(base, dict) else vars(base)
        self.tables = {name: Rows(value, copy.deepcopy) for name, value in self._members.items() if is_table(value)}
        self.view = {} if isinstance(base, dict) else copy.copy(base)
        for name, value in self._members.items():
            self._put(name, self.tables[name] if name in self.tables else copy.deepcopy(value))
        self._rest = self._copied_rest()

    def _put(self, name: str, value: Any) -> None:
        if isinstance(self.view, dict):
            self.view[name] = value
        else:
            # A class may validate what is assigned, which would copy the table.
            vars(self.view)[name] = value

    def _now(self) -> Mapping[str, Any]:
        return self.view if isinstance(self.view, dict) else vars(self.view)

    def _copied_rest(self) -> dict[str, Any]:
        return {name: copy.deepcopy(value) for name, value in self._now().items() if name not in self.tables}

    def has_changed(self) -> bool:
        now = self._now()
        if any(now.get(name) is not table or any(table.changed()) for name, table in self.tables.items()):
            return True
        return any(name not in self.tables and self._rest.get(name, MISSING) != now[name] for name in now)

    def commit(self) -> None:
        for name, table in self.tables.items():
            now = self._now().get(name)
            if now is not table:
                # The environment put a new table in the place of this one.
                table.clear()
                table.update(now or {})
                self._put(name, table)
            table.commit()
        self._rest = self._copied_rest()

    def rollback(self) -> None:
        for name, table in self.tables.items():
            table.rollback()
            self._put(name, table)
        for name in [name for name in self._now() if name not in self.tables and name not in self._rest]:
            self._now().pop(name)  # pyright: ignore
        for name, value in self._rest.items():
            self._put(name, copy.deepcopy(value))

    def snapshot(self) -> dict[str, Any]:
        """Returns the rows and the other members that differ from the base."""
        rows: list[dict[str, Any]] = []
        for name, table in self.tables.items():
            for path, value in table.differing(self._members[name]):
                rows.append({"path": [name, plain(path[0])], **({} if value is MISSING else {"value": plain(value)})})
        for name, value in self._now().items():
            if name not in self.tables and plain(value) != plain(self._members.get(name)):
                rows.append({"path": [name], "value": plain(value)})
        return {"rows": rows}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Puts the rows of a snapshot on a fresh database."""
        for row in snapshot["rows"]:
            name, *rest = row["path"]
            if not rest:
                self._put(name, like(self._members.get(name), row["value"], name))
            elif "value" not in row:
                del self.tables[name][rest[0]]
            else:
                base = self._members[name]
                example = base.get(rest[0], next(iter(base.values()), None))
                self.tables[name][rest[0]] = like(example, row["value"], name)
        self.commit()


def is_table(value: Any) -> bool:
    """Whether a member of the base is kept row by row."""
    return isinstance(value, dict)


def like(example: Any, value: Any, name: str) -> Any:
    """Converts JSON data to the type of the example, which is from the base."""
    if example is None or isinstance(example, (str, bool, int, float, list, dict)):
        return value
    kind = type(example)
    if dataclasses.is_dataclass(kind) or hasattr(kind, "model_validate"):
        return convert(value, kind)
    raise BridgeError(
        "environment/snapshot",
        f"{name} holds {kind.__name__}, which can't be made from JSON. Use dataclasses or models",
    )


@dataclasses.dataclass
class Session:
    """One rollout's instance of an environment, and its database."""

    database: Database
    toolkit: Any
    tools: dict[str, Tool]


class Hosted:
    """An environment and its sessions."""

    def __init__(self, module: Any, folder: str, log: Callable[[str], None]) -> None:
        self._folder, self._log = folder, log
        kinds = [
            each
            for each in vars(module).values()
            if isinstance(each, type)
            and issubclass(each, Environment)
            and each is not Environment
            and each.__module__ == module.__name__
        ]
        if len(kinds) != 1:
            raise BridgeError(
                "environment/none", f"expected one class that derives from rehearsal.Environment, found {len(kinds)}"
            )
        self._environment = kinds[0]()
        self._base = self._environment.load()
        self._sessions: dict[str, Session] = {}

    def describe(self) -> dict[str, Any]:
        return {"tools": [tool.described() for tool in self._open().tools.values()]}

    def reset(self, name: str) -> None:
        """Starts a session from the base, in place of an existing one of this name."""
        self._sessions[name] = self._open()

    def drop(self, name: str) -> None:
        self._sessions.pop(name, None)

    def call(self, params: Mapping[str, Any]) -> dict[str, Any]:
        session = self._sessions.get(params["session"])
        if session is None:
            return {"stale": True}
        tool, database = session.tools[params["tool"]], session.database
        arguments = with_floats(params["arguments"], params.get("floats", []))
        try:
            result = tool.run(arguments, {"ctx": context_of(params)})
            content = content_of(result)
            if tool.declaration.effect == "read" and database.has_changed():
                raise ReadOnlyError(REFUSAL)
        except BaseException as error:
            database.rollback()
            return {"content": failure_of(tool.name, error, self._folder, self._log), "isError": True}
        database.commit()
        # In the same breath as the call: another rollout's call may end this process after it.
        saved = {"snapshot": database.snapshot()} if params.get("save") else {}
        return {"content": content, "isError": False, **saved}

    def read(self, name: str) -> Any:
        session = self._session(name)
        state = self._environment.state(session.toolkit, session.database.view)
        return plain_object(state)

    def check(self, name: str, assertion: str) -> dict[str, Any]:
        """Runs a check, which returns a bool, None, or a pair of a bool and a sentence, or raises `AssertionError`."""
        session = self._session(name)
        checks = self._environment.assertions(session.toolkit)
        if assertion not in checks:
            raise BridgeError(
                "environment/unknown-assertion",
                f"there is no assertion {assertion}; there is {', '.join(checks) or 'none'}",
            )
        try:
            found = checks[assertion]()
        except AssertionError as error:
            found = (False, str(error))
        finally:
            session.database.rollback()
        held, detail = found if isinstance(found, tuple) else (found is None or bool(found), "")
        return {"held": bool(held), "detail": str(detail)}

    def set_up(self, name: str, data: Any) -> None:
        session = self._session(name)
        self._environment.set_up(session.toolkit, session.database.view, data)
        session.database.commit()

    def snapshot(self, name: str) -> dict[str, Any]:
        return self._session(name).database.snapshot()

    def restore(self, name: str, snapshot: Mapping[str, Any]) -> None:
        self.reset(name)
        self._session(name).database.restore(snapshot)

    def _session(self, name: str) -> Session:
        if name not in self._sessions:
            raise BridgeError("environment/stale", "this session is not known")
        return self._sessions[name]

    def _open(self) -> Session:
        database = Database(self._base)
        toolkit = self._environment.make(database.view)
        found = self._environment.tools(toolkit)
        tools = {name: tool_of(name, each, self._declaration(name, each), FILLED) for name, each in found.items()}
        database.commit()
        return Session(database, toolkit, tools)

    def _declaration(self, name: str, function: Any) -> Declaration:
        declared = getattr(function, MARK, None)
        return declared or Declaration("write" if name in self._environment.writes else "read")


def plain_object(value: Any) -> Any:
    """Returns the state as data; the state can also be a plain object with attributes."""
    try:
        return plain(value)
    except TypeError:
        return {name: plain_object(each) for name, each in vars(value).items() if not name.startswith("_")}
