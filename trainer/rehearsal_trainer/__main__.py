"""The entry point of `python -m rehearsal_trainer <command>`; COMMANDS lists the commands."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

COMMANDS = {
    "sft": "learns from successful recordings",
    "grpo": "learns from rollouts with the engine",
    "evaluate": "measures success on a split",
    "gateway": "serves a model or checkpoint on loopback",
    "preview": "shows the text and the loss mask of a recording",
    "prompt": "counts the tokens of a policy with its tools",
    "export": "writes a checkpoint as a complete model",
    "explain": "prints every key of the configurations, as JSON",
}
"""The commands and their descriptions. A command is the `main` of its module in commands/."""

USAGE = "\n".join(
    [
        "usage: python -m rehearsal_trainer <command> [options]",
        "",
        "commands",
        *(f"  {name:8}  {about}" for name, about in COMMANDS.items()),
        "",
        "Each command has --help.",
    ]
)


def main(argv: Sequence[str]) -> int:
    """Runs a command; returns 0 on success, 1 after a reported failure, 2 for wrong usage or configuration."""
    # Waiting threads spin only between two products, because the engine and the editor share these cores.
    os.environ.setdefault("GOMP_SPINCOUNT", "20000")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    if not argv or argv[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if argv else 2
    command, rest = argv[0], argv[1:]
    if command not in COMMANDS:
        print(f"unknown command {command!r}\n\n{USAGE}", file=sys.stderr)
        return 2
    from rehearsal_trainer.processes.devices import select_gpu
    from rehearsal_trainer.values.failures import reported

    select_gpu(os.environ)
    return reported(importlib.import_module(f"rehearsal_trainer.commands.{command}").main, rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
