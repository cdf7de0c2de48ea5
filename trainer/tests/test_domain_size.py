"""The sample domain to train on stays small: token counts of the trainer's own tokenizer and dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rehearsal_trainer.chat import Chat
from rehearsal_trainer.trajectories import find_recordings, read_recording

PROMPT, ROLLOUT = 500, 400


def test_policy_tools_and_rollouts_of_parcel_desk_are_small(gold_run: Path, chat: Chat) -> None:
    rollouts = [read_recording(path) for path in find_recordings([str(gold_run)])]
    assert len(rollouts) == 32
    assert all(rollout.reward == 1 for rollout in rollouts)
    prompts = [len(chat.system_ids(rollout.system, rollout.tools)) for rollout in rollouts]
    said = [len(chat.row_of(rollout).ids) - prompt for rollout, prompt in zip(rollouts, prompts, strict=True)]
    print(f"prompt {max(prompts)} tokens; a rollout {sum(said) / len(said):.0f}, the longest {max(said)}")
    assert max(prompts) < PROMPT
    assert max(said) < ROLLOUT


def test_the_count_is_of_the_small_model_that_is_trained(tokenizer: Any) -> None:
    assert len(tokenizer("Is P46 at the depot?", add_special_tokens=False)["input_ids"]) < 12
    assert len(tokenizer) == 49152
