"""`python -m rehearsal_trainer <command>`: sft, grpo, evaluate, gateway, preview, export, explain."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

USAGE = """usage: python -m rehearsal_trainer <command> [options]

commands
  sft       learns from successful recordings
  grpo      learns from rollouts with the engine
  evaluate  measures success on a split
  gateway   serves a model or checkpoint on loopback
  preview   shows the text and the loss mask of a recording
  export    writes a checkpoint as a whole model
  explain   prints every key of the configurations, as JSON

Each command has --help."""


def main(argv: Sequence[str]) -> int:
    """Exit code 0: done; 1: stopped by a failure that was reported; 2: wrong usage or configuration."""
    # Waiting threads spin for the moment between two products, no longer: engine and editor share these cores.
    os.environ.setdefault("GOMP_SPINCOUNT", "20000")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    if not argv or argv[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if argv else 2
    command, rest = argv[0], argv[1:]
    if command not in ("sft", "grpo", "evaluate", "gateway", "preview", "export", "explain"):
        print(f"unknown command {command!r}\n\n{USAGE}", file=sys.stderr)
        return 2
    from rehearsal_trainer.failures import reported

    if command == "gateway":
        from rehearsal_trainer.gateway import main as run
    elif command == "preview":
        from rehearsal_trainer.preview import main as run
    elif command == "export":
        from rehearsal_trainer.export import main as run
    elif command == "explain":
        from rehearsal_trainer.explanation import main as run
    elif command == "sft":
        from rehearsal_trainer.sft import main as run
    elif command == "grpo":
        from rehearsal_trainer.grpo import main as run
    else:
        from rehearsal_trainer.evaluate import main as run
    return reported(run, rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
