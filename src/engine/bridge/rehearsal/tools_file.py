"""Sessions on the engine's own database, for the tools of a `tools.py`.

The engine keeps the database; this process has the base once and, for each rollout, the rows that differ from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .authoring import MARK
from .description import Tool, content_of, context_of, failure_of, tool_of
from .objects import with_floats
from .rows import MISSING, FrozenDict, Rows, freeze, thaw
from .schema import plain

FILLED = frozenset({"db", "user_db", "ctx"})


class World:
    """The database in one rollout: members by side, and which tables belong to it and are not shared."""

    def __init__(self, base: Mapping[str, Mapping[str, Any]]) -> None:
        self.members = {side: dict(members) for side, members in base.items()}
        self._own: set[tuple[str, str]] = set()

    def apply(self, side: str, changes: list[dict[str, Any]]) -> None:
        """Applies changed rows. A shared table is copied before its first change."""
        members = self.members[side]
        for change in changes:
            member, *rest = change["path"]
            target: dict[str, Any] = members
            if rest:
                if (side, member) not in self._own:
                    members[member] = FrozenDict(members.get(member, {}))
                    self._own.add((side, member))
                target = members[member]
            key = rest[0] if rest else member
            if not rest:
                self._own.add((side, member))
            if "value" in change:
                dict.__setitem__(target, key, freeze(change["value"]))
            else:
                dict.pop(target, key, None)


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
        """Makes one call. `fresh` starts the session from the base; `changes` are rows that the engine changed."""
        world = self._world(params)
        if world is None:
            return {"stale": True}
        tool = self._tools[params["tool"]]
        owner = tool.declaration.owner
        is_write = tool.declaration.effect == "write"
        views: dict[str, Any] = {side: FrozenDict(members) for side, members in world.members.items()}
        if is_write:
            views[owner] = Rows(world.members[owner], open_member)
        filled = {"db": views["agent"], "user_db": views["user"], "ctx": context_of(params)}
        arguments = with_floats(params["arguments"], params.get("floats", []))
        try:
            content = content_of(tool.run(arguments, filled))
            rows = self._written(views[owner]) if is_write else []
        except BaseException as error:
            return {"content": failure_of(tool.name, error, self._folder, self._log), "isError": True, "rows": []}
        world.apply(owner, rows)
        return {"content": content, "isError": False, "rows": rows}

    def drop(self, session: str) -> None:
        self._worlds.pop(session, None)

    def _world(self, params: Mapping[str, Any]) -> World | None:
        session = params["session"]
        if params.get("fresh"):
            self._worlds[session] = World(self._base)
        world = self._worlds.get(session)
        if world is not None:
            for change in params.get("changes", []):
                world.apply(change["side"], [change])
        return world

    def _written(self, view: Any) -> list[dict[str, Any]]:
        return [row_change(path, value) for path, value in view.changed()]


def open_member(value: Any) -> Any:
    """Returns a member of the base for a rollout: a table row by row, anything else as a copy."""
    return Rows(value, thaw) if isinstance(value, dict) else thaw(value)


def row_change(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Returns a change in the format of the bridge: a path of one or two keys, and a value unless it was removed."""
    where: dict[str, Any] = {"path": [str(key) for key in path]}
    return where if value is MISSING else {**where, "value": plain(value)}
