"""Tests verl's settings and rows of SFT, without verl; tests_verl/test_sft.py trains with it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from rehearsal_trainer.backends.verl.cluster_config import (
    SFT_PROFILES,
    SftClusterConfig,
    check_rows,
    check_sft_cluster,
)
from rehearsal_trainer.backends.verl.sft_job import StepLines
from rehearsal_trainer.backends.verl.sft_rows import Passes, RenderedRows, write_rows
from rehearsal_trainer.backends.verl.sft_settings import SftPlaces, sft_settings
from rehearsal_trainer.backends.verl.verl_settings import with_options
from rehearsal_trainer.chat.masks import Row
from rehearsal_trainer.settings.configuration import from_values
from rehearsal_trainer.values.failures import ConfigurationError

PLACES = SftPlaces("rows.parquet", None, "tokenizer", "checkpoints", "run")


def config_of(**values: Any) -> SftClusterConfig:
    given = {"recordings": ["not-there-yet"], "run": "r", "model": "m", "profile": "paper", **values}
    return from_values(SftClusterConfig, SFT_PROFILES, given)


def test_the_cold_start_of_the_paper_in_verls_words() -> None:
    check_sft_cluster(config_of())
    settings = sft_settings(config_of(), PLACES, steps=30)
    expected = {
        "data.train_batch_size": 128,
        "optim.lr": 5e-6,
        "data.max_length": 32768,
        "data.max_token_len_per_gpu": 8192,
        "engine.ulysses_sequence_parallel_size": 4,
        "engine.fsdp_size": 32,
        "engine.model_dtype": "fp32",
        "model.lora_rank": 0,
        "trainer.total_training_steps": 30,
        "trainer.test_freq": -1,
    }
    assert {name: settings[name] for name in expected} == expected
    assert "+engine.mixed_precision" not in settings


@pytest.mark.parametrize("profile", SFT_PROFILES)
def test_every_profile_can_be_trained_on_a_cluster(profile: str) -> None:
    check_sft_cluster(config_of(profile=profile))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"evaluate_every": 5}, "evaluate_every: an SFT run on a cluster plays no rollouts"),
        ({"schedule": "linear"}, "schedule: verl has no schedule that falls linearly"),
        ({"batch": 12}, "batch: 12 rows cannot be shared equally by the 8 parts"),
        ({"sequence_parallel": 5}, "sequence_parallel: 5 does not divide the 32 GPUs"),
        ({"trl": {"optim": "adafactor"}}, "trl: on a cluster verl trains"),
    ],
)
def test_what_verl_cannot_train_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(said)}"):
        check_sft_cluster(config_of(**values))


def test_an_adapter_is_refused_as_the_starting_model(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"^model: \S+ is an adapter.*rehearsal export-model"):
        check_sft_cluster(config_of(model=str(tmp_path)))


def test_a_batch_that_the_rows_do_not_fill_is_refused() -> None:
    check_rows(config_of(), 128, 0)
    with pytest.raises(ConfigurationError, match=r"^batch: a batch of 128 rows cannot be filled from 127 rows"):
        check_rows(config_of(), 127, 0)
    with pytest.raises(ConfigurationError, match=r"^validation_share: 7 rows cannot be shared by the 8 parts"):
        check_rows(config_of(), 128, 7)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"optim.lr": 1}, "verl: optim.lr is the key learning_rate here; set that"),
        ({"model": {"path": "x"}}, "verl: model.path is the key model here; set that"),
        (
            {"trainer.device": "cuda"},
            "verl: trainer.device cannot be set, because Rehearsal's rows depend on its value",
        ),
    ],
)
def test_an_option_of_verl_that_is_not_free_is_refused(options: dict[str, Any], said: str) -> None:
    config = config_of(verl=options)
    with pytest.raises(ConfigurationError, match=f"^{re.escape(said)}"):
        with_options(config, sft_settings(config, PLACES, 1))


def test_options_of_verl_are_passed_through() -> None:
    config = config_of(verl={"engine": {"strategy": "fsdp2", "param_offload": True}, "optim.weight_decay": 0.1})
    settings = with_options(config, sft_settings(config, PLACES, 1))
    assert (settings["engine.strategy"], settings["engine.param_offload"]) == ("fsdp2", True)
    assert settings["optim.weight_decay"] == 0.1


def test_rows_reach_verl_as_they_are(tmp_path: Path) -> None:
    rows = [Row([5, 6, 7], [0, 1, 1], [None] * 3), Row([8, 9], [0, 1], [None] * 2)]
    write_rows(rows, str(tmp_path / "rows.parquet"))
    read = RenderedRows(str(tmp_path / "rows.parquet"))
    assert len(read) == 2
    for number, row in enumerate(rows):
        assert {name: value.tolist() for name, value in read[number].items()} == {
            "input_ids": row.ids,
            "loss_mask": row.mask,
            "position_ids": list(range(len(row.ids))),
        }
    assert read[0]["input_ids"].dtype is torch.int64


def test_every_pass_has_every_row_once_in_an_order_of_its_own() -> None:
    order = list(Passes(rows=5, wanted=12, seed=1))
    assert sorted(order[:5]) == sorted(order[5:10]) == list(range(5))
    assert len(order) == 12 and order[:5] != order[5:10]
    assert order == list(Passes(5, 12, 1)) != list(Passes(5, 12, 2))


def test_the_validation_loss_of_a_step_is_in_the_line_of_the_step(tmp_path: Path) -> None:
    path = tmp_path / "verl.jsonl"
    lines = StepLines(path, steps=30, validates=True)
    written = [
        {"step": 1, "data": {"train/loss": 3.0}},
        {"step": 2, "data": {"train/loss": 2.0}},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in written))
    assert lines.fresh() == [(1, {"loss": 3.0})]
    with path.open("a") as file:
        file.write(json.dumps({"step": 2, "data": {"val/loss": 2.5}}) + "\n")
    assert lines.fresh() == [(2, {"loss": 2.0, "validation_loss": 2.5})]
