"""Sessions on the engine's own database, for the tools of a `tools.py`.

The engine keeps the database; this process has the base once and, for each rollout, the rows that differ from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .authoring import MARK
from .description import Tool, content_of, context_of, failure_of, tool_of
from .rows import MISSING, FrozenDict, Rows, freeze, thaw
from .schema import plain

FILLED = frozenset({"db", "user_db", "ctx"})

World = dict[str, dict[str, Any]]


class ToolsFile:
    """The tools of a module, and the worlds of the rollouts that call them."""

    def __init__(self, module: Any, folder: str, base: Mapping[str, Any], log: Callable[[str], None]) -> None:
        self._folder, self._log = folder, log
        self._base = {side: freeze(base.get(side, {})) for side in ("agent", "user")}
        self._worlds: dict[str, World] = {}
        self._tools: dict[str, Tool] = {}
        for name, value in vars(module).items():
            declaration = getattr(value, MARK, None)
            if declaration is not None and callable(value):
                self._tools[name] = tool_of(name, value, declaration, FILLED)

    def describe(self) -> dict[str, Any]:
        return {"tools": [tool.described() for tool in self._tools.values()]}

    def call(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """One call. `fresh` begins the session from the base; `changes` are the rows that the engine changed since."""
        world = self._world(params)
        if world is None:
            return {"stale": True}
        tool = self._tools[params["tool"]]
        owner = tool.declaration.owner
        is_write = tool.declaration.effect == "write"
        views = {side: FrozenDict(members) for side, members in world.items()}
        if is_write:
            views[owner] = Rows(world[owner], open_member)  # pyright: ignore
        filled = {"db": views["agent"], "user_db": views["user"], "ctx": context_of(params)}
        try:
            content = content_of(tool.run(params["arguments"], filled))
            rows = self._written(views[owner]) if is_write else []
        except (Exception, SystemExit) as error:
            return {"content": failure_of(tool.name, error, self._folder, self._log), "isError": True, "rows": []}
        apply(world[owner], rows)
        return {"content": content, "isError": False, "rows": rows}

    def drop(self, session: str) -> None:
        self._worlds.pop(session, None)

    def _world(self, params: Mapping[str, Any]) -> World | None:
        session = params["session"]
        if params.get("fresh"):
            self._worlds[session] = {side: dict(members) for side, members in self._base.items()}
        world = self._worlds.get(session)
        if world is not None:
            for change in params.get("changes", []):
                apply(world[change["side"]], [change])
        return world

    def _written(self, view: Any) -> list[dict[str, Any]]:
        return [row_change(path, value) for path, value in view.changed()]


def open_member(value: Any) -> Any:
    return Rows(value, thaw) if isinstance(value, dict) else thaw(value)


def row_change(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """A change as it travels: a path of one or two keys, and a value unless it is gone."""
    where: dict[str, Any] = {"path": [str(key) for key in path]}
    return where if value is MISSING else {**where, "value": plain(value)}


def apply(members: dict[str, Any], changes: list[dict[str, Any]]) -> None:
    """Puts changed rows into a session's world. Tables are shared between versions, so the way to a row is copied."""
    tables: dict[str, dict[str, Any]] = {}
    for change in changes:
        member, *rest = change["path"]
        if rest:
            table = tables.setdefault(member, dict(members.get(member, {})))
            target, key = table, rest[0]
        else:
            target, key = members, member
            tables.pop(member, None)
        if "value" in change:
            target[key] = freeze(change["value"])
        else:
            target.pop(key, None)
    for member, table in tables.items():
        members[member] = FrozenDict(table)
