"""Describes the keys of a configuration, and derives their schemas and checks. Torch-free."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rehearsal_trainer.values.messages import Json


@dataclass(frozen=True)
class Setting:
    """The description of a key for its users: `learning_rate: Annotated[float, Setting(...)] = 1e-6`."""

    about: str
    unit: str | None = None
    paper: str | None = None
    """The value in MUA-RL (arXiv 2508.18669) or its training script."""
    trl: str | None = None
    """Its name in TRL."""
    verl: str | None = None
    """Its name in verl; the one in GRPO if GRPO and SFT differ."""
    verl_sft: str | None = None
    """Its name in verl's SFT, if it differs."""
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    """The bounds of a number: `ge` at least, `gt` more than, `le` at most."""
    is_path: bool = False
    """Whether it holds paths, relative to the configuration file."""
    is_given: bool = False
    """Whether the command line sets it, so that users do not write it into their files."""
    names: Literal["alarms", "limits"] | None = None
    """The kind of names that its values, or the keys of its value, are."""


@dataclass(frozen=True)
class Key:
    """A key of a configuration with its type and description."""

    name: str
    hint: Any
    setting: Setting
    is_required: bool


Backend = Literal["trl", "verl"]
"""The library that trains."""


def option_names(kind: type[Any], backend: Backend, is_sft: bool) -> dict[str, str]:
    """Returns the names of the options of a backend that the keys of a configuration set, by the names of the keys."""
    settings = {name: key.setting for name, key in keys_of(kind).items()}
    named = {
        name: setting.trl if backend == "trl" else (setting.verl_sft if is_sft else None) or setting.verl
        for name, setting in settings.items()
    }
    return {name: option for name, option in named.items() if option}


def keys_of(kind: type[Any]) -> dict[str, Key]:
    """Returns the keys of a configuration by name; a field without a Setting is a programming error."""
    hints = typing.get_type_hints(kind, include_extras=True)
    keys = {}
    for each in dataclasses.fields(kind):
        hint, *rest = typing.get_args(hints[each.name])
        setting = next(extra for extra in rest if isinstance(extra, Setting))
        required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        keys[each.name] = Key(each.name, hint, setting, required)
    return keys


def fault_of(key: Key, value: Json) -> str | None:
    """Returns the expectation that a value does not meet, or None if it is valid."""
    if not _fits(value, key.hint):
        return f"expected {spelled(key.hint)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        setting = key.setting
        if isinstance(value, float) and not math.isfinite(value):
            return "expected a finite number"
        if setting.ge is not None and value < setting.ge:
            return f"expected at least {setting.ge:g}"
        if setting.gt is not None and value <= setting.gt:
            return f"expected more than {setting.gt:g}"
        if setting.le is not None and value > setting.le:
            return f"expected at most {setting.le:g}"
    return None


def spelled(hint: Any) -> str:
    """Returns the name of a type for display."""
    if typing.get_origin(hint) is typing.Literal:
        return f"one of {', '.join(typing.get_args(hint))}"
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        # The values of a Literal are a list already, so others follow as its last entries.
        parts = [spelled(part) for part in typing.get_args(hint)]
        return ", ".join(parts) if parts[0].startswith("one of ") else " | ".join(parts)
    origin = typing.get_origin(hint) or hint
    return "list" if origin is list else "object" if origin is dict else _NAMES[hint]


def schema_of(key: Key) -> dict[str, Json]:
    """Returns the JSON Schema of a key's value."""
    setting = key.setting
    bounds: Mapping[str, Json] = {
        "minimum": setting.ge,
        "exclusiveMinimum": setting.gt,
        "maximum": setting.le,
    }
    return {**_schema(key.hint), **{name: bound for name, bound in bounds.items() if bound is not None}}


_NAMES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _schema(hint: Any) -> dict[str, Json]:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return {"enum": list(parts)}
    if origin in (types.UnionType, typing.Union):
        schemas = [_schema(part) for part in parts]
        if all(set(schema) == {"type"} for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        return {"anyOf": schemas}
    if origin is list:
        return {"type": "array", "items": _schema(parts[0])}
    if dataclasses.is_dataclass(hint):
        inner = keys_of(typing.cast(type[Any], hint))
        return {
            "type": "object",
            "properties": {key.name: {**schema_of(key), "description": key.setting.about} for key in inner.values()},
            "required": [key.name for key in inner.values() if key.is_required],
            "additionalProperties": False,
        }
    if origin is dict:
        return {"type": "object"}
    return {"type": _NAMES[hint]}


def _fits(value: Json, hint: Any) -> bool:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, part) for part in parts)
    if origin is typing.Literal:
        return value in parts
    if origin is list:
        return isinstance(value, list) and all(_fits(item, parts[0]) for item in value)
    if origin is dict or dataclasses.is_dataclass(hint):
        return isinstance(value, dict)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint is type(None):
        return value is None
    return isinstance(value, hint)
