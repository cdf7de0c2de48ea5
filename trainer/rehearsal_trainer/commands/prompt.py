"""Counts the tokens of policies with their tools, as a model receives them with the first word of a user.

    python -m rehearsal_trainer prompt --model smollm2 --dialect compact

reads a JSON list of {"system", "tools"} from standard input and prints one JSON object: {"tokens", "limit"}. `tokens`
has a number for each entry. `limit` is the model's own maximum, or null if its configuration does not have one. It does
not load the weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from rehearsal_trainer.settings.keys import DialectName
from rehearsal_trainer.values.messages import Message, Tool


def main(argv: Sequence[str]) -> int:
    """Prints the numbers of tokens."""
    parser = argparse.ArgumentParser(prog="rehearsal_trainer prompt", description="Counts the tokens of policies.")
    parser.add_argument("--model", required=True, help="whose tokenizer: smollm2, tiny, a folder or a hub id")
    parser.add_argument("--dialect", required=True, choices=get_args(DialectName), help="of its tools and calls")
    parser.add_argument("--thinking", action="store_true", help="the model thinks before it answers")
    options = parser.parse_args(argv)

    from transformers import AutoConfig

    from rehearsal_trainer.chat.chat import system_messages
    from rehearsal_trainer.gateway.serving import chat_of
    from rehearsal_trainer.models.loading import load_tokenizer, model_folder
    from rehearsal_trainer.models.locations import adapter_base

    chat = chat_of(options.model, load_tokenizer(options.model), options.dialect, options.thinking)
    tokens = [
        len(
            chat.template.prompt_ids(
                [*system_messages(prompt["system"]), Message("user", "Hello")],
                [
                    Tool(tool["name"], tool.get("description", ""), tool.get("parameters", {}))
                    for tool in prompt["tools"]
                ],
            )
        )
        for prompt in json.load(sys.stdin)
    ]
    base = adapter_base(Path(options.model)) or options.model
    model = AutoConfig.from_pretrained(model_folder(base)).get_text_config()
    print(json.dumps({"tokens": tokens, "limit": getattr(model, "max_position_embeddings", None)}))
    return 0
