"""Sends a run's folder back as lines of a job's log: `@rehearsal {"path", "offset", "data"}`.

Ray sends the log of a job to every follower from its beginning, so no other connection is needed.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from rehearsal_trainer.values.bounded_file import open_regular
from rehearsal_trainer.values.run_files import CONFIG, EVENTS, METRICS, TENSORBOARD, TRAJECTORIES

MARK = "@rehearsal "
CHUNK = 256 * 1024
MIRRORED = (CONFIG, METRICS, EVENTS, f"{TRAJECTORIES}/**/*.jsonl", f"{TENSORBOARD}/*")


class Mirror:
    """Reports what was added to a folder since the last call of `lines`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._told: dict[str, tuple[int, int]] = {}

    def lines(self) -> Iterator[str]:
        """Yields one line for each new piece of a file; a file that was rewritten is sent from its start."""
        for pattern in MIRRORED:
            for path in sorted(self.folder.glob(pattern)):
                yield from self._lines_of(path)

    def _lines_of(self, path: Path) -> Iterator[str]:
        name = path.relative_to(self.folder).as_posix()
        status = path.stat()
        identity, offset = self._told.get(name, (status.st_ino, 0))
        if identity != status.st_ino or status.st_size < offset:
            offset = 0
        with open_regular(path) as file:
            file.seek(offset)
            while data := file.read(CHUNK):
                packed = base64.b64encode(gzip.compress(data, mtime=0)).decode()
                yield MARK + json.dumps({"path": name, "offset": offset, "data": packed})
                offset += len(data)
        self._told[name] = (status.st_ino, offset)
