"""Runs trainers in separate processes, which tests kill.

On Linux they are forked from a process that has imported torch, trl and the trainer, because importing these takes
longer than a small run. On other systems each process imports them itself.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal

_CONTEXT: Any = multiprocessing.get_context("forkserver" if sys.platform.startswith("linux") else "spawn")


State = Literal["gradients", "update", "weights", "half a checkpoint", "checkpoint", "final"]
"""A state of a trainer: the gradients of an optimizer step are computed, the weights are updated, the sampler is about
to take new weights, a checkpoint has weights and no optimizer yet, a checkpoint is written and not yet in place, or the
final one is."""


@dataclass
class Hold:
    """Holds a trainer when it enters a state for the `count`-th time; the file `reached` then exists."""

    state: State
    count: int
    reached: Path

    def enter(self) -> None:
        """Counts the state, and never returns from the last one."""
        self.count -= 1
        if self.count == 0:
            self.reached.touch()
            threading.Event().wait()


def start_trainer(argv: Sequence[str], log: Path, hold: Hold | None = None) -> BaseProcess:
    """Starts `python -m rehearsal_trainer` with these arguments. Its output is appended to the log."""
    if sys.platform.startswith("linux"):
        _CONTEXT.set_forkserver_preload(["rehearsal_trainer.backends.trl", "rehearsal_trainer.gateway.serving"])
    # A daemon is ended with pytest, also when the test that started it has failed.
    process: BaseProcess = _CONTEXT.Process(target=_run, args=(list(argv), str(log), hold), daemon=True)
    process.start()
    return process


def _run(argv: list[str], log: str, hold: Hold | None) -> None:
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # as a terminal does, which sends Ctrl+C to the whole group
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(file, stream)
    from rehearsal_trainer.__main__ import main

    if hold is not None:
        _watch(hold)
    sys.exit(main(argv))


def _watch(hold: Hold) -> None:
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
    from transformers import Trainer

    from rehearsal_trainer.backends import atomic_checkpoints, trl
    from rehearsal_trainer.sampler.cpu_decoder.llama_decoder import LlamaDecoder

    def before(function: Callable[..., Any]) -> Callable[..., Any]:
        def held(*arguments: Any) -> Any:
            hold.enter()
            return function(*arguments)

        return held

    match hold.state:
        case "gradients":
            register_optimizer_step_pre_hook(lambda *_: hold.enter())
        case "update":
            register_optimizer_step_post_hook(lambda *_: hold.enter())
        case "weights":
            LlamaDecoder.refresh = before(LlamaDecoder.refresh)
        case "half a checkpoint":
            Trainer._save_optimizer_and_scheduler = before(Trainer._save_optimizer_and_scheduler)
        case "checkpoint":
            atomic_checkpoints.publish_checkpoint = before(atomic_checkpoints.publish_checkpoint)
        case "final":
            trl.publish_checkpoint = before(trl.publish_checkpoint)
