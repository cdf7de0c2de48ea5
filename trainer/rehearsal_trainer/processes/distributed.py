"""Coordinates several processes that train together, one per GPU of a machine. Imports torch only where it is needed.

`launch` starts them with torch's elastic launcher, as `accelerate launch` and `torchrun` do. The process with rank 0
writes the run's folder and plays rollouts. All processes leave training after the same optimizer step, because
`any_asked` asks every process: if one left alone, the others would wait for it forever.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Sequence

from rehearsal_trainer.processes.devices import show_gpus
from rehearsal_trainer.values.failures import ConfigurationError

ENDING_S = 600
"""Seconds that processes have to finish their optimizer step and its checkpoint after they are asked to end."""
WAITING_S = 24 * 3600
"""Seconds that a process waits for the others, for example while the first evaluates. If one dies, all end at once."""


def count() -> int:
    """Returns the number of processes that train together; 1 for a process that trains alone."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def rank() -> int:
    """Returns the rank of this process, from 0."""
    return int(os.environ.get("RANK", "0"))


def is_first() -> bool:
    """Returns whether this process writes the run's folder."""
    return rank() == 0


def check(processes: int) -> None:
    """Raises ConfigurationError for more processes than visible GPUs; without GPUs, the processes share the CPU."""
    if processes == 1 or count() > 1:
        return
    show_gpus(os.environ)
    import torch

    gpus = torch.cuda.device_count()
    if 0 < gpus < processes:
        raise ConfigurationError(
            f"processes: {processes} processes need {processes} GPUs, and {gpus} are visible. Set processes to {gpus} "
            "or less, or make more visible with CUDA_VISIBLE_DEVICES"
        )


def launch(processes: int, command: Sequence[str]) -> int:
    """Runs a command of this package in several processes, and returns 0 or the exit code of the first that failed.

    A signal to this process is passed on to all of them. If one fails, the others are ended.
    """
    check(processes)
    from torch.distributed.elastic.multiprocessing import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    for name in list(logging.root.manager.loggerDict):
        if name.startswith("torch.distributed.elastic"):  # the process or the code below reports the failure
            logging.getLogger(name).setLevel(logging.CRITICAL)
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // processes)))
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        local_addr="localhost",
        max_restarts=0,
        shutdown_timeout=ENDING_S,
    )
    try:
        elastic_launch(config, sys.executable)("-P", "-m", "rehearsal_trainer", *command)
    except ChildFailedError as error:
        number, failure = error.get_first_failure()
        if failure.exitcode > 0:
            return failure.exitcode
        ended = signal.Signals(-failure.exitcode).name
        hint = ": the machine may have too little memory" if ended == "SIGKILL" else ""
        print(f"error: process {number} of {processes} was ended by {ended}{hint}", file=sys.stderr)
        return 1
    except SignalException:
        return 0  # the run's folder records how it ended
    return 0


def take_gpu() -> None:
    """Makes torch use the GPU of this process if several train together."""
    import torch

    if count() > 1 and torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def any_asked(asked: bool) -> bool:
    """Returns whether any process asks to end training. All processes have to call it at the same points."""
    if count() == 1:
        return asked
    import torch
    from accelerate import PartialState

    flag = torch.tensor(int(asked), device=PartialState().device)
    torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MAX)
    return bool(flag)


def total(values: Sequence[float]) -> list[float]:
    """Returns the sums of values over all processes. All processes have to call it."""
    if count() == 1:
        return list(values)
    import torch
    from accelerate import PartialState

    # Not every GPU supports float64, and float32 counts tokens exactly up to 16 million.
    sums = torch.tensor(values, dtype=torch.float32, device=PartialState().device)
    torch.distributed.all_reduce(sums)
    return sums.tolist()


def wait() -> None:
    """Waits until all processes have called it."""
    if count() > 1:
        from accelerate import PartialState

        PartialState().wait_for_everyone()


def leave() -> None:
    """Waits for the other processes, and leaves the process group."""
    if count() > 1:
        import torch

        wait()
        torch.distributed.destroy_process_group()
