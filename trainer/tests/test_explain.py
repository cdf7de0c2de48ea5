from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from rehearsal_trainer.backends.verl.cluster_config import ClusterConfig
from rehearsal_trainer.commands.explain import KINDS, explanation
from rehearsal_trainer.settings.configuration import KEYS_FILE
from rehearsal_trainer.settings.setting import keys_of


def test_the_keys_file_says_what_the_code_says() -> None:
    assert KEYS_FILE.read_text(encoding="utf-8") == explanation(), (
        "update it: python -m rehearsal_trainer explain > rehearsal_trainer/keys.json"
    )


@pytest.mark.parametrize("config", [*(module.Config for module in KINDS.values()), ClusterConfig])
def test_every_key_is_explained_in_a_sentence(config: Any) -> None:
    keys = keys_of(config)
    assert list(keys) == [field.name for field in dataclasses.fields(config)]
    assert [name for name, key in keys.items() if not key.setting.about.endswith(".")] == []


def test_a_key_of_a_cluster_is_marked_and_stands_once() -> None:
    keys = json.loads(explanation())["grpo"]
    assert [key["name"] for key in keys] == [field.name for field in dataclasses.fields(ClusterConfig)]
    [nodes] = [key for key in keys if key["name"] == "nodes"]
    assert (nodes["isForRay"], nodes["defaults"]) == (True, {"paper": 4, "gpu": 1, "cpu": 1, "trial": 1})
    assert not any(key.get("isForRay") for key in keys if key["name"] in ("learning_rate", "micro_batch"))


def test_the_schema_names_the_limits_and_the_alarms_of_the_run() -> None:
    told = json.loads(explanation())
    schemas = {kind: {key["name"]: key["schema"] for key in told[kind]} for kind in ("sft", "grpo")}
    for kind, own in (("sft", "overfitting"), ("grpo", "dead-groups")):
        names = schemas[kind]["pause_on"]["items"]["enum"]
        assert names == [alarm["name"] for alarm in told["alarms"] if kind in alarm["runs"]]
        assert own in names
        limits = schemas[kind]["alarms"]
        assert list(limits["properties"]) == [limit["name"] for limit in told["limits"]]
        assert limits["additionalProperties"] is False
    assert "overfitting" not in schemas["grpo"]["pause_on"]["items"]["enum"]
