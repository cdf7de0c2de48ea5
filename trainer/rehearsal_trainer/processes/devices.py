"""The GPU of a process, and the threads that it computes with on a CPU. Torch-free.

CUDA reads the environment once, when torch first asks for a device.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import MutableMapping

VISIBLE = "CUDA_VISIBLE_DEVICES"
_before: list[str | None] = []
"""What was visible before one was selected."""
_SOFT = 1


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


def release_threads() -> bool:
    """Ends the pool of the calling thread, which gets another with its next product; false without libgomp.

    libgomp gives every thread that computes its own pool. Once all pools hold more threads than there are cores, it
    lets them sleep between any two products, and a pass of decoding, hundreds of short ones, takes half as long again
    (measured: 75 ms where 50 do). The optimizer and the sampler take turns, so one of them can always let go.
    """
    try:
        library = ctypes.CDLL("libgomp.so.1", mode=getattr(os, "RTLD_NOLOAD", 0))
        return library.omp_pause_resource_all(ctypes.c_int(_SOFT)) == 0
    except (OSError, AttributeError):  # torch computes with another library here
        return False
