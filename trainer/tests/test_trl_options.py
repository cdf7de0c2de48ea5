"""Options of TRL that a configuration passes through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from configs import gold_recordings, grpo_config, lines, sft_config

from rehearsal_trainer.backends import trl as backend
from rehearsal_trainer.commands import grpo, sft
from rehearsal_trainer.values.failures import ConfigurationError


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"learning_rat": 1}, "trl: GRPOConfig of TRL 1.16.0 has no option learning_rat; did you mean learning_rate?"),
        ({"learning_rate": 1}, "trl: learning_rate is the key learning_rate here; set that"),
        ({"num_generations": 4}, "trl: num_generations is the key group_size here; set that"),
        ({"num_iterations": 2}, "trl: num_iterations cannot be set, because Rehearsal's rollouts depend on its value"),
        ({"push_to_hub": True}, "trl: push_to_hub cannot be set, because a file that comes with a domain could"),
        ({"log_completions_hub_repo": "a/b"}, "trl: log_completions_hub_repo cannot be set, because"),
        ({"trust_remote_code": True}, "trl: trust_remote_code cannot be set, because a model's own code"),
        ({"optim": "no-such"}, "trl: no-such is not a valid OptimizerNames"),
    ],
)
def test_an_option_that_cannot_be_passed_is_refused_before_the_weights_are_loaded(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        grpo.needs(grpo_config(tmp_path, trl=options))
    assert str(raised.value).startswith(said)


def test_options_reach_trl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Any] = []
    train = backend.train
    monkeypatch.setattr(backend, "train", lambda trainer, resume: used.append(trainer.args) or train(trainer, resume))
    options = {"optim": "adafactor", "weight_decay": 0.5}
    config = grpo_config(tmp_path / "grpo", trl={**options, "mask_truncated_completions": True}, steps=1)
    assert grpo.needs(config)["disk"] > 0
    grpo.run_grpo(config)
    sft.run_sft(sft_config(tmp_path / "sft", gold_recordings(tmp_path / "gold"), trl=options, steps=1))
    assert [(args.optim, args.weight_decay) for args in used] == [("adafactor", 0.5)] * 2
    assert used[0].mask_truncated_completions
    assert lines(tmp_path / "sft" / "metrics.jsonl")[-1]["step"] == 1
