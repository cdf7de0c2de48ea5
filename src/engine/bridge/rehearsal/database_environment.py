"""An environment on the domain's database, as the bridge drives it and as the adapters of benchmarks fill it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .description import BridgeError


class DatabaseEnvironment:
    """An existing environment that works on the domain's database. Each adapter is a subclass.

    The engine keeps the database of both sides; this process has the base once, validated as the environment's own
    types, and for each rollout the rows that differ from it. `state: database` in domain.yaml.
    """

    has_sync = False
    """Whether `sync` updates one side from the other after set-up and after each successful call."""
    gold_syncs = True
    """Whether `sync` also runs between gold actions."""
    gold_apart = False
    """Whether gold actions run on a separate instance, because the state includes more than the rows."""
    keeps_failed_writes = False
    """Whether writes of a call that failed are kept."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = settings
        self.is_exact = settings.get("wholeFloats") == "distinct"
        """Whether 5.0 in a row is not equal to 5, as for Python's hash of a database."""

    def start(self) -> tuple[Any, Any]:
        """Returns both sides from the environment's own data, for an import to write to files."""
        raise NotImplementedError

    def load(self, agent: Mapping[str, Any], user: Mapping[str, Any]) -> tuple[Any, Any]:
        """Returns both sides of the base as the environment's own types, validated; None for a side that it lacks."""
        raise NotImplementedError

    def describe(self) -> list[dict[str, Any]]:
        """Returns the tools: name, description, parameters, effect, owner and generic."""
        raise NotImplementedError

    def prompts(self) -> dict[str, str]:
        """Returns prompts of the environment for the seats: `agent` with {policy} in it, `user` with {instructions}."""
        return {}

    def about(self) -> dict[str, Any]:
        """Returns what an import needs besides the tools."""
        return {}

    def make(self, agent: Any, user: Any) -> Any:
        """Creates an instance for one rollout on its own views of both sides."""
        raise NotImplementedError

    def call(self, instance: Any, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """Makes one call by `agent` or `user`. The caller sees an exception as the result."""
        raise NotImplementedError

    def decided(self, instance: Any, name: str, earlier: list[dict[str, Any]]) -> str | None:
        """Returns the result of a call that the earlier results of its response decide; None where it is made."""
        return None

    def text(self, result: Any) -> str:
        """Returns a result as the caller sees it."""
        raise NotImplementedError

    def failure(self, error: Exception) -> str:
        """Returns the text that the caller sees for a call that raised."""
        return f"Error: {error}"

    def view(self) -> Any:
        """Returns the agent's side for one rollout if the environment keeps its state in its own objects; else None."""
        return None

    def sync(self, instance: Any) -> None:
        """Updates each side from the other."""

    def set_up(self, instance: Any, data: Any) -> None:
        """Applies a task's own initial state to a fresh instance; refused where the benchmark's tasks have none."""
        adapter = type(self).__module__.rpartition(".")[2]
        raise BridgeError(
            "environment/set-up", f"an environment of {adapter} takes no setUp; say in the task's state what differs"
        )

    def ask(self, instance: Any, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """Returns, as data, the answer of a function about the state at the end; by default the result of a tool."""
        return self.call(instance, by, name, arguments)

    def sides(self, instance: Any) -> tuple[Any, Any]:
        """Returns the current databases of an instance, which a set-up may have put in place of its views."""
        raise NotImplementedError

    def revive(self, side: str, path: tuple[str, ...], value: Any) -> Any:
        """Converts JSON data of a member (`[name]`) or of a row (`[name, key]`) to the environment's own type."""
        raise NotImplementedError
