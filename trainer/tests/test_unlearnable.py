"""Tests how GRPO treats scored rollouts that do not have a row to learn from."""

from __future__ import annotations

from pathlib import Path

import pytest
from configs import grpo_config, lines
from conftest import ENGINE, REPOSITORY, node_of
from transformers import TrainerControl, TrainerState, TrainingArguments

from rehearsal_trainer.backends.progress_callback import ProgressCallback
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.gateway.session import SessionRow
from rehearsal_trainer.grpo.step import refuse_unlearnable
from rehearsal_trainer.metrics.measurements import Measurements
from rehearsal_trainer.rollouts.engine import RolloutResult
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, RolloutSettings
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values.failures import TrainingError


def test_a_context_without_room_for_the_policy_is_an_error_that_says_how_much_it_needs(tmp_path: Path) -> None:
    engine = [node_of(), str(ENGINE), "serve", "--stdio"]
    desk = {"domain": str(REPOSITORY / "domains" / "parcel-desk"), "engine_command": engine, "context": 120}
    with pytest.raises(TrainingError) as error:
        run_grpo(grpo_config(tmp_path / "run", steps=1, **desk))
    assert str(error.value) == (
        "no rollout of optimizer step 1 can be learned from: policy, tools and the user's first words need 225 tokens, "
        "and context is 120"
    )
    assert lines(tmp_path / "run" / "events.jsonl")[-1]["type"] == "error"


def played(rows: int, changed: int, prompt: int = 200) -> PlayedRollout:
    request = RolloutRequest("move-0", 0, "s", Sampling(), RolloutSettings("parcels"))
    own = [SessionRow()] * rows
    return PlayedRollout(request, RolloutResult(0.0, "done", 2), own, changed, 0, prompt_length=prompt)


def test_one_rollout_with_a_row_is_enough() -> None:
    refuse_unlearnable([played(0, 0), played(1, 0)], 3)


def test_rollouts_without_an_answer_are_another_reason() -> None:
    with pytest.raises(TrainingError, match="the model answered in none of 2"):
        refuse_unlearnable([played(0, 0), played(0, 0)], 3)


def test_a_number_that_a_step_does_not_have_is_left_out_of_its_line(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", "grpo", grpo_config(tmp_path / "run")) as run:
        state, control = TrainerState(global_step=1), TrainerControl()
        progress = ProgressCallback(run, Measurements())
        progress.on_log(TrainingArguments(str(tmp_path)), state, control, {"loss": 0.5, "reward_std": None})
    (line,) = lines(tmp_path / "run" / "metrics.jsonl")
    assert (line["loss"], "reward_std" in line) == (0.5, False)
