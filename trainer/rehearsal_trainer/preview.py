"""The text that a model is trained on, piece by piece, for a person to look at. Torch-free, except for the tokenizer.

    python -m rehearsal_trainer preview --recording x.traj.jsonl --model smollm2 --dialect compact

prints one JSON object: {"text", "ids", "mask", "pieces", "dialect", "model"}. A piece is a run of tokens with one mask:
{"text", "tokens", "trained"}. What it leaves out: the weights, and whether the row fits into a context.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

from rehearsal_trainer.failures import TrainingError
from rehearsal_trainer.keys import DialectName
from rehearsal_trainer.masks import Row, joined
from rehearsal_trainer.messages import Json


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


def main(argv: Sequence[str]) -> int:
    """Prints the preview of one recording."""
    parser = argparse.ArgumentParser(prog="rehearsal_trainer preview", description="Shows what a model is trained on.")
    parser.add_argument("--recording", required=True, help="a *.traj.jsonl")
    parser.add_argument("--model", default="smollm2", help="whose tokenizer: smollm2, tiny, a folder or a hub id")
    parser.add_argument("--dialect", required=True, choices=get_args(DialectName), help="of its tools and calls")
    parser.add_argument("--thinking", action="store_true", help="the model thinks before it answers")
    options = parser.parse_args(argv)
    path = Path(options.recording)
    if not path.is_file():
        raise TrainingError(f"there is no recording {path}")

    from rehearsal_trainer.models import load_tokenizer
    from rehearsal_trainer.serving import chat_of
    from rehearsal_trainer.trajectories import read_recording

    conversation = read_recording(path)
    chat = chat_of(options.model, load_tokenizer(options.model), options.dialect, options.thinking)
    row = joined(chat.rows_of(conversation))
    if not any(row.mask):
        raise TrainingError(f"{path}: the agent said nothing in it that a model could learn")
    print(json.dumps(preview_of(chat.tokenizer, row) | {"dialect": options.dialect, "model": options.model}))
    return 0
