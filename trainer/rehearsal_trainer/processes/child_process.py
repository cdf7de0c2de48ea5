"""Options and environments of the trainer's child processes. Torch-free.

It is sent to machines together with remote_agent.py and without the rest of this package, so it cannot import from it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Mapping
from typing import Any

OWN_SESSION: Mapping[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if os.name == "nt"
    else {"start_new_session": True}
)
"""Options of a child that does not receive Ctrl+C of a terminal: the trainer ends it once it no longer needs it."""

HUB_KEYS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""The environment variables with the keys of the Hugging Face hub."""

TRACKER_KEYS = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN", "WANDB_API_KEY")
"""The environment variables with the keys of experiment trackers."""

KEY_NAME = re.compile(r"(?i)(^|_)(API_?KEY|ACCESS_KEY(_ID)?|PRIVATE_KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)$")
"""Matches the name of a variable that holds a key, a token or a password."""


def without_keys(needed: Collection[str] = ()) -> dict[str, str]:
    """Returns this process's environment without keys, except those that the child needs."""
    return {name: value for name, value in os.environ.items() if name in needed or not KEY_NAME.search(name)}


def engine_environment() -> dict[str, str]:
    """Returns the environment of the engine, which passes keys to the models of simulated users and to servers.

    The command line names those keys in REHEARSAL_ENGINE_KEYS. If the variable is not set, for example because the
    trainer was started by hand, only the keys that the trainer alone needs are left out.
    """
    named = os.environ.get("REHEARSAL_ENGINE_KEYS")
    if named is not None:
        return without_keys(named.split())
    return {name: value for name, value in os.environ.items() if name not in {*HUB_KEYS, *TRACKER_KEYS}}
