"""Tests MUA-RL's numbers as settings of verl, without verl; tests_verl/ compares them with verl's own keys."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rehearsal_trainer.backends.verl.cluster_config import (
    PROFILES,
    ClusterConfig,
    check_cluster,
    epochs_of,
    steps_of,
)
from rehearsal_trainer.backends.verl.dataset import rows_of
from rehearsal_trainer.backends.verl.rollout_plan import PromptBudget, RolloutPlan
from rehearsal_trainer.backends.verl.verl_settings import Places, verl_settings, with_options
from rehearsal_trainer.grpo.config import ALGORITHMS, check
from rehearsal_trainer.settings.configuration import from_values
from rehearsal_trainer.values.failures import ConfigurationError, TrainingError

PLACES = Places("train.parquet", "test.parquet", "checkpoints", "run")


def config_of(**values: Any) -> ClusterConfig:
    return from_values(
        ClusterConfig, PROFILES, {"domain": "d", "run": "r", "model": "m", "profile": "paper", **values}, ALGORITHMS
    )


def settings_of(**values: Any) -> dict[str, Any]:
    config = config_of(**values)
    return verl_settings(config, PLACES, RolloutPlan.of(config, "store"), tasks=100)


ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
PAPER = {
    "algorithm.adv_estimator": "grpo",
    "algorithm.norm_adv_by_std_in_grpo": True,
    "algorithm.use_kl_in_reward": False,
    f"{ACTOR}.use_kl_loss": True,
    f"{ACTOR}.kl_loss_coef": 0.001,
    f"{ACTOR}.kl_loss_type": "low_var_kl",
    f"{ROLLOUT}.n": 8,
    "data.train_batch_size": 32,
    f"{ACTOR}.ppo_mini_batch_size": 32,
    f"{ACTOR}.optim.lr": 1e-6,
    f"{ACTOR}.entropy_coeff": 0,
    f"{ACTOR}.clip_ratio": 0.2,
    f"{ACTOR}.clip_ratio_low": 0.2,
    f"{ACTOR}.clip_ratio_high": 0.2,
    f"{ACTOR}.loss_agg_mode": "token-mean",
    f"{ACTOR}.policy_loss.loss_mode": "vanilla",
    "data.max_prompt_length": 5000,
    "data.max_response_length": 27768,
    f"{ROLLOUT}.max_model_len": 32768,
    f"{ROLLOUT}.multi_turn.max_assistant_turns": 30,
    f"{ROLLOUT}.temperature": 1.0,
    f"{ROLLOUT}.top_p": 1.0,
    f"{ROLLOUT}.top_k": -1,
    f"{ACTOR}.fsdp_config.fsdp_size": 32,
    f"{ACTOR}.ulysses_sequence_parallel_size": 4,
    f"{ROLLOUT}.tensor_model_parallel_size": 2,
    f"{ROLLOUT}.gpu_memory_utilization": 0.8,
    "actor_rollout_ref.model.enable_gradient_checkpointing": True,
    "actor_rollout_ref.model.lora_rank": 0,
    "actor_rollout_ref.model.enable_activation_offload": True,
    "actor_rollout_ref.ref.fsdp_config.param_offload": True,
    "trainer.nnodes": 4,
    "trainer.n_gpus_per_node": 8,
    "trainer.save_freq": 10,
    "trainer.test_freq": 5,
    "trainer.total_epochs": 25,
    "trainer.total_training_steps": None,
    "trainer.resume_mode": "auto",
}


@pytest.mark.parametrize("key", PAPER)
def test_the_paper_in_verls_words(key: str) -> None:
    assert settings_of()[key] == PAPER[key]


def test_what_the_paper_leaves_to_the_engine() -> None:
    rollout_plan = settings_of()["+data.rehearsal"]
    assert (rollout_plan["turn_cap"], rollout_plan["max_tokens"], rollout_plan["basis"]) == (30, 1024, "train")
    assert (rollout_plan["prompt_tokens"], rollout_plan["response_tokens"]) == (5000, 27768)
    assert (rollout_plan["model"], rollout_plan["store"]) == ("m", "store")


@pytest.mark.parametrize(
    ("algorithm", "changed"),
    [
        (
            "dapo",
            {f"{ACTOR}.clip_ratio_high": 0.28, f"{ACTOR}.use_kl_loss": False, "algorithm.filter_groups.enable": True},
        ),
        ("dr_grpo", {f"{ACTOR}.loss_agg_mode": "seq-mean-token-sum-norm", "algorithm.norm_adv_by_std_in_grpo": False}),
        ("gspo", {f"{ACTOR}.policy_loss.loss_mode": "gspo", f"{ACTOR}.clip_ratio_low": 3e-4}),
    ],
)
def test_one_setting_for_another_algorithm(algorithm: str, changed: dict[str, Any]) -> None:
    check_cluster(config_of(algorithm=algorithm))
    settings = settings_of(algorithm=algorithm)
    assert {key: settings[key] for key in changed} == changed
    assert settings["algorithm.adv_estimator"] == "grpo"


@pytest.mark.parametrize(
    ("cap", "expected"), [(3.0, {"rollout_is": "token", "rollout_is_threshold": 3.0}), (None, {"rollout_is": None})]
)
def test_truncated_importance_sampling_is_verls_rollout_correction(cap: float | None, expected: dict[str, Any]) -> None:
    settings = settings_of(importance_sampling_cap=cap)
    prefix = "algorithm.rollout_correction."
    assert {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)} == expected


@pytest.mark.parametrize("profile", ["gpu", "cpu", "trial"])
def test_the_small_profiles_fit_one_gpu(profile: str) -> None:
    config = config_of(profile=profile)
    check_cluster(config)
    settings = settings_of(profile=profile)
    assert settings["trainer.nnodes"] * settings["trainer.n_gpus_per_node"] == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"prompt_tokens": 32768}, "prompt_tokens: 32768 leaves nothing of the context of 32768"),
        ({"tensor_parallel": 3}, "tensor_parallel: 3 does not divide the 32 GPUs"),
        ({"sequence_parallel": 5}, "sequence_parallel: 5 does not divide the 32 GPUs"),
        ({"domain": [{"folder": "a"}, {"folder": "b"}]}, "domain: on a cluster a run learns from one domain"),
        ({"vllm_python": "/opt/vllm/bin/python"}, "vllm_python: on a cluster verl's own servers answer"),
    ],
)
def test_what_verl_cannot_run_is_refused(values: dict[str, Any], message: str) -> None:
    check_cluster(config_of())
    with pytest.raises(ConfigurationError, match=message):
        check_cluster(config_of(**values))


def test_rows_that_are_computed_at_once_are_verls_own() -> None:
    with pytest.raises(ConfigurationError, match="micro_batch: 7 does not divide"):
        check(config_of(micro_batch=7))
    check_cluster(config_of(micro_batch=7))
    with pytest.raises(ConfigurationError, match="max_tokens: a response of 32768 tokens leaves no room"):
        check_cluster(config_of(max_tokens=32768))


def test_steps_that_are_counted_fit_into_the_epochs() -> None:
    assert epochs_of(config_of(steps=7), tasks=100) == 3  # three steps of 32 in an epoch of 100
    assert epochs_of(config_of(), tasks=100) == 25
    assert (steps_of(config_of(steps=7), tasks=100), steps_of(config_of(), tasks=100)) == (7, 75)
    with pytest.raises(ConfigurationError, match="can't be filled from 20 training tasks"):
        epochs_of(config_of(), tasks=20)


def test_a_task_is_one_row() -> None:
    rows = rows_of("desk", ["one", "two"], "train")
    assert [row["extra_info"] for row in rows] == [
        {"index": 0, "task": "one", "split": "train"},
        {"index": 1, "task": "two", "split": "train"},
    ]


@pytest.mark.parametrize(
    ("concurrency", "workers", "of_each"), [(64, 8, 8), (20, 8, 2), (3, 3, 1)], ids=["even", "rounded down", "few"]
)
def test_workers_share_the_rollouts_that_are_played_at_once(concurrency: int, workers: int, of_each: int) -> None:
    settings = settings_of(concurrency=concurrency, workers=8)
    assert settings[f"{ROLLOUT}.agent.num_workers"] == workers
    assert settings["+data.rehearsal"]["rollouts_at_once"] == of_each
    assert workers * of_each <= concurrency


def test_a_step_that_replaces_groups_has_an_end() -> None:
    budget = PromptBudget(RolloutPlan.of(config_of(algorithm="dapo", tasks_per_step=2), None).groups_per_step)
    for step in (1, 2):
        # The step's own groups, three rounds that replace them, and a batch that verl plays ahead.
        for _ in range(5):
            budget.spend(step, 2)
    with pytest.raises(TrainingError, match="optimizer step 2 has played 10 groups, and too few"):
        budget.spend(2, 1)


def test_a_step_that_replaces_no_group_is_not_counted() -> None:
    budget = PromptBudget(RolloutPlan.of(config_of(), None).groups_per_step)
    budget.spend(1, 10**6)


def test_options_of_verl_are_passed_through() -> None:
    nested = {"actor_rollout_ref": {"actor": {"fsdp_config": {"param_offload": True, "fsdp_size": 2}}}}
    free = {
        "algorithm.rollout_correction.rollout_is": "sequence",
        f"+{ROLLOUT}.engine_kwargs.vllm.attention_backend": "FLASH_ATTN",
        "actor_rollout_ref.model.target_modules": ["q_proj"],
        "trainer.rollout_data_dir": "/data/rollouts",
        "reward.reward_fn_key": "data_source",
    }
    config = config_of(verl={**nested, **free})
    settings = with_options(config, verl_settings(config, PLACES, RolloutPlan.of(config, "store"), tasks=100))
    assert settings[f"{ACTOR}.fsdp_config.param_offload"] is True
    assert settings[f"{ACTOR}.fsdp_config.fsdp_size"] == 2
    assert {name: settings[name] for name in free} == free


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"algorithm.adv_estimator": "gae"}, "verl: algorithm.adv_estimator cannot be set, because"),
        ({"data.custom_cls.path": "a.py"}, "verl: data.custom_cls.path cannot be set, because the code that it names"),
        ({"model": {"trust_remote_code": True}}, "verl: model.trust_remote_code cannot be set, because the code"),
        *(
            ({name: "evil"}, f"verl: {name.lstrip('+')} cannot be set, because the code that it names")
            for name in (
                "reward.reward_manager.source",
                "reward.reward_manager.name",
                "reward.reward_manager.module.path",
                "trainer.v1.sampler.custom_sampler.path",
                "trainer.v1.sampler.custom_sampler.name",
                f"{ROLLOUT}.multi_turn.function_tool_path",
                f"{ROLLOUT}.multi_turn.tool_config_path",
                f"{ROLLOUT}.multi_turn.interaction_config_path",
                f"{ROLLOUT}.checkpoint_engine.custom_backend_module",
                f"{ROLLOUT}.disaggregation.router_class",
                f"{ACTOR}.optim.optimizer_impl",
                "critic.optim.optimizer_impl",
                f"{ACTOR}._target_",
                "global_profiler.finish_hook_cmd",
                "trainer.checkpoint_callback_class",
                "trainer.default_hdfs_dir",
                "trainer.resume_from_path",
                "+ray_kwargs.ray_init.runtime_env.pip",
                f"+{ROLLOUT}.engine_kwargs.vllm.worker_extension_cls",
                f"+{ROLLOUT}.engine_kwargs.vllm.trust-remote-code",
            )
        ),
        ({"+data.a": [{"custom_cls": "a"}]}, "verl: data.a cannot be set, because the code that it names"),
        ({"data[custom_cls][path]": "a.py"}, "verl: data[custom_cls][path] is not the name of an option"),
        ({f"+{ROLLOUT}.engine_kwargs.vllm.a": "m.C"}, f"verl: {ROLLOUT}.engine_kwargs.vllm.a must be a word"),
        ({"+model.override_config.attn_implementation": "a/b"}, "verl: model.override_config.attn_implementation must"),
        (
            {"algorithm.rollout_correction.rollout_is_threshold": 2},
            "verl: algorithm.rollout_correction.rollout_is_threshold is the key importance_sampling_cap here; set that",
        ),
        ({f"{ACTOR}.optim.lr": 1}, f"verl: {ACTOR}.optim.lr is the key learning_rate here; set that"),
        ({"data": {"train_files": "x"}}, "verl: data.train_files is the key domain here; set that"),
    ],
)
def test_an_option_of_verl_that_is_not_free_is_refused(options: dict[str, Any], said: str) -> None:
    config = config_of(verl=options)
    with pytest.raises(ConfigurationError, match=f"^{re.escape(said)}"):
        with_options(config, verl_settings(config, PLACES, RolloutPlan.of(config, "store"), tasks=100))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        *(
            ({"verl": {"trainer": {"project_name": text}}}, f"verl: trainer.project_name: {text} cannot be a value")
            for text in ("${oc.env:K}", "a ${ oc.env : K }", "${${trainer.name}:K}", "${oc.decode:\n${oc.env:K}}")
        ),
        ({"verl": {"a.b": ["a", {"c": "${oc.env:K}"}]}}, "verl: a.b.c: ${oc.env:K} cannot be a value"),
        ({"user": {"base_url": "http://a", "model": "${oc.env:K}"}}, "user: model: ${oc.env:K} cannot be a value"),
        ({"model": "${oc.env:K}"}, "model: ${oc.env:K} cannot be a value"),
    ],
)
def test_a_value_that_a_resolver_would_compute_on_the_cluster_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(said)}"):
        check_cluster(config_of(**values))


def test_an_engine_is_a_word() -> None:
    config = config_of(verl={"model_engine": "../a"}, sequence_parallel=1, lora_rank=0)
    with pytest.raises(ConfigurationError, match=r"^verl: model_engine must be a word, because"):
        with_options(config, {})


def test_options_of_trl_have_no_place_on_a_cluster() -> None:
    with pytest.raises(ConfigurationError, match=r"^trl: on a cluster verl trains; pass its"):
        check_cluster(config_of(trl={"optim": "adafactor"}))
