"""Waits for an observed state. Nothing depends on the machine's speed: the limit only ends a test that hangs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

LIMIT_S = 600.0

State = TypeVar("State")


def until(what: str, observe: Callable[[], State], is_running: Callable[[], bool] = lambda: True) -> State:
    """Returns the first true state. Fails when the process that brings it about has ended without it."""
    ends = time.monotonic() + LIMIT_S
    while True:
        was_running = is_running()
        state = observe()
        if state:
            return state
        assert was_running, f"the process ended before this was observed: {what}"
        assert time.monotonic() < ends, f"not observed within {LIMIT_S:g} s: {what}"
        time.sleep(0.02)
