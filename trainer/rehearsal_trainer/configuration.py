"""A configuration is a JSON object over the defaults of a dataclass, refined by a profile. Torch-free."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rehearsal_trainer.failures import ConfigurationError
from rehearsal_trainer.messages import Json

Config = TypeVar("Config")
Profiles = Mapping[str, Mapping[str, Json]]


def read_config(
    kind: type[Config],
    profiles: Profiles,
    argv: Sequence[str],
    about: str,
    check: Callable[[Config], None] | None = None,
) -> tuple[Config, bool]:
    """Reads `--config FILE`, `--set name=value` and `--resume`; ConfigurationError names the field that is wrong.

    `profile` in the file picks a set of defaults; what the file or --set says goes above them. `check` refuses fields
    that do not fit together. With `--check` that is all: the process ends with exit code 0.
    """
    parser = argparse.ArgumentParser(prog=f"rehearsal_trainer {kind.__module__.rsplit('.', 1)[-1]}", description=about)
    parser.add_argument("--config", help="JSON file with the fields to change; - is standard input", metavar="FILE")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change one field; VALUE is JSON or text"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the run's last checkpoint")
    parser.add_argument("--check", action="store_true", help="say what is wrong with the configuration, start nothing")
    options = parser.parse_args(argv)
    values = _file(options.config) if options.config else {}
    for setting in options.set:
        name, separator, text = setting.partition("=")
        if not separator:
            raise ConfigurationError(f"--set {setting}: expected NAME=VALUE")
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    values.pop("kind", None)
    config = from_values(kind, profiles, values)
    if check:
        check(config)
    if options.check:
        sys.exit(0)
    return config, options.resume


def from_values(kind: type[Config], profiles: Profiles, values: Mapping[str, Json]) -> Config:
    """A dataclass from plain values over its profile's defaults; every field is checked."""
    fields = {field.name for field in dataclasses.fields(kind)}  # pyright: ignore[reportArgumentType]
    profile = values.get("profile", "cpu")
    if profile not in profiles:
        raise ConfigurationError(f"profile: {profile!r} is unknown; known are {', '.join(profiles)}")
    if unknown := sorted(set(values) - fields):
        raise ConfigurationError(f"{unknown[0]}: there is no such field; known are {', '.join(sorted(fields))}")
    merged = {**profiles[profile], **values, "profile": profile}
    hints = typing.get_type_hints(kind)
    for name, value in merged.items():
        if not _fits(value, hints[name]):
            raise ConfigurationError(f"{name}: expected {_spelled(hints[name])}, found {json.dumps(value)}")
    try:
        return kind(**merged)
    except TypeError as error:
        missing = str(error).split("argument")[-1].lstrip("s").strip(": ")
        raise ConfigurationError(f"{missing}: this field has no default and must be given") from error


def _file(name: str) -> dict[str, Json]:
    try:
        values = json.loads(sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{name}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ConfigurationError(f"{name}: is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise ConfigurationError(f"{name}: expected a JSON object")
    return values


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
    if origin is dict:
        return isinstance(value, dict)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint is type(None):
        return value is None
    return isinstance(value, hint)


def _spelled(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
