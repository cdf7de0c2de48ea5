"""Data that many rollouts share: frozen where it is read, copied row by row where it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

REFUSAL = "a read tool may not write. Declare its effect as write"


class ReadOnlyError(Exception):
    """Raised by a write to read-only data."""


class Missing:
    """The type of `MISSING`, which means that there is no row."""


MISSING = Missing()


def refuse(*_: Any, **__: Any) -> NoReturn:
    """Replaces every method that would change frozen data."""
    raise ReadOnlyError(REFUSAL)


class FrozenDict(dict):
    """A dictionary that can't be changed; its keys are attributes too."""

    __slots__ = ()
    __setitem__ = __delitem__ = __setattr__ = __delattr__ = __ior__ = refuse
    clear = pop = popitem = setdefault = update = refuse

    def __getattr__(self, name: str) -> Any:
        return attribute(self, name)

    def __deepcopy__(self, _: Any) -> Any:
        return thaw(self)

    def __copy__(self) -> Any:
        return Row(self)

    def copy(self) -> Any:
        return Row(self)


class FrozenList(list):
    """A list that can't be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = refuse
    append = clear = extend = insert = pop = remove = reverse = sort = refuse

    def __deepcopy__(self, _: Any) -> Any:
        return thaw(self)


class Row(dict):
    """A dictionary whose keys are attributes too."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]


def attribute(of: dict, name: str) -> Any:
    """Reads a key as an attribute."""
    try:
        return of[name]
    except KeyError:
        raise AttributeError(f"there is no {name} here; there is {', '.join(map(str, of)) or 'nothing'}") from None


def freeze(value: Any) -> Any:
    """Returns a frozen copy of JSON data."""
    if isinstance(value, dict):
        return FrozenDict((key, freeze(each)) for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return FrozenList(map(freeze, value))
    return value


def thaw(value: Any) -> Any:
    """Returns a copy of JSON data that can be changed."""
    if isinstance(value, dict):
        return Row((key, thaw(each)) for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return [thaw(each) for each in value]
    return value


class Rows(dict):
    """A table on shared rows. A row is copied when it is first accessed, and the changes of a call can be undone."""

    __slots__ = ("_before", "_copy", "_fresh", "_order", "_own", "is_shared")

    def __init__(self, source: Mapping[Any, Any], copy: Callable[[Any], Any]) -> None:
        super().__init__(source)
        self._copy = copy
        self._own: set[Any] = set()
        """Keys whose row belongs to this table alone."""
        self._fresh: set[Any] = set()
        """The keys whose row became this table's own in this call."""
        self._before: dict[Any, Any] = {}
        """The value at a key before this call."""
        self._order: list[Any] | None = None
        """The keys before this call added or removed one."""
        self.is_shared = False
        """Whether the call only reads. It then gets the rows themselves, without copies."""

    def _open(self, key: Any) -> Any:
        value = super().__getitem__(key)
        if self.is_shared or key in self._before:
            return value
        if key in self._own:
            self._before[key] = value if isinstance(value, Rows) else self._copy(value)
            return value
        own = self._copy(value)
        self._before[key] = value
        self._claim(key)
        super().__setitem__(key, own)
        return own

    def _claim(self, key: Any) -> None:
        if key not in self._own:
            self._own.add(key)
            self._fresh.add(key)

    def _note(self, key: Any) -> None:
        is_there = super().__contains__(key)
        if key not in self._before:
            self._before[key] = self._kept(key) if is_there else MISSING

    def _kept(self, key: Any) -> Any:
        value = super().__getitem__(key)
        return self._copy(value) if key in self._own and not isinstance(value, Rows) else value

    def _reorder(self) -> None:
        if self._order is None:
            self._order = list(super().keys())

    def __getattr__(self, name: str) -> Any:
        return attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Rows.__slots__:
            object.__setattr__(self, name, value)
        else:
            self[name] = value

    def __getitem__(self, key: Any) -> Any:
        return self._open(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._note(key)
        if not super().__contains__(key):
            self._reorder()
        self._claim(key)
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        if not super().__contains__(key):
            raise KeyError(key)
        self._note(key)
        self._reorder()
        super().__delitem__(key)

    def __delattr__(self, name: str) -> None:
        del self[name]

    def __ior__(self, other: Any) -> Rows:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        return dict(self.items()) == other

    __hash__ = None

    def get(self, key: Any, default: Any = None) -> Any:
        return self._open(key) if super().__contains__(key) else default

    def values(self) -> Any:
        return [self._open(key) for key in list(super().keys())]

    def items(self) -> Any:
        return [(key, self._open(key)) for key in list(super().keys())]

    def pop(self, key: Any, *default: Any) -> Any:
        if not super().__contains__(key):
            if default:
                return default[0]
            raise KeyError(key)
        value = self._open(key)
        del self[key]
        return value

    def popitem(self) -> tuple[Any, Any]:
        keys = list(super().keys())
        if not keys:
            raise KeyError("this table is empty")
        return keys[-1], self.pop(keys[-1])

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if not super().__contains__(key):
            self[key] = default
        return self._open(key)

    def update(self, *others: Any, **more: Any) -> None:
        for key, value in dict(*others, **more).items():
            self[key] = value

    def clear(self) -> None:
        for key in list(super().keys()):
            del self[key]

    def copy(self) -> Any:
        return dict(self.items())

    def changed(self, equal: Callable[[Any, Any], bool] | None = None) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Yields path and value of each change of this call, in the order of the keys; `MISSING` if it was removed."""
        for key, before in self._before.items():
            now = super().get(key, MISSING)
            if isinstance(now, Rows) and before is not MISSING:
                yield from (((key, *path), value) for path, value in now.changed(equal))
            elif not (equal or same)(before, now):
                yield (key,), now

    def differing(self, base: Mapping[Any, Any]) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Yields path and value of everything that differs from the base that this table was made from."""
        for key in base:
            if not super().__contains__(key):
                yield (key,), MISSING
        for key, now in super().items():
            if key not in self._own:
                continue
            before = base.get(key, MISSING)
            if isinstance(now, Rows) and isinstance(before, dict):
                yield from (((key, *path), value) for path, value in now.differing(before))
            elif not same(before, now):
                yield (key,), now

    def commit(self) -> None:
        """Keeps the changes of this call. Only the table's own rows can be tables themselves."""
        for key in self._own:
            value = super().get(key)
            if isinstance(value, Rows):
                value.commit()
        self._settle()

    def rollback(self) -> None:
        """Undoes the changes of this call."""
        for key, before in self._before.items():
            now = super().get(key, MISSING)
            if isinstance(before, Rows):
                before.rollback()
            elif isinstance(now, Rows) and before is not MISSING and key not in self._fresh:
                now.rollback()
                continue
            if before is MISSING:
                super().pop(key, None)
            else:
                super().__setitem__(key, before)
        if self._order is not None:
            rows = {key: super(Rows, self).__getitem__(key) for key in self._order}
            super().clear()
            super().update(rows)
        self._own -= self._fresh
        self._settle()

    def _settle(self) -> None:
        self._fresh.clear()
        self._before.clear()
        self._order = None


def same(one: Any, other: Any) -> bool:
    """Whether values are equal as in JSON, where true does not equal 1."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(key in other and same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    return bool(one == other)
