"""Finds names in labelled sentences with Presidio and spaCy, a JSON list of words for each line.

    node bench/masking.ts --write sentences.jsonl
    PYTHON bench/masking_presidio.py sentences.jsonl en=en_core_web_sm fr=fr_core_news_sm > found.jsonl
    node bench/masking.ts --found found.jsonl

A language without its own model uses the model that is named first.
"""

import json
import re
import sys
from pathlib import Path

from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NlpEngineProvider

models = dict(each.split("=", 1) for each in sys.argv[2:])
first = next(iter(models))
named = [{"lang_code": language, "model_name": model} for language, model in models.items()]
labels = {"PER": "PERSON", "PERSON": "PERSON"}
provider = NlpEngineProvider(
    nlp_configuration={
        "nlp_engine_name": "spacy",
        "models": named,
        "ner_model_configuration": {"model_to_presidio_entity_mapping": labels, "default_score": 0.85},
    }
)
analyzer = AnalyzerEngine(nlp_engine=provider.create_engine(), supported_languages=list(models))
for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
    sentence = json.loads(line)
    language = sentence["language"] if sentence["language"] in models else first
    found = analyzer.analyze(sentence["text"], language=language, entities=["PERSON"])
    words = [word for each in found for word in re.findall(r"[^\W\d_]+", sentence["text"][each.start : each.end])]
    print(json.dumps(words, ensure_ascii=False))
