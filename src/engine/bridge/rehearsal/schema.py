"""JSON Schemas from type hints, arguments from JSON, and JSON from results. The standard library alone."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import inspect
import re
import types
import typing
from collections import abc
from collections.abc import Callable, Mapping
from typing import Any

# Python has these from 3.11 on.
PRESENCES = tuple(getattr(typing, name) for name in ("Required", "NotRequired") if hasattr(typing, name))
SIMPLE: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
LISTS = (list, set, frozenset, tuple, abc.Sequence, abc.Iterable)
MAPS = (dict, abc.Mapping, abc.MutableMapping)
TIMES: dict[Any, str] = {datetime.date: "date", datetime.datetime: "date-time"}


class SchemaError(Exception):
    """Raised for a type that JSON can't represent."""


def schema_of(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON Schema of a type hint. Adds the definitions that it refers to to `definitions`."""
    origin, given = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        schema = schema_of(given[0], definitions)
        texts = [text for text in given[1:] if isinstance(text, str)]
        texts += [each.description for each in given[1:] if isinstance(getattr(each, "description", None), str)]
        return {**schema, **({"description": texts[0]} if texts else {})}
    if origin in PRESENCES:
        return schema_of(given[0], definitions)
    if hint in (Any, object) or isinstance(hint, typing.TypeVar):
        return {}
    if hint is None or hint in SIMPLE:
        return {"type": "null" if hint is None else SIMPLE[hint]}
    if hint in TIMES:
        return {"type": "string", "format": TIMES[hint]}
    if hint is decimal.Decimal:
        return {"type": "number"}
    if origin is typing.Literal:
        return {"enum": list(given)} if len({type(each) for each in given}) > 1 else typed_enum(given)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(each, definitions) for each in given]}
    if hasattr(hint, "__supertype__"):
        return schema_of(hint.__supertype__, definitions)
    if origin in LISTS or hint in LISTS:
        item = [each for each in given if each is not Ellipsis][:1]
        return {"type": "array", **({"items": schema_of(item[0], definitions)} if item else {})}
    if origin in MAPS or hint in MAPS:
        values = schema_of(given[1], definitions) if len(given) == 2 else {}
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if inspect.isclass(hint):
        return schema_of_class(hint, definitions)
    raise SchemaError(f"the type {name_of(hint)}, which JSON can't carry")


def schema_of_class(hint: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON Schema of a class: an enum, a typed dictionary, a dataclass or a model."""
    if issubclass(hint, enum.Enum):
        return typed_enum([each.value for each in hint])
    if callable(getattr(hint, "model_json_schema", None)):
        schema = dict(hint.model_json_schema())  # pyright: ignore
        definitions.update(schema.pop("$defs", {}))
        return schema
    if dataclasses.is_dataclass(hint):
        fields = dataclasses.fields(hint)
        required = [
            each.name
            for each in fields
            if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        ]
        return object_schema(typing.get_type_hints(hint, include_extras=True), required, definitions)
    if typing.is_typeddict(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        required = [name for name in hints if name in getattr(hint, "__required_keys__", hints)]
        return object_schema(hints, required, definitions)
    raise SchemaError(f"the type {name_of(hint)}, which JSON can't carry")


def object_schema(hints: Mapping[str, Any], required: list[str], definitions: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of an object with exactly these keys."""
    properties = {name: schema_of(hint, definitions) for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def typed_enum(values: Any) -> dict[str, Any]:
    """Returns the schema of a choice among values."""
    kind = SIMPLE.get(type(next(iter(values), None)))
    return {**({"type": kind} if kind else {}), "enum": list(values)}


def name_of(hint: Any) -> str:
    """Returns a type as people write it."""
    return getattr(hint, "__name__", None) or str(hint)


@dataclasses.dataclass(frozen=True)
class Signature:
    """The arguments of a function as JSON Schema, their hints, and the parameters that the engine fills."""

    parameters: dict[str, Any]
    hints: dict[str, Any]
    filled: frozenset[str]
    description: str


def hint_of(function: Callable[..., Any], name: str) -> Any:
    """Returns the type of an argument. The types of others may have names that only a type checker knows."""
    annotations = getattr(function, "__annotations__", {})
    if name not in annotations:
        return Any
    one = types.SimpleNamespace(__annotations__={name: annotations[name]})
    scope = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        return typing.get_type_hints(one, globalns=scope, include_extras=True)[name]
    except NameError as error:
        raise SchemaError(f"the argument {name} of an unknown type: {error}") from None


def signature_of(function: Callable[..., Any], filled_names: frozenset[str]) -> Signature:
    """Reads signature and docstring of a tool. Raises a `SchemaError` for a type that JSON can't represent."""
    documentation = parse_docstring(inspect.getdoc(function) or "")
    definitions: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    used: dict[str, Any] = {}
    filled: set[str] = set()
    for name, parameter in inspect.signature(function).parameters.items():
        if name in filled_names:
            filled.add(name)
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise SchemaError(f"the parameter {name}, which is not a named argument")
        used[name] = hint_of(function, name)
        try:
            schema = schema_of(used[name], definitions)
        except SchemaError as error:
            raise SchemaError(f"the argument {name} of {error}") from None
        text = documentation.arguments.get(name)
        properties[name] = {**({"description": text} if text else {}), **schema}
        if parameter.default is parameter.empty:
            required.append(name)
        else:
            default = plain(parameter.default)
            if default is not None:
                properties[name] = {**properties[name], "default": default}
    parameters: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        parameters["required"] = required
    if definitions:
        parameters["$defs"] = definitions
    return Signature(parameters, used, frozenset(filled), documentation.text)


@dataclasses.dataclass(frozen=True)
class Documentation:
    """The description of a function and of each of its arguments, from its docstring."""

    text: str
    arguments: dict[str, str]


SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns?|Raises|Yields|Examples?|Notes?):?\s*$")


def parse_docstring(text: str) -> Documentation:
    """Splits a docstring in the style of Google or reST into its text and the descriptions of the arguments."""
    body: list[str] = []
    arguments: dict[str, str] = {}
    section, current = "", ""
    for line in text.splitlines():
        heading = SECTION.match(line)
        field = re.match(r"^\s*:param (?:\w+ )?(\w+):\s*(.*)$", line)
        if heading:
            section, current = heading[1].lower(), ""
        elif field:
            section, current = "field", field[1]
            arguments[current] = field[2]
        elif re.match(r"^\s*:(returns?|raises|rtype)\b", line):
            section, current = "other", ""
        elif section in ("args", "arguments", "parameters"):
            entry = re.match(r"^\s{2,}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$", line)
            if entry:
                current = entry[1]
                arguments[current] = entry[2]
            elif current and line.strip():
                arguments[current] += f" {line.strip()}"
        elif section == "field" and current and line.strip():
            arguments[current] += f" {line.strip()}"
        elif section == "":
            body.append(line)
    paragraphs = re.split(r"\n\s*\n", "\n".join(body).strip())
    return Documentation("\n\n".join(" ".join(each.split()) for each in paragraphs if each.strip()), arguments)


def convert(value: Any, hint: Any) -> Any:
    """Converts JSON data that fits a hint's schema to the hint's own type. Data of an unknown type stays unchanged."""
    origin, given = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return convert(value, given[0])
    if value is None or hint in (Any, object):
        return value
    if origin in (typing.Union, types.UnionType):
        return first_fitting(value, [each for each in given if each is not type(None)])
    if hint is float and isinstance(value, int):
        return float(value)
    if hint is int and isinstance(value, float) and value.is_integer():
        # JSON Schema counts 5.0 as an integer.
        return int(value)
    if hint is decimal.Decimal:
        return decimal.Decimal(str(value))
    if hint in TIMES and isinstance(value, str):
        return hint.fromisoformat(value)  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, list):
        item = next((each for each in given if each is not Ellipsis), Any)
        items = [convert(each, item) for each in value]
        return origin(items) if origin in (set, frozenset, tuple) else items
    if isinstance(value, dict) and origin in MAPS and len(given) == 2:
        return {key: convert(each, given[1]) for key, each in value.items()}
    if inspect.isclass(hint):
        if issubclass(hint, enum.Enum):
            return hint(value)
        if callable(getattr(hint, "model_validate", None)):
            return hint.model_validate(value)  # pyright: ignore
        if dataclasses.is_dataclass(hint) and isinstance(value, dict):
            hints = typing.get_type_hints(hint, include_extras=True)
            return hint(**{key: convert(each, hints.get(key, Any)) for key, each in value.items()})
    return value


def first_fitting(value: Any, hints: list[Any]) -> Any:
    """Converts JSON data to the first of several types that it fits."""
    for hint in hints:
        try:
            kind = schema_of(hint, {}).get("type")
        except SchemaError:
            continue
        if kind is None or fits(value, kind):
            try:
                return convert(value, hint)
            except (TypeError, ValueError):
                continue
    return value


def fits(value: Any, kind: str) -> bool:
    """Whether a value is of a JSON type; a bool does not count as a number."""
    if isinstance(value, bool):
        return kind == "boolean"
    types_of = {"string": str, "integer": int, "number": (int, float), "array": list, "object": dict}
    return isinstance(value, types_of.get(kind, ()))


def plain(value: Any) -> Any:
    """Returns the value as JSON data. Raises a TypeError that names what JSON can't represent."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(plain(key)): plain(each) for key, each in dict.items(value)}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(each) for each in value), key=str)
    if isinstance(value, (datetime.date, datetime.datetime, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    raise TypeError(f"a {type(value).__name__} can't be shown as JSON")
