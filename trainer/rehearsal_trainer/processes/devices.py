"""Selects the GPU of a process, and releases the threads that it uses on a CPU. Torch-free.

CUDA reads the environment once, when torch first asks for a device.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import MutableMapping

VISIBLE = "CUDA_VISIBLE_DEVICES"
_before: list[str | None] = []
"""The value of `VISIBLE` before one GPU was selected; empty if none was selected."""
_SOFT = 1


def select_gpu(environment: MutableMapping[str, str]) -> None:
    """Leaves only the first visible GPU visible to this process and its children.

    TRL refuses to train in one process that sees several GPUs, because it would replicate the model over all of them. A
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
    """Makes the GPUs visible again that were visible before one was selected."""
    for visible in _before:
        if visible is None:
            environment.pop(VISIBLE, None)
        else:
            environment[VISIBLE] = visible


def release_threads() -> bool:
    """Ends the thread pool of the calling thread; its next product creates a new one. Returns False without libgomp.

    libgomp gives every computing thread its own pool. Once the pools hold more threads than there are cores, it lets
    them sleep between products. A decoding pass consists of hundreds of short products, so it then takes half as long
    again (measured: 75 ms instead of 50). The optimizer and the sampler take turns, so one of them can always release
    its pool.
    """
    try:
        library = ctypes.CDLL("libgomp.so.1", mode=getattr(os, "RTLD_NOLOAD", 0))
        return library.omp_pause_resource_all(ctypes.c_int(_SOFT)) == 0
    except (OSError, AttributeError):  # torch uses another threading library here
        return False
