"""The threads that products are computed by on a CPU: at most one thread's at a time. Torch-free.

libgomp gives every thread that computes its own pool. Once all pools hold more threads than there are cores, it
lets them sleep between any two products, and a pass of decoding, hundreds of short ones, takes half as long again
(measured: 75 ms where 50 do). The optimizer and the sampler take turns, so one of them can always let go.
"""

from __future__ import annotations

import ctypes
import os

_SOFT = 1


def release_threads() -> bool:
    """Ends the pool of the calling thread, which gets another with its next product; false without libgomp."""
    try:
        library = ctypes.CDLL("libgomp.so.1", mode=getattr(os, "RTLD_NOLOAD", 0))
        return library.omp_pause_resource_all(ctypes.c_int(_SOFT)) == 0
    except (OSError, AttributeError):  # torch computes with another library here
        return False
