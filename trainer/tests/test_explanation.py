from __future__ import annotations

import dataclasses

import pytest

from rehearsal_trainer.explanation import KEYS_FILE, KINDS, explanation
from rehearsal_trainer.setting import keys_of


def test_the_keys_file_says_what_the_code_says() -> None:
    assert KEYS_FILE.read_text(encoding="utf-8") == explanation(), (
        "write it anew: python -m rehearsal_trainer explain > rehearsal_trainer/keys.json"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_explained_in_a_sentence(kind: str) -> None:
    keys = keys_of(KINDS[kind].Config)
    assert list(keys) == [field.name for field in dataclasses.fields(KINDS[kind].Config)]
    assert [name for name, key in keys.items() if not key.setting.about.endswith(".")] == []
