"""BFCL's multi-turn categories, by the backend classes of a copy of bfcl-eval: an instance of each for a rollout."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rehearsal.description import BridgeError, message_of
from rehearsal.function_document import tool_described
from rehearsal.objects import ObjectEnvironment, ObjectsView, count_randoms, data_from, data_of
from rehearsal.user_copy import call_as_json, import_from, json_lines, member, stand_in, tree_of

GET = "pip install --no-deps bfcl-eval, or a checkout of ShishirPatil/gorilla, and pip install mpmath"
REFUSED = frozenset(("kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"))
"""Names that BFCL never calls."""


class Adapter(ObjectEnvironment):
    """A category of BFCL: `package` is the folder of bfcl_eval, `classes` are the backends of its entries."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(settings)
        self._package = Path(settings["package"])
        stand_in("bfcl_eval", self._package, "constants", "eval_checker")
        configuration = self._import("bfcl_eval.constants.executable_backend_config")
        self._modules: Mapping[str, str] = member(configuration, "CLASS_FILE_PATH_MAPPING")
        self._documents: Mapping[str, str] = member(configuration, "MULTI_TURN_FUNC_DOC_FILE_MAPPING")
        self._stateless: list[str] = member(configuration, "STATELESS_CLASSES")
        self._classes = [name for name in settings["classes"].split(",") if name]
        self._kinds: dict[str, type] = {}

    def kind(self, name: str) -> type:
        if name not in self._kinds:
            if name not in self._modules:
                known = ", ".join(self._modules)
                raise BridgeError("import/class", f"{self._package} has no backend class {name}; it has {known}")
            module = self._import(self._modules[name])
            count_randoms(module)
            self._kinds[name] = member(module, name)
        return self._kinds[name]

    def describe(self) -> list[dict[str, Any]]:
        return [tool for name in self._classes for tool in self._tools(name)]

    def prompts(self) -> dict[str, str]:
        """Returns only the policy as system prompt: BFCL shows none to models that call functions."""
        return {"agent": "{policy}"}

    def about(self) -> dict[str, Any]:
        """Returns the gold calls of each entry as data, and other facts that only the package has."""
        prompts = self._import("bfcl_eval.constants.default_prompts")
        answers = json_lines(self._package / "data" / self.settings["answers"])
        gold: dict[str, Any] = {}
        unreadable: dict[str, str] = {}
        for answer in answers:
            try:
                gold[answer["id"]] = [[self._gold_call(call) for call in turn] for turn in answer["ground_truth"]]
            except (KeyError, TypeError, ValueError, SyntaxError) as error:
                unreadable[str(answer.get("id"))] = message_of(error)
        return {
            "starts": self._starts(),
            "gold": gold,
            "unreadable": unreadable,
            "tools": {name: [tool["name"] for tool in self._tools(name)] for name in self._classes},
            "broughtBy": member(prompts, "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"),
            "stepLimit": member(prompts, "MAXIMUM_STEP_LIMIT"),
        }

    def _starts(self) -> dict[str, Any]:
        """Returns the initial state of each entry, for the classes that it uses."""
        starts: dict[str, Any] = {}
        for entry in json_lines(self._package / "data" / self.settings["entries"]):
            given = entry.get("initial_config") or {}
            used = {name: given[name] for name in entry.get("involved_classes") or [] if name in given}
            config, floats = data_of(used, "initial_config")
            starts[str(entry.get("id"))] = {"config": config, **({"floats": floats} if floats else {})}
        return starts

    def start(self) -> tuple[Any, Any]:
        return {}, None

    def set_up(self, instance: ObjectsView, data: Any) -> None:
        config = data_from(data.get("config", {}), data.get("floats", []))
        for name in data["classes"]:
            made = self.kind(name)()
            if name not in self._stateless:
                made._load_scenario(config.get(name, {}), long_context=data.get("longContext", False))
            instance.put(name, made)

    def call(self, instance: ObjectsView, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """Makes a call as BFCL does, by way of Python text, in which a space before a bracket is lost."""
        text = f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"
        tree = ast.parse(re.sub(r"\b([a-zA-Z_]\w*)\s*(?=\()", r"\1", text), "<string>", "eval").body
        if name in REFUSED:
            raise NameError(f"Function call {name} is not allowed.")
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
            raise NameError(f"name '{name}' is not defined")
        owner = self._owner(instance, name)
        given = {str(each.arg): ast.literal_eval(each.value) for each in tree.keywords}
        return getattr(instance.at(owner), name)(**given)

    def text(self, result: Any) -> str:
        if isinstance(result, dict):
            try:
                return json.dumps(result)
            except (TypeError, ValueError):
                return str(result)
        return result if type(result) is str else str(result)

    def failure(self, error: Exception) -> str:
        return f"Error during execution: {error}"

    def _owner(self, instance: ObjectsView, name: str) -> str:
        """Returns the class that has a method. If two have it, the later one counts, as in BFCL."""
        if not name.startswith("_"):
            for owner in reversed(instance.names):
                if inspect.isroutine(getattr(self.kind(owner), name, None)):
                    return owner
        raise NameError(f"name '{name}' is not defined")

    def _gold_call(self, text: str) -> dict[str, Any]:
        """Returns a call of the ground truth, which is Python code, as data."""
        tree = ast.parse(text.strip(), "<string>", "eval").body
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
            raise ValueError(f"{text} is not a function call")
        name = tree.func.id
        positional = [ast.literal_eval(each) for each in tree.args]
        arguments = {str(each.arg): ast.literal_eval(each.value) for each in tree.keywords}
        owner = next((each for each in self._classes if hasattr(self.kind(each), name)), None)
        if positional and owner is None:
            raise ValueError(f"{text} names no function of {', '.join(self._classes)}")
        if positional:
            parameters = list(inspect.signature(getattr(self.kind(str(owner)), name)).parameters)[1:]
            if len(positional) > len(parameters):
                raise ValueError(f"{text} has more arguments than {name} takes")
            arguments = {**dict(zip(parameters, positional, strict=False)), **arguments}
        return call_as_json(name, arguments)

    def _tools(self, name: str) -> list[dict[str, Any]]:
        if name not in self._documents:
            raise BridgeError("import/class", f"{self._package} has no document of the functions of {name}")
        file = self._package / "data" / "multi_turn_func_doc" / self._documents[name]
        self.kind(name)
        hint = python_hint(self._package / "utils.py")
        return [tool_described(said, f"{file}:{number}", hint) for number, said in enumerate(json_lines(file), 1)]

    def _import(self, name: str) -> Any:
        return import_from(self._package, name, "BFCL", GET)


def python_hint(file: Path) -> str:
    """Returns the hint for Python that `_get_language_specific_hint` of BFCL adds to every description."""
    if not file.is_file():
        return ""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.FunctionDef) and node.name == "_get_language_specific_hint":
            said = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
            texts = [each.value for each in said if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            return next((text for text in texts if "Python" in text), "")
    return ""
