"""Prints the text that a model is trained on, piece by piece. Torch-free, except for the tokenizer.

    python -m rehearsal_trainer preview --recording x.traj.jsonl --model smollm2 --dialect compact

prints one JSON object: {"text", "ids", "mask", "pieces", "dialect", "model"}. A piece is a run of tokens with one mask:
{"text", "tokens", "trained"}. It does not load the weights or check whether the row fits into a context.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from rehearsal_trainer.chat.chat import preview_of
from rehearsal_trainer.chat.masks import joined
from rehearsal_trainer.settings.keys import DialectName
from rehearsal_trainer.values.failures import TrainingError


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

    from rehearsal_trainer.gateway.serving import chat_of
    from rehearsal_trainer.models.loading import load_tokenizer
    from rehearsal_trainer.sft.trajectories import read_recording

    conversation = read_recording(path)
    chat = chat_of(options.model, load_tokenizer(options.model), options.dialect, options.thinking)
    row = joined(chat.rows_of(conversation))
    if not any(row.mask):
        raise TrainingError(f"{path}: the agent said nothing in it that a model could learn")
    print(json.dumps(preview_of(chat.tokenizer, row) | {"dialect": options.dialect, "model": options.model}))
    return 0
