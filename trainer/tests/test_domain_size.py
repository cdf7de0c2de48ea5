"""Checks that the sample domain for training stays small, in tokens of the trainer's own tokenizer and templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehearsal_trainer.chat.chat import Chat
from rehearsal_trainer.sft.trajectories import find_recordings, read_recording
from rehearsal_trainer.values.messages import Conversation, Message


@pytest.fixture(scope="module")
def rollouts(gold_run: Path) -> list[Conversation]:
    """Returns rollouts of all test tasks of parcel-desk, which all succeed."""
    played = [read_recording(path) for path in find_recordings([str(gold_run)])]
    assert [rollout.reward for rollout in played] == [1] * 32
    return played


def test_policy_and_tool_schemas_take_less_than_500_tokens(rollouts: list[Conversation], chat: Chat) -> None:
    system = [(Message("system", rollout.system), rollout.tools) for rollout in rollouts]
    sizes = {len(chat.template.prompt_ids([message], tools)) for message, tools in system}
    print(f"policy and tool schemas take {sizes} tokens")
    assert max(sizes) < 500


def test_a_rollout_takes_about_400_tokens_at_most(rollouts: list[Conversation], chat: Chat) -> None:
    """Counts whole conversations with prompt and tools, in the dialect that the domain is trained in."""
    sizes = sorted(len(chat.rows_of(rollout)[0].ids) for rollout in rollouts)
    print(f"a rollout takes {sum(sizes) / len(sizes):.0f} tokens on average, the longest {sizes[-1]}")
    assert sum(sizes) / len(sizes) < 400
    assert sizes[-1] < 450
