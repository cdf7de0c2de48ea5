"""The tools of the lending desk: functions on the database, typed."""

import os
import time
from typing import Literal, Protocol

from rehearsal import Context, ToolError, tool
from shelves import is_allowed


class Loan(Protocol):
    due: str
    extended: int


class Reader(Protocol):
    name: str
    loans: dict[str, Loan]


class Library(Protocol):
    readers: dict[str, Reader]
    notes: dict[str, dict]


@tool(effect="read", cache=True)
def find_reader(db: Library, reader_id: str) -> dict:
    """Look up a reader.

    Args:
        reader_id: Number of the reader, such as R1.
    """
    return reader(db, reader_id)


@tool(effect="write")
def extend_loan(db: Library, reader_id: str, title: str, due: str) -> str:
    """Extend a loan to another date.

    Args:
        reader_id: Number of the reader.
        title: Title of the book.
        due: The new date.
    """
    loan = reader(db, reader_id).loans.get(title)
    if loan is None:
        raise ToolError(f"{reader_id} has no loan of {title}")
    if not is_allowed(loan.extended):
        raise ToolError("this loan was extended twice already")
    loan.due = due
    loan.extended += 1
    return "ok"


@tool(effect="write")
def change_and_fail(db: Library, reader_id: str) -> None:
    """Changes a reader and fails."""
    db.readers[reader_id].name = "Renamed"
    del db.readers["R2"]
    db.notes["N1"] = {"text": "lost"}
    raise ValueError("it broke halfway")


@tool(effect="read")
def write_while_reading(db: Library, reader_id: str) -> None:
    """Writes although it is declared as a read."""
    db.readers[reader_id].name = "Renamed"


@tool(effect="write")
def add_note(db: Library, text: str, ctx: Context, kind: Literal["remark", "warning"] = "remark") -> dict:
    """Keep a note."""
    number = ctx.id("N")
    db.notes[number] = {"text": text, "kind": kind, "at": ctx.now}
    return {"note": number, "notes": len(db.notes)}


@tool(effect="read")
def count_notes(db: Library) -> int:
    """Count the notes."""
    return len(db.notes)


@tool(effect="read")
def secrets() -> list[str]:
    """Names of environment variables that look like keys."""
    return sorted(name for name in os.environ if "KEY" in name or "TOKEN" in name)


@tool(effect="read")
def stray() -> str:
    """Prints where answers are expected, and reads from its input."""
    print('{"id": 1, "result": "nonsense"}')
    try:
        return input()
    except EOFError:
        return "no input"


@tool(effect="read", timeout_ms=400)
def hang() -> None:
    """Never ends."""
    while True:
        pass


@tool(effect="read")
def die() -> None:
    """Ends its process."""
    os._exit(7)


@tool(effect="read")
def rest(seconds: float) -> str:
    """Takes its time."""
    time.sleep(seconds)
    return "rested"


def reader(db: Library, reader_id: str) -> Reader:
    found = db.readers.get(reader_id)
    if found is None:
        raise ToolError(f"there is no reader {reader_id}")
    return found
