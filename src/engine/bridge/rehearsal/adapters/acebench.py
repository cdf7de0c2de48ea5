"""ACEBench's agent entries, by the scenario classes of a checkout: an instance of each for a rollout."""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rehearsal.description import BridgeError
from rehearsal.function_document import tool_described
from rehearsal.objects import ObjectEnvironment, ObjectsView
from rehearsal.user_copy import (
    call_as_json,
    constant_of,
    import_from,
    json_lines,
    member,
    otherwise,
    stand_in,
    text_of,
    tree_of,
)

GET = "a checkout of chenchen0103/ACEBench with its requirements"
BASE = "BaseApi"
"""The class whose initial state ACEBench merges into the initial state of every other class."""
AGENTS = {"multi_turn": "common_agent.py", "multi_step": "common_agent_step.py"}
OWN_FORMAT = "[ApiName("
"""Marks the prompt lines that ask for calls as text. They are removed: the agent makes tool calls here."""


class Adapter(ObjectEnvironment):
    """`kind` is multi_turn or multi_step, `language` en or zh; `checkout` is the folder of ACEBench."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(settings)
        self._checkout = Path(settings["checkout"])
        self._kind, self._language = settings["kind"], settings["language"]
        self._code = self._checkout / "model_inference"
        stand_in("model_inference", self._code, "multi_turn", "multi_step")
        utilities = self._import(f"model_inference.{self._kind}.{self._kind}_utils")
        self._modules: Mapping[str, str] = member(utilities, f"CLASS_FILE_PATH_MAPPING_{self._language.upper()}")
        self._kinds: dict[str, type] = {}

    def kind(self, name: str) -> type:
        if name not in self._kinds:
            if name not in self._modules:
                known = ", ".join(self._modules)
                raise BridgeError("import/class", f"{self._code} has no scenario class {name}; it has {known}")
            self._kinds[name] = member(self._import(self._modules[name]), name)
        return self._kinds[name]

    def describe(self) -> list[dict[str, Any]]:
        """Describes every function that an entry offers, once, and other functions that milestones call."""
        file = self._checkout / self.settings["data"]
        found: dict[str, dict[str, Any]] = {}
        for number, entry in enumerate(json_lines(file), 1):
            for said in entry.get("function") or []:
                tool = tool_described(said, f"{file}:{number}")
                found.setdefault(tool["name"], tool)
        called = {name for text in self._milestones() for name in re.findall(r"[\[\s](\w+)\(", text)}
        for name in sorted(called - found.keys()):
            for owner in self._modules:
                method = getattr(self.kind(owner), name, None)
                if inspect.isfunction(method):
                    found.setdefault(name, undocumented(name, method))
        return list(found.values())

    def _milestones(self) -> Iterator[str]:
        for answer in json_lines(self._checkout / self.settings["answers"]):
            for stone in answer.get("mile_stone") or []:
                yield from stone if isinstance(stone, list) else [str(stone)]

    def prompts(self) -> dict[str, Any]:
        """Returns the prompts of the agent and of its simulated user, by the classes of an entry."""
        suffix = self._language.upper()
        agent = text_of(self._code / self._kind / AGENTS[self._kind], f"MULTI_TURN_AGENT_PROMPT_SYSTEM_{suffix}")
        agent = "\n".join(line for line in agent.splitlines() if OWN_FORMAT not in line)
        if self._kind == "multi_step":
            return {"agent": agent + "\n{policy}"}
        users = self._code / "multi_turn" / "APIModel_user.py"
        rules = self._code / f"prompt_{self._language}.py"
        kinds: dict[str, dict[str, str]] = {}
        for names in (["Travel"], [BASE], ["Travel", BASE]):
            own = "".join(text_of(rules, f"{short(name)}_PROMPT_{suffix}") for name in names)
            user = text_of(users, f"SYSTEM_PROMPT_{short(names[-1])}_{suffix}")
            kinds[" ".join(names)] = {
                "agent": f"{agent}\n{own}\n{{policy}}",
                "user": user.replace("{instruction}", "{instructions}"),
            }
        return {"agent": agent + "\n{policy}", "kinds": kinds, "greeting": first_heard(users, self._language)}

    def about(self) -> dict[str, Any]:
        """Returns the milestones as data, and other facts from the code. Also finds missing prompts and classes."""
        self.prompts()
        for name in self._modules:
            self.kind(name)
        steps = self._code / "multi_step" / "execution_role_step.py"
        ways: dict[str, Any] = {}
        for answer in json_lines(self._checkout / self.settings["answers"]):
            stones = answer.get("mile_stone")
            if isinstance(answer.get("id"), str) and isinstance(stones, list):
                ways[answer["id"]] = way_of(stones)
        return {
            "ways": ways,
            # The attributes of each class that ACEBench compares.
            "saved": constant_of(self._code / "common_inference.py", "SAVED_CLASS"),
            "classes": list(self._modules),
            "nudge": nudge_of(steps) if self._kind == "multi_step" else None,
        }

    def start(self) -> tuple[Any, Any]:
        return {}, None

    def set_up(self, instance: ObjectsView, data: Any) -> None:
        config = data.get("config", {})
        for name in data["classes"]:
            made: Any = self.kind(name)()
            for owner in (name, BASE):
                made._load_scenario(copy.deepcopy(config.get(owner, {})), long_context=False)
            instance.put(name, made)

    def call(self, instance: ObjectsView, by: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """Makes a call as ACEBench does: on every object that has the method. The last result counts."""
        for key, value in arguments.items():
            if isinstance(value, dict):
                # ACEBench takes a dictionary for a call and can't write it down.
                raise TypeError(f"the argument {key} is a dictionary, which ACEBench reads as a call")
        owners = list(self._owners(instance, name))
        if not owners:
            raise UnboundLocalError(
                "cannot access local variable 'func_call_result' where it is not associated with a value"
            )
        result = None
        for owner in owners:
            result = getattr(instance.at(owner), name)(**arguments)
        return result

    def decided(self, instance: ObjectsView, name: str, earlier: list[dict[str, Any]]) -> str | None:
        """Raises after an error, which ends a response in multi_turn. An unknown function repeats the last result."""
        if self._kind == "multi_turn" and any(each["isError"] for each in earlier):
            raise RuntimeError("an earlier call of this response failed")
        made = [each["content"] for each in earlier if not each["isError"]]
        return made[-1] if made and not any(self._owners(instance, name)) else None

    def text(self, result: Any) -> str:
        """Returns the text that the agent sees: the list of the results of its response, as Python prints it."""
        if isinstance(result, dict):
            with contextlib.suppress(TypeError, ValueError):
                result = json.dumps(result)
        written = result if isinstance(result, str) else str(result)
        try:
            return str([json.loads(written)])
        except ValueError:
            return str([written])

    def failure(self, error: Exception) -> str:
        # In multi_turn ACEBench forgot the f before this text.
        said = f"Error during execution: {error}" if self._kind == "multi_step" else "Error during execution: {str(e)}"
        return str([said]) if self._kind == "multi_step" else said

    def _owners(self, instance: ObjectsView, name: str) -> Iterator[str]:
        if name.startswith("_"):
            return
        for owner in self._modules:
            if owner in instance.names and inspect.isfunction(getattr(self.kind(owner), name, None)):
                yield owner

    def _import(self, name: str) -> Any:
        return import_from(self._checkout, name, "ACEBench", GET)


def undocumented(name: str, method: Any) -> dict[str, Any]:
    """Describes a method that no entry offers but that ACEBench calls."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    required = [each.name for each in parameters if each.default is inspect.Parameter.empty]
    properties: dict[str, Any] = {each.name: {} for each in parameters}
    return {
        "name": name,
        "description": (inspect.getdoc(method) or name).splitlines()[0],
        "parameters": {"type": "object", "properties": properties, "required": required},
        "effect": "write",
        "owner": "agent",
    }


