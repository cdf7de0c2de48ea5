"""Keeps track of whole numbers that are floats: Python distinguishes 5.0 from 5, the engine's JSON does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .schema import plain

KINDS = {"int": int, "float": float}

FLOATS = "_floats"
"""The row, or the table, that lists the numbers whose type JSON does not show. It is absent if it would be empty."""


def kinds_between(exact: Any, read: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yields JSON Pointer and type of each number in `exact` whose type differs in `read`, which is otherwise equal."""
    if exact is read:
        return
    if type(exact) in (int, float):
        if type(read) in (int, float) and type(exact) is not type(read):
            yield place, type(exact).__name__
        return
    own, other = members_of(exact), members_of(read)
    for key, value in own.items():
        if key in other:
            yield from kinds_between(value, other[key], f"{place}/{key.replace('~', '~0').replace('/', '~1')}")


def same_kinds(one: Any, other: Any) -> bool:
    """Whether the numbers of two equal values have the same types."""
    return next(kinds_between(one, other), None) is None


def with_kinds(value: Any, kinds: Mapping[str, str]) -> Any:
    """Changes numbers at these JSON Pointers to these types, in place, and returns the value. Skips absent places."""
    for place, kind in kinds.items():
        if place == "":
            return KINDS[kind](value)
        *keys, last = [key.replace("~1", "/").replace("~0", "~") for key in place.split("/")[1:]]
        holder = value
        for key in keys:
            holder = members_of(holder).get(key)
        found = members_of(holder).get(last)
        if type(found) in (int, float):
            put(holder, last, KINDS[kind](found))
    return value


def whole_floats(value: Any) -> list[str]:
    """Returns the JSON Pointers of the whole numbers in JSON data that are floats."""
    return [place for place, kind in kinds_between(value, as_told(value)) if kind == "float"]


def as_told(value: Any) -> Any:
    """Returns JSON data as the engine sends it back: a whole float becomes an integer."""
    if isinstance(value, dict):
        return {key: as_told(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_told(each) for each in value]
    return int(value) if type(value) is float and value.is_integer() else value


def members_of(value: Any) -> dict[str, Any]:
    """Returns the members of a dictionary, a list or a pydantic object, by their keys in JSON."""
    if isinstance(value, dict):
        return {str(plain(key)): each for key, each in dict.items(value)}
    if isinstance(value, (list, tuple)):
        return {str(index): each for index, each in enumerate(value)}
    return vars(value) if callable(getattr(value, "model_dump", None)) else {}


def put(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, list):
        holder[int(key)] = value
    elif isinstance(holder, dict):
        own = next(each for each in dict.keys(holder) if str(plain(each)) == key)
        dict.__setitem__(holder, own, value)
    elif not isinstance(holder, tuple):
        # A class may validate what is assigned, which would change the type.
        vars(holder)[key] = value
