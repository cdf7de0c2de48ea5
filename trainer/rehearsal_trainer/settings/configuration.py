"""Reads a configuration: a JSON object that overrides a profile, which overrides a dataclass's defaults. Torch-free."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import json
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rehearsal_trainer.settings.setting import Key, fault_of, keys_of
from rehearsal_trainer.values.bounded_file import read_text
from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.messages import Json

Config = TypeVar("Config")
Profiles = Mapping[str, Mapping[str, Json]]


def read_config(
    kind: type[Config],
    profiles: Profiles,
    argv: Sequence[str],
    about: str,
    check: Callable[[Config], None] | None = None,
    algorithms: Profiles | None = None,
    needs: Callable[[Config], Mapping[str, Json]] | None = None,
) -> tuple[Config, bool]:
    """Reads `--config FILE`, `--set name=value` and `--resume`; ConfigurationError names an invalid field.

    `profile` in the file chooses a set of defaults, which the file and --set override. `check` refuses fields that do
    not fit together. With `--check`, the result of `needs` is printed as JSON, and the process exits with code 0.
    """
    parser = argparse.ArgumentParser(
        prog=f"rehearsal_trainer {kind.__module__.removesuffix('.config').rsplit('.', 1)[-1]}", description=about
    )
    parser.add_argument("--config", help="JSON file with the fields to change; - is standard input", metavar="FILE")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change one field; VALUE is JSON or text"
    )
    parser.add_argument("--resume", action="store_true", help="resume from the run's last checkpoint")
    parser.add_argument(
        "--check", action="store_true", help="report errors in the configuration without starting anything"
    )
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
    config = from_values(kind, profiles, values, algorithms)
    if check:
        check(config)
    if options.check:
        if needs:
            print(json.dumps(needs(config)))
        sys.exit(0)
    return config, options.resume


def from_values(
    kind: type[Config], profiles: Profiles, values: Mapping[str, Json], algorithms: Profiles | None = None
) -> Config:
    """Builds a dataclass from values that override its algorithm and its profile; checks every field."""
    keys = keys_of(kind)
    if unknown := sorted(set(values) - set(keys)):
        raise ConfigurationError(
            f"{unknown[0]}: there is no such key{_of_another_kind(unknown[0]) or _hint(unknown[0], _written(keys))}"
        )
    profile = values.get("profile", "cpu")
    chosen = dict(_named("profile", profile, profiles))
    if algorithms is not None:
        # The values of an algorithm's paper override the profile; the user's values override both.
        algorithm = {**chosen, **values}.get("algorithm", next(iter(algorithms)))
        chosen |= _named("algorithm", algorithm, algorithms)
    if "epochs" in values:
        chosen.pop("steps", None)  # a user who sets epochs does not want the profile's number of steps
    merged = {**chosen, **values, "profile": profile}
    return _built(kind, keys, merged, "")


def _named(field: str, name: Json, sets: Profiles) -> Mapping[str, Json]:
    if not isinstance(name, str) or name not in sets:
        raise ConfigurationError(f"{field}: {name!r} is unknown{_hint(str(name), sets)}")
    return sets[name]


def _hint(name: str, known: Iterable[str]) -> str:
    """Returns the known name that was most likely meant, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1, 0.75)
    return f'. Did you mean "{close[0]}"?' if close else f"; known are {', '.join(names)}"


def _written(keys: Mapping[str, Key]) -> list[str]:
    """Returns the names of the keys that a user can write."""
    return sorted(name for name, key in keys.items() if not key.setting.is_given)


def _of_another_kind(name: str) -> str | None:
    """Returns which other kinds of run have a key, or None."""
    explained = json.loads(read_text(KEYS_FILE))
    kinds = [word for kind, word in _KINDS.items() if any(key["name"] == name for key in explained[kind])]
    return f" here: {name} is a key of {' and '.join(kinds)}" if kinds else None


KEYS_FILE = Path(__file__).parents[1] / "keys.json"
_KINDS = {"sft": "SFT", "grpo": "GRPO", "evaluate": "evaluate"}


def _built(kind: type[Config], keys: Mapping[str, Key], values: Mapping[str, Json], within: str) -> Config:
    for name, value in values.items():
        if name not in keys:
            raise ConfigurationError(f"{within}{name}: there is no such key{_hint(name, _written(keys))}")
        if fault := fault_of(keys[name], value):
            raise ConfigurationError(f"{within}{name}: {fault}, found {json.dumps(value)}")
    for name, key in keys.items():
        if key.is_required and name not in values:
            raise ConfigurationError(f"{within}{name}: this key has no default and must be given")
    return kind(**{name: _inner(keys[name], value, within) for name, value in values.items()})


def _inner(key: Key, value: Json, within: str) -> Any:
    """Returns a value unchanged, or the dataclasses of a list of objects."""
    alternatives = typing.get_args(key.hint) if typing.get_origin(key.hint) in _UNIONS else (key.hint,)
    lists = [part for part in alternatives if typing.get_origin(part) is list]
    kind = typing.get_args(lists[0])[0] if lists else None
    if not isinstance(value, list) or not dataclasses.is_dataclass(kind):
        return value
    inner = typing.cast(type[Any], kind)
    return [_built(inner, keys_of(inner), each, f"{within}{key.name}: ") for each in value]


_UNIONS = (types.UnionType, typing.Union)


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