def short(name: str) -> str:
    """Returns the name of a class in the form that the names of prompts use."""
    return "BASE" if name == BASE else name.upper()


def way_of(stones: list[Any]) -> dict[str, Any]:
    """Reads the milestones of an answer. `script` has the calls of the first list of milestones that has only calls."""
    lists = stones if stones and isinstance(stones[0], list) else [stones]
    unreadable: list[str] = []
    milestones = [[stone_of(text, unreadable) for text in each] for each in lists]
    script = next((made for each in lists if (made := [repaired(text) for text in each]) and None not in made), None)
    return {"milestones": milestones, "unreadable": unreadable, "script": script}


def stone_of(text: str, unreadable: list[str]) -> Any:
    """Parses a milestone as calls. A text that Python would print differently stays a text, which equals no call."""
    try:
        if written(text) == text.strip():
            return calls_in(text)
    except (SyntaxError, ValueError):
        pass
    unreadable.append(text)
    return text


def written(text: str) -> str:
    """Returns the calls of a milestone as Python prints them, the form in which ACEBench compares calls made here."""
    made = []
    for call in elements_of(text):
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        keywords = call.keywords if isinstance(call, ast.Call) else []
        given = [f"{each.arg}={ast.literal_eval(each.value)!r}" for each in keywords]
        made.append(f"{name}({', '.join(given)})")
    return f"[{', '.join(made)}]"


