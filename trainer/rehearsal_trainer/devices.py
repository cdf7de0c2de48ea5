"""Selects the GPU of a process. Torch-free: CUDA reads the environment once, when torch first asks for a device."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping

VISIBLE = "CUDA_VISIBLE_DEVICES"
_before: list[str | None] = []
"""What was visible before one was selected."""


def select_gpu(environment: MutableMapping[str, str]) -> None:
    """Leaves one GPU visible to this process and the ones it starts: the first that is visible now.

    TRL refuses to train in one process that sees several, since it would replicate the model over all of them. A
    process that `accelerate` or `torchrun` launched already has its own device.
    """
    if "LOCAL_RANK" in environment:
        return
    visible = environment.get(VISIBLE, "0")
    first = visible.split(",")[0]
    if first != visible:
        print(f"Using GPU {first} of {VISIBLE}={visible}. Set {VISIBLE} to use another.", file=sys.stderr, flush=True)
    _before[:] = [environment.get(VISIBLE)]
    environment[VISIBLE] = first


def show_gpus(environment: MutableMapping[str, str]) -> None:
    """Makes all GPUs visible again that were so before one was selected."""
    for visible in _before:
        if visible is None:
            environment.pop(VISIBLE, None)
        else:
            environment[VISIBLE] = visible
