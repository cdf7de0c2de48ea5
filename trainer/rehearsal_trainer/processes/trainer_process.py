"""Finds the process that trains in a run's folder. Torch-free.

It is sent to machines together with remote_agent.py and without the rest of this package, so it cannot import from it.
The program begins with child_process.py, and only its first file may import from `__future__`.
"""

import os
import subprocess
import time
from pathlib import Path


def running_process(file: Path) -> int | None:
    """Returns the running process that the `pid` file of a run's folder names, or None.

    A trainer that was killed leaves its file behind, and the system can reuse its number: a process that began after
    the file was written is another program. Where the start time is not available, as on Windows, it returns None.
    """
    try:
        if not file.is_file():  # reading a pipe would wait
            return None
        pid = int(file.read_text())
        written = file.stat().st_mtime
        began = beginning_by_proc(pid) if Path("/proc/uptime").exists() else beginning_by_ps(pid)
    except (OSError, ValueError):
        return None
    return pid if began is not None and began <= written + 2 else None


def beginning_by_proc(pid: int) -> float | None:
    """Returns when a process began, in seconds since the epoch; None for a zombie."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    # Fields 3 and 22, read after the name: the state, and the start time since boot.
    state, *fields = stat[stat.rindex(")") + 2 :].split()
    return None if state == "Z" else time.time() - uptime + int(fields[18]) / os.sysconf("SC_CLK_TCK")


def beginning_by_ps(pid: int) -> float | None:
    """Returns the same without /proc, as on macOS; ValueError if the process does not exist."""
    command = ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)]
    kept = {name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ}
    done = subprocess.run(command, capture_output=True, text=True, env={**kept, "LC_ALL": "C"})
    state, began = done.stdout.strip().split(maxsplit=1)
    return None if state.startswith("Z") else time.mktime(time.strptime(began, "%a %b %d %H:%M:%S %Y"))