def repaired(text: str) -> Any:
    """Parses the calls of a milestone, even where an unescaped apostrophe in a word ends a string too early."""
    for tried in (text, re.sub(r"(?<=\w)'(?=\w)", r"\\'", text)):
        try:
            return calls_in(tried)
        except (SyntaxError, ValueError):
            continue
    return None


def calls_in(text: str) -> list[dict[str, Any]]:
    return [call_of(each) for each in elements_of(text)]


def elements_of(text: str) -> list[ast.expr]:
    tree = ast.parse(text.strip(), "<milestone>", "eval").body
    if not isinstance(tree, ast.List) or not tree.elts:
        raise ValueError(f"{text} is not a list of calls")
    return tree.elts


def call_of(tree: ast.expr) -> dict[str, Any]:
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.args:
        raise ValueError(f"{ast.unparse(tree)} is not a call with named arguments")
    return call_as_json(tree.func.id, {str(each.arg): ast.literal_eval(each.value) for each in tree.keywords})


def first_heard(file: Path, language: str) -> str:
    """Returns the first message to the simulated user, from the branch of the code for a language."""
    for branch in ast.walk(tree_of(file)):
        if not isinstance(branch, ast.If) or not names_text(branch.test, language):
            continue
        for node in (each for line in branch.body for each in ast.walk(line)):
            said = dictionary(node)
            if said.get("role") == "user" and isinstance(said.get("content"), str):
                return said["content"]
    raise otherwise(f"expected a first message for {language} in {file}")


def names_text(test: ast.expr, text: str) -> bool:
    return any(isinstance(each, ast.Constant) and each.value == text for each in ast.walk(test))


def dictionary(node: ast.AST) -> dict[Any, Any]:
    """Returns the constant members of a dictionary literal."""
    if not isinstance(node, ast.Dict):
        return {}
    pairs = zip(node.keys, node.values, strict=True)
    return {k.value: v.value for k, v in pairs if isinstance(k, ast.Constant) and isinstance(v, ast.Constant)}


def nudge_of(file: Path) -> str:
    """Returns the text that answers an agent of multi_step when it makes no call."""
    for handler in ast.walk(tree_of(file)):
        if not isinstance(handler, ast.ExceptHandler):
            continue
        for node in ast.walk(handler):
            said = node.value if isinstance(node, ast.Assign) else None
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                return said.value
    raise otherwise(f"expected an answer to texts in {file}")
