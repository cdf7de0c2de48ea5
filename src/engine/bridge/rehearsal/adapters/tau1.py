"""tau-bench, by its own tools: classes whose `invoke` works on the data that one rollout has."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rehearsal.database_environment import DatabaseEnvironment
from rehearsal.description import BridgeError
from rehearsal.schema import plain
from rehearsal.user_copy import import_from, json_fault, otherwise, stand_in, tree_of
from rehearsal.whole_numbers import whole_floats
from rehearsal.written import uses, writes

GET = "a checkout of sierra-research/tau-bench with its requirements"
USER = ("LLMUserSimulationEnv", "build_system_prompt")
LISTS = ("TASKS", "TASKS_TEST", "TASKS_TRAIN", "TASKS_DEV")


class Adapter(DatabaseEnvironment):
    """A domain of tau-bench: `package` is the folder tau_bench of a checkout, `domain` a folder of its envs/.

    Only tools, data and texts are imported: the package's own `__init__` would load the clients of all models.
    """

    keeps_failed_writes = True

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(settings)
        self._package = Path(settings["package"])
        self._folder = self._package / "envs" / settings["domain"]
        self._name = f"tau_bench.envs.{settings['domain']}"
        stand_in("tau_bench", self._package, "envs")
        stand_in("tau_bench.envs", self._package / "envs")
        stand_in(self._name, self._folder, "tools", "data")
        found = getattr(self._import("tools"), "ALL_TOOLS", None)
        if not isinstance(found, list) or not all(hasattr(tool, "invoke") for tool in found):
            raise self._otherwise("tools/__init__.py", "a list ALL_TOOLS of classes with invoke and get_info")
        self._tools = {tool.get_info()["function"]["name"]: tool for tool in found}
        self._ends = terminate_tools(self._folder / "env.py")
        self._own: dict[str, Any] = {}

    def _import(self, name: str) -> Any:
        return import_from(self._folder, f"{self._name}.{name}", f"tau-bench's {self._folder.name}", GET)

    def _otherwise(self, file: str, expected: str) -> BridgeError:
        return otherwise(f"expected {expected} in {self._folder / file}")

    def start(self) -> tuple[Any, Any]:
        load = getattr(self._import("data"), "load_data", None)
        if load is None:
            raise self._otherwise("data/__init__.py", "a function load_data")
        try:
            data = load()
        except FileNotFoundError as error:
            raise otherwise(f"expected {error.filename}, which is not there", error.filename) from error
        except (OSError, ValueError) as error:
            raise BridgeError(
                "import/database",
                f"the database of {self._folder} can't be read: {self._fault(error)}",
            ) from error
        if not isinstance(data, dict) or not all(isinstance(table, dict) for table in data.values()):
            raise self._otherwise(
                "data/__init__.py",
                "a load_data that returns tables by name, each with its rows by key",
            )
        return data, None

    def _fault(self, error: Exception) -> str:
        """Returns which file of the database does not parse, and why."""
        return json_fault((self._folder / "data").glob("*.json")) or str(error)

    def load(self, agent: Mapping[str, Any], user: Mapping[str, Any]) -> tuple[Any, Any]:
        self._own, _ = self.start()
        if sorted(self._own) != sorted(agent):
            raise BridgeError(
                "environment/database",
                f"the database has the tables {', '.join(agent) or 'none'}, and that of {self._folder} has "
                f"{', '.join(self._own)}. Import it again",
            )
        # `revive` restores the floats of rows that were not edited: the copy distinguishes 2.0 from 2, JSON does not.
        return {
            name: {key: self.revive("agent", (name, key), row) for key, row in table.items()}
            for name, table in agent.items()
        }, None

    def describe(self) -> list[dict[str, Any]]:
        return [self._described(name, tool) for name, tool in self._tools.items()]

    def _described(self, name: str, tool: Any) -> dict[str, Any]:
        said = tool.get_info()["function"]
        is_write = writes(tool.invoke, "data")
        return {
            "name": name,
            "description": said.get("description", ""),
            "parameters": said["parameters"],
            "effect": "write" if is_write else "read",
            "owner": "agent",
            "generic": not uses(tool.invoke, "data") and name not in self._ends,
            "handsOff": name in self._ends,
            "idempotent": not is_write,
        }

    def prompts(self) -> dict[str, str]:
        """Returns the prompts. The agent's is only the wiki; a function of the copy builds the user's."""
        return {
            "agent": "{policy}",
            "user": user_prompt(self._package / "envs" / "user.py"),
        }

    def about(self) -> dict[str, Any]:
        """Returns the wiki, and the tasks of each split with the keys that they have in the copy."""
        wiki = getattr(self._import("wiki"), "WIKI", None)
        if not isinstance(wiki, str):
            raise self._otherwise("wiki.py", "a text WIKI")
        kept = types.ModuleType("tau_bench.types")
        vars(kept).update(Task=Given, Action=Given)
        sys.modules[kept.__name__] = kept
        splits = {file.stem.removeprefix("tasks_"): self._tasks(file) for file in self._folder.glob("tasks_*.py")}
        if not splits:
            raise self._otherwise("tasks_test.py", f"a list {' or '.join(LISTS[:2])}")
        return {"policy": wiki, "splits": splits, "ends": sorted(self._ends)}

    def _tasks(self, file: Path) -> Any:
        module = self._import(file.stem)
        found = next(
            (each for name in LISTS if isinstance(each := getattr(module, name, None), list)),
            None,
        )
        if found is None:
            raise self._otherwise(file.name, f"a list {' or '.join(LISTS)}")
        for task in found:
            for action in task.get("actions", []):
                if floats := whole_floats(action.get("kwargs")):
                    action["floats"] = floats
        return plain(found)

    def make(self, agent: Any, user: Any) -> Any:
        return agent

    def call(self, instance: Any, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        try:
            return self._tools[name].invoke(data=instance, **arguments)
        except Exception as error:
            # A terminate tool ends the conversation, also by a call that raised.
            if name not in self._ends:
                raise
            return self.failure(error)

    def text(self, result: Any) -> str:
        if not isinstance(result, str):
            raise TypeError(f"the tool returned {type(result).__name__}, and tau-bench takes only texts")
        return result

    def sides(self, instance: Any) -> tuple[Any, Any]:
        return instance, None

    def revive(self, side: str, path: tuple[str, ...], value: Any) -> Any:
        known: Any = self._own
        for key in path:
            known = known.get(key) if isinstance(known, dict) else None
        return like(known, value)


class Given(dict[str, Any]):
    """A task or an action with the keys that it was written with."""

    def __init__(self, **given: Any) -> None:
        super().__init__(given)


def like(known: Any, value: Any) -> Any:
    """Returns the value with the floats of an equal known value: JSON does not distinguish 2 from 2.0."""
    if isinstance(value, dict):
        own = known if isinstance(known, dict) else {}
        return {key: like(own.get(key), each) for key, each in value.items()}
    if isinstance(value, list):
        rest = known if isinstance(known, list) and len(known) == len(value) else [None] * len(value)
        return [like(each, one) for each, one in zip(rest, value, strict=True)]
    return known if type(known) is float and type(value) is int and known == value else value


def terminate_tools(file: Path) -> frozenset[str]:
    """Returns the names that an environment assigns to its `terminate_tools`."""
    for node in ast.walk(tree_of(file)):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, (ast.List, ast.Tuple)):
            continue
        if any(isinstance(each, ast.Attribute) and each.attr == "terminate_tools" for each in node.targets):
            return frozenset(each.value for each in node.value.elts if isinstance(each, ast.Constant))  # pyright: ignore
    raise otherwise(f"expected self.terminate_tools = [...] in {file}")


def user_prompt(file: Path) -> str:
    """Returns the prompt of the user's model with {instructions} in place of a task's. Runs only that function."""
    kind, name = USER
    for node in ast.walk(tree_of(file)):
        if not isinstance(node, ast.ClassDef) or node.name != kind:
            continue
        for function in node.body:
            if isinstance(function, ast.FunctionDef) and function.name == name:
                return str(alone(function, file)(None, "{instructions}"))
    raise otherwise(f"expected {kind}.{name} in {file}")


def alone(function: ast.FunctionDef, file: Path) -> Any:
    """Returns a function without its annotations, which would need names of the module."""
    function.returns = None
    for parameter in function.args.args:
        parameter.annotation = None
    found: dict[str, Any] = {}
    exec(compile(ast.Module(body=[function], type_ignores=[]), str(file), "exec"), found)
    return found[function.name]
