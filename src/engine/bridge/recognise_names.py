"""Finds names of persons in texts with Presidio, for the import of conversations.

The argument is a language, such as `en`. Each line of standard input is a text as JSON. The first line of the output
names the recogniser and its version, or what is missing; each other line has the spans in one text,
`[[start, end], ...]` in UTF-16 code units.
"""

import json
import sys
from importlib.metadata import PackageNotFoundError, version

sizes = ("trf", "lg", "md", "sm")


def size_of(model: str) -> int:
    return next((place for place, size in enumerate(sizes) if f"_{size}" in model), len(sizes))


def say(answer: object) -> None:
    print(json.dumps(answer), flush=True)


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of an unknown version"


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def main(language: str) -> None:
    try:
        from presidio_analyzer import AnalyzerEngine  # pyright: ignore[reportMissingImports]
        from presidio_analyzer.nlp_engine import NlpEngineProvider  # pyright: ignore[reportMissingImports]
        from spacy.util import get_installed_models  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        say({"missing": error.name or str(error)})
        return
    models = sorted((name for name in get_installed_models() if name.startswith(f"{language}_")), key=size_of)
    if not models:
        say({"missing": f"a spaCy model for {language}"})
        return
    provider = NlpEngineProvider(
        nlp_configuration={
            "nlp_engine_name": "spacy",
            "models": [{"lang_code": language, "model_name": models[0]}],
            "ner_model_configuration": {
                "model_to_presidio_entity_mapping": {"PER": "PERSON", "PERSON": "PERSON"},
                "default_score": 0.85,
            },
        }
    )
    analyzer = AnalyzerEngine(nlp_engine=provider.create_engine(), supported_languages=[language])
    say({"recogniser": f"presidio-analyzer {version_of('presidio-analyzer')} with {models[0]} {version_of(models[0])}"})
    for line in sys.stdin:
        text = json.loads(line)
        found = analyzer.analyze(text, language=language, entities=["PERSON"])
        say([[units(text[: each.start]), units(text[: each.end])] for each in found])


if __name__ == "__main__":
    main(sys.argv[1])
