"""A run's folder as lines of a job's log, which is how it comes back: `@rehearsal {"path", "offset", "data"}`.

Ray gives a job's log to every follower of the job, from its beginning, so nothing else has to be reached.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from rehearsal_trainer.values.run_files import CONFIG, EVENTS, METRICS, TENSORBOARD, TRAJECTORIES

MARK = "@rehearsal "
CHUNK = 256 * 1024
MIRRORED = (CONFIG, METRICS, EVENTS, f"{TRAJECTORIES}/**/*.jsonl", f"{TENSORBOARD}/*")


class Mirror:
    """Tells what was added to a folder since it was asked before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._told: dict[str, tuple[int, int]] = {}

    def lines(self) -> Iterator[str]:
        """One line for each piece of a file that is new; a file that was rewritten is sent from its start."""
        for pattern in MIRRORED:
            for path in sorted(self.folder.glob(pattern)):
                yield from self._lines_of(path)

    def _lines_of(self, path: Path) -> Iterator[str]:
        name = path.relative_to(self.folder).as_posix()
        status = path.stat()
        identity, offset = self._told.get(name, (status.st_ino, 0))
        if identity != status.st_ino or status.st_size < offset:
            offset = 0
        with path.open("rb") as file:
            file.seek(offset)
            while data := file.read(CHUNK):
                packed = base64.b64encode(gzip.compress(data, mtime=0)).decode()
                yield MARK + json.dumps({"path": name, "offset": offset, "data": packed})
                offset += len(data)
        self._told[name] = (status.st_ino, offset)
