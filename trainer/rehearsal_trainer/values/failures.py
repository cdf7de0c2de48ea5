"""Reports known failures as one message and an exit code; other exceptions keep their traceback. Torch-free."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence

REPORTING_S = 60
"""Seconds that other processes wait after a failure: the first to exit ends all, and rank 0 has to report why."""


class ConfigurationError(Exception):
    """A configuration that cannot be run; the message names the field and what was expected."""


class TrainingError(Exception):
    """A run that cannot continue; the message says why and what to do."""


class ModelError(Exception):
    """A model that is not available; the message says what to do."""


class EngineError(Exception):
    """The engine is missing or broken, or refused a request; the message says why and what to do."""

    def __init__(self, message: str, code: str = "internal") -> None:
        super().__init__(message)
        self.code = code


class ToollessTemplateError(ModelError):
    """A model without a chat template, or with one that does not show it the tools."""


def reported(run: Callable[[Sequence[str]], int], argv: Sequence[str]) -> int:
    """Runs a command; prints known failures to standard error."""
    try:
        return run(argv)
    except (ConfigurationError, TrainingError, EngineError, ModelError) as error:
        if os.environ.get("RANK", "0") == "0":  # several processes that train together fail for the same reason
            print(f"error: {error}", file=sys.stderr)
        else:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            time.sleep(REPORTING_S)
        return 2 if isinstance(error, ConfigurationError) else 1
