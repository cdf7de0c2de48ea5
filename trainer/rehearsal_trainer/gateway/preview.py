"""A training row as text, piece by piece, for a person to look at. Torch-free."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from rehearsal_trainer.chat.masks import Row
from rehearsal_trainer.values.messages import Json


def preview_of(tokenizer: Any, row: Row) -> dict[str, Json]:
    """A row as text, ids, mask, and as pieces that begin where its mask changes; the pieces' texts make the text."""
    pieces = []
    start = 0
    for trained, group in groupby(row.mask):
        end = start + len(list(group))
        text = tokenizer.decode(row.ids[start:end], skip_special_tokens=False)
        pieces.append({"text": text, "tokens": end - start, "trained": bool(trained)})
        start = end
    return {"text": "".join(piece["text"] for piece in pieces), "ids": row.ids, "mask": row.mask, "pieces": pieces}
