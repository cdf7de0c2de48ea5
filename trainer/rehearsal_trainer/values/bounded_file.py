"""Reads regular files of limited size. Devices and pipes are refused: their content may have no end. Torch-free."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rehearsal_trainer.values.failures import TrainingError

TEXT = 16_000_000
"""The largest size in bytes of a file of settings."""
RECORD = 500_000_000
"""The largest size in bytes of a file that a program appends to, such as a recording."""

# Without O_NONBLOCK, opening a pipe waits for a program that writes to it. Windows has O_BINARY instead.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path) -> BinaryIO:
    """Opens a regular file for reading; TrainingError for another kind of file, OSError if it cannot be opened."""
    descriptor = os.open(path, _FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _refused(path)
    return os.fdopen(descriptor, "rb")


def read_bytes(path: Path, limit: int = RECORD) -> bytes:
    """Returns the content of a regular file; TrainingError if it is larger than `limit` bytes."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > limit:
            raise _too_large(path, limit)
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _too_large(path, limit)
    return data


def read_text(path: Path, limit: int = RECORD) -> str:
    """Returns the content of a regular file as UTF-8; TrainingError if it is larger than `limit` bytes."""
    return read_bytes(path, limit).decode("utf-8")


def lines_of(path: Path, limit: int = RECORD) -> Iterator[bytes]:
    """Yields the lines of a regular file one by one; TrainingError if they are larger than `limit` bytes together."""
    left = limit
    with open_regular(path) as file:
        while line := file.readline(left + 1):
            left -= len(line)
            if left < 0:
                raise _too_large(path, limit)
            yield line


def refuse_special_files(folder: Path) -> None:
    """Raises TrainingError if a folder has a pipe or a device: libraries that load a model wait for it or fill memory.

    A missing folder is accepted.
    """
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.exists() and not path.is_file() and not path.is_dir():
            raise _refused(path)


def _refused(path: Path) -> TrainingError:
    return TrainingError(f"{path} is not a regular file; put a file in its place, or remove it")


def _too_large(path: Path, limit: int) -> TrainingError:
    return TrainingError(f"{path} is larger than {limit // 1_000_000} MB, the limit for this file; split or remove it")
