"""Options of TRL that a configuration passes through."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from configs import gold_recordings, grpo_config, lines, sft_config
from conftest import DOMAIN
from trl import SFTConfig  # noqa: TID251

from rehearsal_trainer.backends import trl as backend
from rehearsal_trainer.commands import grpo, sft
from rehearsal_trainer.values.failures import ConfigurationError


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"learning_rat": 1},
            'trl: GRPOConfig of TRL 1.16.0 has no option learning_rat; did you mean "learning_rate"?',
        ),
        ({"learning_rate": 1}, "trl: learning_rate is the key learning_rate here; set that"),
        ({"num_generations": 4}, "trl: num_generations is the key group_size here; set that"),
        ({"num_iterations": 2}, "trl: num_iterations cannot be set, because Rehearsal's rollouts depend on its value"),
        ({"push_to_hub": True}, "trl: push_to_hub cannot be set, because a file that comes with a domain could"),
        ({"log_completions_hub_repo": "a/b"}, "trl: log_completions_hub_repo cannot be set, because"),
        ({"trust_remote_code": True}, "trl: trust_remote_code cannot be set, because code that comes with"),
        ({"model_init_kwargs": {"trust_remote_code": True}}, "trl: model_init_kwargs: trust_remote_code cannot be set"),
        ({"model_init_kwargs": {"code_revision": "a"}}, "trl: model_init_kwargs: code_revision cannot be set"),
        ({"model_init_kwargs": {"revision": "a"}}, "trl: model_init_kwargs: revision cannot be set. Options here are"),
        ({"model_init_kwargs": '{"trust_remote_code": true}'}, "trl: model_init_kwargs must be a mapping. Write its"),
        ({"model_init_kwargs": {"attn_implementation": "a/b"}}, "trl: model_init_kwargs: attn_implementation: a/b"),
        ({"generation_kwargs": {"custom_generate": "a/b"}}, "trl: generation_kwargs: custom_generate cannot be set"),
        ({"gradient_checkpointing_kwargs": {"a": [{"context_fn": "a.b"}]}}, "trl: gradient_checkpointing_kwargs: cont"),
        ({"deepspeed": {"compile": {"backend": "a.b"}}}, "trl: deepspeed: compile cannot be set, because"),
        ({"deepspeed": "a.json"}, "trl: deepspeed must be a mapping. Write its options below it"),
        ({"accelerator_config": "a.json"}, "trl: accelerator_config must be a mapping"),
        ({"vllm_mode": "server"}, "trl: vllm_mode cannot be set, because Rehearsal plays the rollouts"),
        ({"optim": "no-such"}, "trl: no-such is not a valid OptimizerNames"),
    ],
)
def test_an_option_that_cannot_be_passed_is_refused_before_the_weights_are_loaded(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        grpo.needs(grpo_config(tmp_path, trl=options))
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize("algorithm", backend.LOSSES)
def test_an_option_that_the_algorithm_sets_is_refused_before_the_weights_are_loaded(
    tmp_path: Path, algorithm: str
) -> None:
    for name, value in backend.LOSSES[algorithm].items():
        with pytest.raises(ConfigurationError) as raised:
            grpo.needs(grpo_config(tmp_path, algorithm=algorithm, trl={name: value}))
        assert str(raised.value) == f"trl: {name} is set by the key algorithm ({algorithm}) here; set that"


def test_options_reach_trl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Any] = []
    train = backend.train
    monkeypatch.setattr(backend, "train", lambda trainer, resume: used.append(trainer.args) or train(trainer, resume))
    options = {"optim": "adafactor", "weight_decay": 0.5, "model_init_kwargs": {"attn_implementation": "eager"}}
    config = grpo_config(tmp_path / "grpo", trl={**options, "mask_truncated_completions": True}, steps=1)
    assert grpo.needs(replace(config, domain=DOMAIN))["disk"] > 0
    grpo.run_grpo(config)
    sft.run_sft(sft_config(tmp_path / "sft", gold_recordings(tmp_path / "gold"), trl=options, steps=1))
    assert [(args.optim, args.weight_decay) for args in used] == [("adafactor", 0.5)] * 2
    assert used[0].mask_truncated_completions
    assert lines(tmp_path / "sft" / "metrics.jsonl")[-1]["step"] == 1


def test_options_of_a_resumed_run_are_checked_where_it_trains(tmp_path: Path) -> None:
    trl = {"model_init_kwargs": {"trust_remote_code": True}}
    run: Any = None
    with pytest.raises(ConfigurationError, match=r"^trl: model_init_kwargs: trust_remote_code cannot be set"):
        grpo.plans_of(grpo_config(tmp_path, trl=trl), run, 1, False)
    with pytest.raises(ConfigurationError, match=r"^trl: model_init_kwargs: trust_remote_code cannot be set"):
        sft.plan_of(sft_config(tmp_path, str(tmp_path), trl=trl), run, 1, False)


@pytest.mark.parametrize("is_checkpointing", [True, False])
def test_the_options_of_a_run_raise_no_warning(tmp_path: Path, is_checkpointing: bool) -> None:
    plan = backend.Optimization(tmp_path, 1, 1.0, 0, 2, 1, 1, 1, 0, is_checkpointing, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        options = SFTConfig(**backend._sft_values(plan))
    assert options.gradient_checkpointing is options.activation_checkpointing is is_checkpointing
