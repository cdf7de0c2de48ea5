"""The sample domain to train on stays small: token counts of the trainer's own tokenizer and dialects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rehearsal_trainer.chat import Chat
from rehearsal_trainer.dialect import DIALECTS, dialect_named
from rehearsal_trainer.messages import Conversation
from rehearsal_trainer.trajectories import find_recordings, read_recording


@pytest.fixture(scope="module")
def rollouts(gold_run: Path) -> list[Conversation]:
    """The test tasks of parcel-desk, all of them played to a success."""
    played = [read_recording(path) for path in find_recordings([str(gold_run)])]
    assert [rollout.reward for rollout in played] == [1] * 32
    return played


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_policy_and_tool_schemas_take_less_than_500_tokens(
    rollouts: list[Conversation], tokenizer: Any, dialect: str
) -> None:
    chat = Chat(tokenizer, dialect_named(dialect))
    sizes = {len(chat.system_ids(rollout.system, rollout.tools)) for rollout in rollouts}
    print(f"{dialect}: policy and tool schemas take {sizes} tokens")
    assert max(sizes) < 500


def test_a_rollout_takes_about_400_tokens_at_most(rollouts: list[Conversation], chat: Chat) -> None:
    """Prompt, tools and all, in the dialect that the domain is trained in."""
    sizes = sorted(len(chat.row_of(rollout).ids) for rollout in rollouts)
    print(f"a rollout takes {sum(sizes) / len(sizes):.0f} tokens on average, the longest {sizes[-1]}")
    assert sum(sizes) / len(sizes) < 400
    assert sizes[-1] < 450
