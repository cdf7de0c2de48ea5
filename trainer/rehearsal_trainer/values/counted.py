"""Writes a number of things as people read it. Torch-free."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Returns a number with its noun: `1 task`, `2 tasks`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
