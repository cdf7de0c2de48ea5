"""How the trainer starts its children. Torch-free."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import Any

OWN_SESSION: Mapping[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if os.name == "nt"
    else {"start_new_session": True}
)
"""Options of a child that Ctrl+C in a terminal does not reach: the trainer ends it, after all that it asks of it."""
