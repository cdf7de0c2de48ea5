"""The user's own copy of a benchmark: modules are imported one by one, and files are read without running them."""

from __future__ import annotations

import ast
import importlib
import json
import sys
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .description import BridgeError


def otherwise(said: str, file: Path | str | None = None) -> BridgeError:
    """Returns an error for a part that every known version of a benchmark has and this copy lacks.

    Args:
        said: What was expected and not found.
        file: The file that is not there.
    """
    message = f"{said}; this version has a different layout"
    return BridgeError("import/layout", message, None if file is None else str(file))


def stand_in(name: str, folder: Path, *parts: str) -> None:
    """Lets the modules of a package be imported one by one, without its `__init__`, which would load all of it.

    Args:
        name: The package, such as tau2.
        folder: The folder of the package.
        parts: Subfolders that it must have.
    """
    if not all((folder / part).is_dir() for part in parts):
        listed = " and ".join(f"{part}/" for part in parts)
        raise BridgeError("import/layout", f"expected {name} at {folder}, with {listed}")
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module


def import_from(folder: Path, name: str, benchmark: str, get: str) -> Any:
    """Imports a module of the copy in a folder; `get` tells people how to install what the benchmark needs."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = str(error.name)
        if missing.partition(".")[0] == name.partition(".")[0]:
            raise otherwise(f"expected {missing} in {folder}") from error
        lack = f"{sys.executable} can't import what {benchmark} needs: {error}"
        raise BridgeError("environment/package", f"{lack}. Name a Python that has it (--python): {get}") from error
    except SyntaxError as error:
        raise unreadable(error.filename, error) from error
    except ImportError as error:
        raise otherwise(f"{name} of {folder}: {error}") from error


def member(module: Any, name: str) -> Any:
    """Returns a member of a module. Raises a `BridgeError` if the module lacks it."""
    if not hasattr(module, name):
        raise otherwise(f"{module.__file__} has no {name}")
    return getattr(module, name)


def text_in(file: Path) -> str:
    """Returns the content of a file. Raises a `BridgeError` if it does not exist or is a pointer of Git LFS."""
    if not file.is_file():
        raise otherwise(f"expected {file}, which is not there", file)
    text = file.read_text(encoding="utf-8")
    if text.startswith("version https://git-lfs.github.com/spec/"):
        said = f'{file} is a Git LFS pointer, not the file itself. Run "git lfs pull" in its checkout'
        raise BridgeError("import/lfs", said)
    return text


def json_fault(files: Iterable[Path]) -> str | None:
    """Returns which file is not JSON, and why."""
    for file in sorted(files):
        try:
            json.loads(text_in(file))
        except BridgeError as error:
            return str(error)
        except ValueError as error:
            return f"{file} does not parse: {error}"
    return None


def tree_of(file: Path) -> ast.Module:
    """Returns the syntax tree of a module."""
    try:
        return ast.parse(text_in(file))
    except SyntaxError as error:
        raise unreadable(file, error) from error


def unreadable(file: Any, error: SyntaxError) -> BridgeError:
    return BridgeError("import/syntax", f"{file}:{error.lineno} does not parse: {error.msg}")


def constant_of(file: Path, name: str) -> Any:
    """Returns the value that a module assigns to a name, without importing the module."""
    for node in tree_of(file).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            try:
                return literal(node.value)
            except ValueError:
                break
    raise otherwise(f"expected {name} in {file}")


def literal(node: ast.expr) -> Any:
    """Evaluates an expression without names. It may be a text with `.strip()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "strip":
        return str(literal(node.func.value)).strip()
    return ast.literal_eval(node)


def text_of(file: Path, name: str) -> str:
    """Returns a text that a module assigns to a name."""
    value = constant_of(file, name)
    if not isinstance(value, str):
        raise otherwise(f"expected a text {name} in {file}")
    return value


def json_lines(file: Path) -> list[dict[str, Any]]:
    """Returns the JSON objects of a file with one on each line."""
    found: list[dict[str, Any]] = []
    for number, line in enumerate(text_in(file).split("\n"), 1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise BridgeError("import/syntax", f"{file}:{number} does not parse: {error}") from error
    return found


def call_as_json(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a call in the form of a task. Raises a ValueError for an argument that JSON can't represent."""
    floats: list[str] = []
    made = as_json(arguments, "", floats)
    return {"tool": name, "arguments": made, **({"floats": floats} if floats else {})}


def as_json(value: Any, place: str, floats: list[str]) -> Any:
    """Returns arguments of a call as JSON data, and adds the places of whole floats to `floats`."""
    if isinstance(value, dict):
        escaped = {key: str(key).replace("~", "~0").replace("/", "~1") for key in value}
        return {str(key): as_json(each, f"{place}/{escaped[key]}", floats) for key, each in value.items()}
    if isinstance(value, list):
        return [as_json(each, f"{place}/{index}", floats) for index, each in enumerate(value)]
    if isinstance(value, float) and value.is_integer():
        floats.append(place)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{place} holds a {type(value).__name__}, which JSON has not")
