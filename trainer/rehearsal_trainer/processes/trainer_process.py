"""Which process trains in a run's folder. Torch-free.

It is sent with remote_agent.py to where there is nothing else of this package, so it imports nothing of it. The program
begins with child_process.py, and only its first file may import from the future.
"""

import os
import subprocess
import time
from pathlib import Path


def running_process(file: Path) -> int | None:
    """The process that the `pid` file of a run's folder names, or None where that is over or there is no such file.

    A trainer that was killed leaves its file behind, and the system gives its number away again: a process that began
    after the file was written is another program. Where that can't be known, as on Windows, there is none.
    """
    try:
        pid = int(file.read_text())
        written = file.stat().st_mtime
        began = beginning_by_proc(pid) if Path("/proc/uptime").exists() else beginning_by_ps(pid)
    except (OSError, ValueError):
        return None
    return pid if began is not None and began <= written + 2 else None


def beginning_by_proc(pid: int) -> float | None:
    """When a process began, in seconds since the epoch; None for one that has ended and was not waited for."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    # Fields 3 and 22, counted after the name: the state, and the beginning since boot.
    state, *fields = stat[stat.rindex(")") + 2 :].split()
    return None if state == "Z" else time.time() - uptime + int(fields[18]) / os.sysconf("SC_CLK_TCK")


def beginning_by_ps(pid: int) -> float | None:
    """The same where there is no /proc, as on macOS; ValueError where there is no such process."""
    command = ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)]
    kept = {name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ}
    done = subprocess.run(command, capture_output=True, text=True, env={**kept, "LC_ALL": "C"})
    state, began = done.stdout.strip().split(maxsplit=1)
    return None if state.startswith("Z") else time.mktime(time.strptime(began, "%a %b %d %H:%M:%S %Y"))
