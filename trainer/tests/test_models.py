"""Tests how adapters find their base models, and how models are exported."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from pathlib import Path

import pytest
import torch

from rehearsal_trainer.commands.export import export
from rehearsal_trainer.models.loading import (
    ModelError,
    adapter_base,
    ignore_renamed_property,
    load_model,
    load_tokenizer,
    model_folder,
)
from rehearsal_trainer.values.failures import ConfigurationError


def test_an_adapter_finds_its_base_where_both_were_moved(runs: Path, tmp_path: Path) -> None:
    final = Path("grpo") / "checkpoints" / "final"
    assert adapter_base(runs / final) == str(runs / "sft" / "checkpoints" / "final")
    moved = tmp_path / "elsewhere" / "archive"
    shutil.move(runs, moved)
    assert adapter_base(moved / final) == str(moved / "sft" / "checkpoints" / "final")
    model = load_model(str(moved / final), torch.float32)
    assert "lora_A" in "".join(name for name, _ in model.named_parameters())
    assert load_tokenizer(str(moved / final)).pad_token is not None


def test_an_adapter_without_its_base_says_which_is_missing_and_what_to_do(runs: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    shutil.move(runs / "grpo", alone)
    shutil.rmtree(runs)
    final = alone / "checkpoints" / "final"
    message = (
        f"{final} is an adapter for the model in {runs}/sft/checkpoints/final, which no longer exists. "
        f"Put that folder back, or write its current path into base_model_name_or_path of {final}/adapter_config.json."
    )
    for load in (lambda: load_model(str(final), torch.float32), lambda: load_tokenizer(str(final))):
        with pytest.raises(ModelError, match=f"^{re.escape(message)}$"):
            load()


def test_an_adapter_on_a_named_model_finds_it_in_any_cache(tmp_path: Path) -> None:
    for name, cached in (("tiny", "tiny-llama"), ("smollm2", "smollm2-135m-instruct")):
        config = {"base_model_name_or_path": f"/of/another/person/rehearsal/models/{cached}"}
        (tmp_path / "adapter_config.json").write_text(json.dumps(config))
        assert adapter_base(tmp_path) == name


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_broken_adapter_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "adapter_config.json").write_text(text)
    with pytest.raises(ModelError, match=r"adapter_config\.json does not describe an adapter"):
        adapter_base(tmp_path)


def test_a_model_that_is_not_there_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    missing = str(tmp_path / "no-model")
    assert model_folder(missing) == missing
    with pytest.raises(ModelError, match="could not be loaded: it is neither 'smollm2', 'tiny', a folder"):
        load_model(missing, torch.float32)


def test_an_export_is_whole_and_says_what_the_adapter_says(runs: Path, tmp_path: Path) -> None:
    checkpoint = runs / "grpo" / "checkpoints" / "final"
    adapted = load_model(str(checkpoint), torch.float32)
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.1, generator=torch.Generator().manual_seed(1))
    adapted.save_pretrained(str(checkpoint))
    export(str(checkpoint), tmp_path / "whole", "float32")
    shutil.rmtree(runs)
    ids = torch.arange(12).unsqueeze(0)
    with torch.no_grad():
        said, expected = load_model(str(tmp_path / "whole"), torch.float32)(ids).logits, adapted(ids).logits
    assert torch.allclose(said, expected, atol=1e-4)
    assert load_tokenizer(str(tmp_path / "whole")).pad_token is not None


def test_an_export_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="expected a new or an empty folder"):
        export("tiny", tmp_path, "float32")
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_only_the_warning_about_a_renamed_property_is_ignored() -> None:
    model = load_model("tiny", torch.float32)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        ignore_renamed_property()
        assert model.is_gradient_checkpointing is False
        warnings.warn("another name is deprecated", FutureWarning, stacklevel=1)
    assert [str(each.message) for each in warned] == ["another name is deprecated"]
