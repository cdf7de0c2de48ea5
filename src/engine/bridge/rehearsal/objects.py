"""Converts state in the attributes of objects to rows of a database and back, with a table for each object."""

from __future__ import annotations

import ast
import copy
import inspect
import math
import random
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .database_environment import DatabaseEnvironment
from .description import BridgeError
from .rows import MISSING
from .whole_numbers import FLOATS, with_kinds

KEY = "#"
"""Appended to a path to mean the key, not the value, as in relative JSON Pointers."""


class CountedRandom(random.Random):
    """Random numbers whose state is the seed and the number of words drawn since."""

    def __init__(self, seed: Any = None) -> None:
        self.seed_given, self.drawn = seed, 0
        super().__init__(seed)

    def random(self) -> float:
        self.drawn += 2
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        self.drawn += max(1, (k + 31) // 32)
        return super().getrandbits(k)

    @classmethod
    def at(cls, seed: Any, drawn: int) -> CountedRandom:
        made = cls(seed)
        for _ in range(drawn):
            made.getrandbits(32)
        return made


def count_randoms(module: types.ModuleType) -> None:
    """Replaces `random` in a module, so that the state of its random numbers can be stored."""
    if getattr(module, "random", None) is random:
        vars(module)["random"] = types.SimpleNamespace(**{**vars(random), "Random": CountedRandom})


class Writing:
    """Writes values as JSON data. A value that JSON lacks becomes an object whose one key begins with $."""

    def __init__(self, owner: str, module: str | None = None) -> None:
        self._owner, self._module = owner, module
        self.floats: list[str] = []
        self._places: dict[int, str] = {}

    def json(self, value: Any, at: list[str]) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            return value if abs(value) < 2**53 else {"$int": str(value)}
        if isinstance(value, float):
            return self._float(value, at)
        if isinstance(value, dict):
            return {self._key(key, at): self.json(each, [*at, key_text(key)]) for key, each in value.items()}
        if isinstance(value, list):
            return [self.json(each, [*at, str(index)]) for index, each in enumerate(value)]
        if isinstance(value, tuple):
            return {"$tuple": [self.json(each, [*at, "$tuple", str(index)]) for index, each in enumerate(value)]}
        if isinstance(value, (set, frozenset)):
            return {"$set": [self.json(each, [*at, "$set", str(i)]) for i, each in enumerate(sorted(value, key=repr))]}
        if isinstance(value, CountedRandom):
            return {"$random": [value.seed_given, value.drawn]}
        if type(value).__module__ == self._module and hasattr(value, "__dict__"):
            return self._object(value, at)
        raise BridgeError(
            "environment/state",
            f"{self._owner}.{'.'.join(at)} holds a {type(value).__name__}, which can't be kept in the database",
        )

    def _key(self, key: Any, at: list[str]) -> str:
        text = key_text(key)
        if isinstance(key, float) and key.is_integer():
            self.floats.append(pointer([*at, text]) + KEY)
        return text

    def _float(self, value: float, at: list[str]) -> Any:
        if not math.isfinite(value):
            return {"$float": repr(value)}
        if value.is_integer():
            self.floats.append(pointer(at))
        return value

    def _object(self, value: Any, at: list[str]) -> Any:
        if id(value) in self._places:
            return {"$ref": self._places[id(value)]}
        self._places[id(value)] = pointer(at)
        public = {name: each for name, each in vars(value).items() if not name.startswith("_")}
        return {"$class": type(value).__name__, **{name: self.json(each, [*at, name]) for name, each in public.items()}}


def rows_of(instance: Any) -> dict[str, Any]:
    """Returns an object as rows: its public attributes, and private ones that differ from those of a new object."""
    kind = type(instance)
    writing = Writing(kind.__name__, kind.__module__)
    as_new = vars(kind())
    rows: dict[str, Any] = {}
    for name, value in sorted(vars(instance).items(), key=lambda each: each[0].startswith("_")):
        if not (name.startswith("_") and name in as_new and as_new[name] == value):
            rows[name] = writing.json(value, [name])
    return {**rows, FLOATS: writing.floats} if writing.floats else rows


def data_of(value: Any, owner: str) -> tuple[Any, list[str]]:
    """Returns JSON data that keeps the order of keys, and the places of whole numbers that are floats."""
    writing = Writing(owner)
    return writing.json(value, []), writing.floats


def key_text(key: Any) -> str:
    """Returns a key as text: in brackets if it is not a text, in quotes if it could be mistaken for another key."""
    if isinstance(key, float) and key.is_integer():
        return f"({int(key)})"
    if not isinstance(key, str):
        return f"({key!r})"
    return repr(key) if key[:1] in ("(", "'", '"', "$") or key.isdigit() else key


def key_of(text: str) -> Any:
    if text[:1] == "(":
        return ast.literal_eval(text[1:-1])
    return ast.literal_eval(text) if text[:1] in ("'", '"') else text


def pointer(place: Sequence[str]) -> str:
    """Returns a place in the rows as a JSON Pointer."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in place)


def with_floats(arguments: Mapping[str, Any], places: Sequence[str]) -> dict[str, Any]:
    """Returns arguments with the whole numbers at these JSON Pointers as floats."""
    if not places:
        return dict(arguments)
    return with_kinds(copy.deepcopy(dict(arguments)), dict.fromkeys(places, "float"))


class Reading:
    """Reads values back from the JSON data of `Writing`."""

    def __init__(self, floats: Sequence[str], module: Any = None) -> None:
        self._module = module
        self._floats = set(floats)
        self._objects: dict[str, Any] = {}
        self._later: list[tuple[str, Callable[[Any], None]]] = []

    def finish(self) -> None:
        """Puts in the references to what was not there yet."""
        for place, put in self._later:
            put(self._objects[place])

    def into(self, value: Any, at: tuple[str, ...], put: Callable[[Any], None]) -> None:
        """Puts a value where it belongs; a reference to what is not there yet is put in at the end."""
        if isinstance(value, dict) and "$ref" in value:
            self._later.append((value["$ref"], put))
        else:
            put(self.value(value, at))

    def value(self, value: Any, at: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            made: list[Any] = [None] * len(value)
            for index, each in enumerate(value):
                self.into(each, (*at, str(index)), lambda item, index=index: made.__setitem__(index, item))
            return made
        if not isinstance(value, dict):
            return float(value) if self._floats and pointer(at) in self._floats else value
        tag = next(iter(value), "")
        if tag == "$class":
            return self._object(value, at)
        if tag in ("$tuple", "$set"):
            return (tuple if tag == "$tuple" else set)(self.value(value[tag], (*at, tag)))
        if tag in ("$int", "$float"):
            return (int if tag == "$int" else float)(value[tag])
        if tag == "$random":
            return CountedRandom.at(*value[tag])
        table: dict[Any, Any] = {}
        for text, each in value.items():
            key = key_of(text)
            if self._floats and pointer([*at, text]) + KEY in self._floats:
                key = float(key)
            # A place in the dictionary now, so that its order stays when a reference comes later.
            table[key] = None
            self.into(each, (*at, text), lambda item, key=key: table.__setitem__(key, item))
        return table

    def _object(self, value: Mapping[str, Any], at: tuple[str, ...]) -> Any:
        kind = getattr(self._module, value["$class"])
        given = {name for name in inspect.signature(kind).parameters if name in value}
        simple = {name: value[name] for name in given if not isinstance(value[name], (dict, list))}
        made = self._objects[pointer(at)] = kind(**simple)
        for name, each in value.items():
            if name != "$class":
                self.into(each, (*at, name), lambda item, name=name: setattr(made, name, item))
        return made


def object_of(kind: type, rows: Mapping[str, Any]) -> Any:
    """Creates an object of the class from its rows."""
    reading = Reading(rows.get(FLOATS, []), inspect.getmodule(kind))
    instance = kind()
    for name, value in rows.items():
        if name != FLOATS:
            reading.into(value, (name,), lambda made, name=name: setattr(instance, name, made))
    reading.finish()
    return instance


def data_from(json: Any, floats: Sequence[str]) -> Any:
    """Returns the value that `data_of` wrote."""
    return Reading(floats).value(json, ())


class ObjectsView:
    """The agent's side in one rollout: objects by the name of their class, and the rows that the engine has of them."""

    def __init__(self, kinds: Callable[[str], type], base: Mapping[str, Any]) -> None:
        self._kinds = kinds
        self.rows: dict[str, dict[str, Any]] = copy.deepcopy(dict(base))
        self._objects: dict[str, Any] = {}
        self._touched: set[str] = set()

    @property
    def value(self) -> ObjectsView:
        return self

    @property
    def names(self) -> list[str]:
        """Returns the classes of this rollout."""
        return list(dict.fromkeys([*self.rows, *self._objects]))

    def put(self, name: str, instance: Any) -> None:
        self._objects[name] = instance
        self._touched.add(name)

    def at(self, name: str) -> Any:
        """Returns the object of a class, which counts as changed from now on."""
        if name not in self._objects:
            self._objects[name] = object_of(self._kinds(name), self.rows[name])
        self._touched.add(name)
        return self._objects[name]

    def settle(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        for name in sorted(self._touched):
            now = rows_of(self._objects[name])
            known = self.rows.get(name)
            self.rows[name] = now
            yield from [((name,), now)] if known is None else differing(known, now, (name,))
        self._touched.clear()

    def discard(self) -> None:
        for name in self._touched:
            self._objects.pop(name, None)
        self._touched.clear()

    def apply_all(self, changes: Mapping[tuple[str, ...], Any]) -> None:
        """Applies changes of the engine, by path."""
        for path, value in changes.items():
            self._apply(path, value)

    def _apply(self, path: tuple[str, ...], change: Any) -> None:
        name, *rest = path
        self._objects.pop(name, None)
        if rest:
            table: Any = self.rows.setdefault(name, {})
            key = rest[0]
        else:
            table, key = self.rows, name
        if change is MISSING:
            table.pop(key, None)
        else:
            table[key] = change

    def share(self, is_shared: bool) -> None:
        """Does nothing: objects belong to one rollout and are never shared."""

    def commit(self) -> None:
        """Does nothing: `settle` already keeps the changes that it reports."""


class ObjectEnvironment(DatabaseEnvironment):
    """An environment that keeps its state in objects, which are read and written as a whole."""

    gold_apart = True
    keeps_failed_writes = True

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(settings)
        self._base: Mapping[str, Any] = {}

    def kind(self, name: str) -> type:
        """Returns the class of this name."""
        raise NotImplementedError

    def load(self, agent: Mapping[str, Any], user: Mapping[str, Any]) -> tuple[Any, Any]:
        self._base = agent
        return {}, None

    def view(self) -> ObjectsView:
        return ObjectsView(self.kind, self._base)

    def make(self, agent: Any, user: Any) -> Any:
        return agent

    def sides(self, instance: Any) -> tuple[Any, Any]:
        return instance, None

    def revive(self, side: str, path: tuple[str, ...], value: Any) -> Any:
        return value


def differing(before: Any, now: Any, at: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields path and value of each change, down to where order or type differ; `MISSING` if it was removed."""
    if isinstance(before, dict) and isinstance(now, dict) and keeps_order(before, now):
        for key in before:
            if key not in now:
                yield (*at, key), MISSING
        for key, value in now.items():
            if key in before:
                yield from differing(before[key], value, (*at, key))
            else:
                yield (*at, key), value
    elif type(before) is not type(now) or before != now or in_order(before) != in_order(now):
        yield at, now


def keeps_order(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether the keys that stayed are in their old order, with the new ones after them."""
    stayed = [key for key in before if key in now]
    return list(now)[: len(stayed)] == stayed


def in_order(value: Any) -> Any:
    """Returns a value that also differs when the order of keys differs."""
    if isinstance(value, dict):
        return [(key, in_order(each)) for key, each in value.items()]
    return [in_order(each) for each in value] if isinstance(value, list) else (type(value).__name__ == "bool", value)
