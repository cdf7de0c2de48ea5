"""Options of verl that a configuration passes through, against the installed verl."""

from __future__ import annotations

import re
from typing import Any

import pytest
from conftest import config_of

from rehearsal_trainer.backends.verl import job, sft_job
from rehearsal_trainer.backends.verl.cluster_config import SFT_PROFILES, ClusterConfig, SftClusterConfig
from rehearsal_trainer.backends.verl.configured import configured
from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan
from rehearsal_trainer.backends.verl.sft_settings import TRAINER, SftPlaces, sft_settings
from rehearsal_trainer.backends.verl.verl_settings import Places, verl_settings, with_options
from rehearsal_trainer.settings.configuration import from_values
from rehearsal_trainer.values.failures import ConfigurationError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("actor_rollout_ref.actor.fsdp_config.param_offload", True),
        ("actor_rollout_ref.actor.fsdp_config.strategy", "fsdp2"),
        ("algorithm.rollout_correction.rollout_is", "sequence"),
        ("actor_rollout_ref.actor.fsdp_config.model_dtype", "bf16"),
        ("trainer.v1.trainer_mode", "colocate_async"),
    ],
)
def test_options_reach_verl(name: str, value: Any) -> None:
    config = configured(with_options(config_of(verl={name: value}), {}))
    for part in name.split("."):
        config = config[part]
    assert config == value


@pytest.mark.parametrize("options", [{"trainer.no_such_key": 1}, {"actor_rollout_ref": {"actor": {"lr_typo": 1}}}])
def test_an_unknown_option_is_refused_before_anything_starts(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"^verl: verl 0\.\S+ does not take [a-z_.]+: Key '\w+' is not in"):
        job.needs(config_of(verl=options))


@pytest.mark.parametrize("engine", ["megatron", "torchtitan", "veomni"])
def test_another_engine_takes_the_place_of_fsdp(engine: str) -> None:
    config = config_of(verl={"model_engine": engine}, lora_rank=0)
    job.needs(config)
    verl = configured(with_options(config, settings_of(config)))
    actor = verl.actor_rollout_ref.actor
    assert (verl.model_engine, actor.strategy) == (engine, engine)
    assert "fsdp_config" not in actor
    assert (actor.optim.lr, actor.clip_ratio, verl.data.train_batch_size) == (config.learning_rate, 0.2, 2)


def test_options_of_megatron_and_of_asynchronous_training_reach_verl() -> None:
    options = {
        "model_engine": "megatron",
        "actor_rollout_ref": {
            "actor": {"megatron": {"tensor_model_parallel_size": 2, "param_offload": True}},
            "hybrid_engine": False,
            "rollout": {"nnodes": 1},
        },
        "trainer.v1": {"trainer_mode": "separate_async", "separate_async": {"parameter_sync_step": 2}},
    }
    config = config_of(verl=options, lora_rank=0)
    verl = configured(with_options(config, settings_of(config)))
    assert verl.actor_rollout_ref.actor.megatron.tensor_model_parallel_size == 2
    assert verl.actor_rollout_ref.actor.megatron.param_offload is True
    assert (verl.actor_rollout_ref.hybrid_engine, verl.actor_rollout_ref.rollout.nnodes) == (False, 1)
    assert verl.trainer.v1.trainer_mode == "separate_async"
    assert verl.trainer.v1.separate_async.parameter_sync_step == 2


def test_sft_takes_another_engine_with_its_optimizer() -> None:
    values = {"recordings": ["r"], "run": "r", "profile": "trial", "model": "tiny", "lora_rank": 0}
    options = {"engine": "megatron", "optim": "megatron"}
    config = from_values(SftClusterConfig, SFT_PROFILES, {**values, "verl": options})
    sft_job.needs(config)
    verl = configured(with_options(config, sft_settings(config, SftPlaces("", None, "", "", ""), 1)), TRAINER)
    assert verl.engine._target_.endswith("McoreEngineConfig")
    assert (verl.optim.lr, verl.optim._target_.rpartition(".")[2]) == (config.learning_rate, "McoreOptimizerConfig")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"verl": {"model_engine": "warp"}}, "verl: verl 0.9.1 does not take model_engine: warp: "),
        (
            {"verl": {"model_engine": "megatron"}, "lora_rank": 4},
            "lora_rank: adapters are for FSDP here, and under verl the engine is megatron. Set lora_rank to 0",
        ),
        ({"verl": {"algorithm.adv_estimator": "gae"}}, "verl: algorithm.adv_estimator cannot be set, because"),
    ],
)
def test_what_an_engine_cannot_take_is_refused_before_anything_starts(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(said)}"):
        job.needs(config_of(**{"lora_rank": 0, **values}))


def settings_of(config: ClusterConfig) -> dict[str, Any]:
    return verl_settings(config, Places("", "", "", ""), RolloutPlan.of(config, None), 2)
