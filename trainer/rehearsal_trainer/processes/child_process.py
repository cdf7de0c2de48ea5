"""How the trainer starts its children. Torch-free.

It is sent with remote_agent.py to where there is nothing else of this package, so it imports nothing of it.
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
"""Options of a child that Ctrl+C in a terminal does not reach: the trainer ends it, after all that it asks of it."""

HUB_KEYS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""The keys that a model's hub asks for."""

TRACKER_KEYS = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN", "WANDB_API_KEY")
"""The keys of experiment trackers."""

KEY_NAME = re.compile(r"(?i)(^|_)(API_?KEY|ACCESS_KEY(_ID)?|PRIVATE_KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)$")
"""The end of the name of a variable that holds a key, a token or a password."""


def without_keys(needed: Collection[str] = ()) -> dict[str, str]:
    """Returns this process's environment without keys, except those that the child needs."""
    return {name: value for name, value in os.environ.items() if name in needed or not KEY_NAME.search(name)}


def engine_environment() -> dict[str, str]:
    """Returns the environment of the engine, which hands keys to the models of simulated users and to servers.

    The command line names those keys in REHEARSAL_ENGINE_KEYS. Where nothing names them, as in a trainer that was
    started by hand, only the keys that the trainer alone needs are left out.
    """
    named = os.environ.get("REHEARSAL_ENGINE_KEYS")
    if named is not None:
        return without_keys(named.split())
    return {name: value for name, value in os.environ.items() if name not in {*HUB_KEYS, *TRACKER_KEYS}}
