"""An environment on the domain's database, as the bridge drives it and as the adapters of benchmarks fill it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .description import BridgeError


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
        self.is_exact = settings.get("wholeFloats") == "distinct"
        """Whether 5.0 in a row is not equal to 5, as for Python's hash of a database."""

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

    def decided(self, instance: Any, name: str, earlier: list[dict[str, Any]]) -> str | None:
        """Returns the result of a call that the earlier results of its response decide; None where it is made."""
        return None

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
        """Puts a task's own start on a fresh instance; refused where the benchmark's tasks have none."""
        adapter = type(self).__module__.rpartition(".")[2]
        raise BridgeError(
            "environment/set-up", f"an environment of {adapter} takes no setUp; say in the task's state what differs"
        )

    def ask(self, instance: Any, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """What a function of the environment says of the state at the end, as data; by default a tool's result."""
        return self.call(instance, by, name, arguments)

    def sides(self, instance: Any) -> tuple[Any, Any]:
        """The databases that an instance has now, where a set-up put others in the place of its views."""
        raise NotImplementedError

    def revive(self, side: str, path: tuple[str, ...], value: Any) -> Any:
        """JSON data of a member (`[name]`) or of a row (`[name, key]`) as the environment's own type."""
        raise NotImplementedError
