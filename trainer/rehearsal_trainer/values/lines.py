"""Reads and appends the JSON lines of a run's folder, one object per line, even after a crash. Torch-free."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from rehearsal_trainer.values.bounded_file import open_regular, read_bytes
from rehearsal_trainer.values.failures import TrainingError
from rehearsal_trainer.values.messages import Json


def read_lines(file: Path) -> list[dict[str, Json]]:
    """Returns the objects of a file; an empty list if it does not exist.

    An incomplete last line, for example after a power failure, is left out; TrainingError for any other invalid line.
    """
    if not file.exists():
        return []
    lines = read_bytes(file).split(b"\n")
    found: list[dict[str, Json]] = []
    for number, line in enumerate(lines, 1):
        value = _object(line)
        if value is not None:
            found.append(value)
        elif line.strip() and number < len(lines):
            raise TrainingError(f"{file}:{number}: expected a JSON object; delete this line, then use --resume")
    return found


def append_line(file: Path, value: Mapping[str, Json]) -> None:
    """Appends a line of JSON to a file of a run, completely or not at all, and replaces an incomplete last line."""
    try:
        _append_whole(file, (json.dumps(value, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise TrainingError(
            f"{file}: {'the disk is full' if full else error.strerror}; what was written before is kept. "
            "Free disk space and continue with --resume"
        ) from error


def _object(line: bytes) -> dict[str, Json] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _append_whole(path: Path, data: bytes) -> None:
    with path.open("ab", buffering=0) as file:
        if path.is_file():
            _end_lines(path, file)
        size = file.tell()
        try:
            while data:
                data = data[file.write(data) or 0 :]
        except OSError:
            if path.is_file():
                file.truncate(size)
            raise


def _end_lines(path: Path, file: IO[bytes]) -> None:
    """Makes the file end with a line break: removes an incomplete last line, or ends a complete one."""
    with open_regular(path) as before:
        size = file.tell()
        if size == 0 or (before.seek(size - 1) and before.read(1) == b"\n"):
            return
        before.seek(0)
        text = before.read()
    begin = text.rfind(b"\n") + 1
    if _object(text[begin:]) is None:
        file.truncate(begin)
        file.seek(begin)
    else:
        file.write(b"\n")
