"""The tokenizer that this environment's own transformers makes for the tiny model."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehearsal_trainer.models.loading import load_tokenizer, model_folder

TEXT = '<|im_start|>assistant\nfind(id="12345", title="Käse ▁ 数 ")\n<|im_end|>'


def test_the_tokenizer_reads_and_ends_text_as_in_the_trainers_own_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REHEARSAL_CACHE", str(tmp_path))
    tokenizer = load_tokenizer(model_folder("tiny"))
    assert (tokenizer.bos_token, tokenizer.eos_token) == ("<|im_start|>", "<|im_end|>")
    assert tokenizer.decode(tokenizer(TEXT)["input_ids"]) == TEXT
    assert tokenizer('find(id="12345")')["input_ids"] == [7647, 24, 311, 2671, 33, 34, 35, 36, 37, 1715]
