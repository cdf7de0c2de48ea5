"""Tests a custom agent with the real engine, the example of docs/agent.md, and the gateway's rows."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ENGINE, REPOSITORY, chat_with, node_of
from waiting import LIMIT_S

from rehearsal_trainer.gateway.gateway import Gateway
from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest, RolloutSettings
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.sft.trajectories import read_recording
from rehearsal_trainer.values.failures import TrainingError

EXAMPLE = REPOSITORY / "docs" / "examples" / "sdk-agent"
DESK = str(REPOSITORY / "domains" / "parcel-desk")
SAMPLING = Sampling(1.0, 1.0, 48)
STORY = [
    '<tool_call>find_parcel(parcel="P46")</tool_call>',
    "Shall I bring P46 on Tuesday?",
    '<tool_call>reschedule(parcel="P46", day="Tuesday")</tool_call>',
    "Done, P46 comes on Tuesday.",
]


@pytest.fixture
def node() -> str:
    return node_of()


def agent_file(folder: Path, node: str) -> str:
    path = folder / "own.agent.yaml"
    path.write_text(f"command: {node}\nargs: [{EXAMPLE / 'agent.mjs'}]\n", encoding="utf-8")
    return str(path)


def approval_of(agent: str, node: str) -> list[str]:
    """Returns the option with the hash that the engine reports before it starts an agent; none for a missing file."""
    command = [node, str(ENGINE), "run", DESK, "reschedule-P46", "--agent", f"agent:{agent}", "--json"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    approval = json.loads(refused.stdout)["error"].get("approval")
    return ["--approve", approval["hash"]] if approval else []


def play(gateway: Gateway, node: str, agent: str | None, recording: Path, tasks: list[str]) -> list[PlayedRollout]:
    settings = RolloutSettings(DESK, turn_cap=6, rollout_timeout_s=LIMIT_S, agent=agent)
    requests = [
        RolloutRequest(task, member, f"seed/{task}", SAMPLING, settings, str(recording / f"{task}.{member}.traj.jsonl"))
        for member, task in enumerate(tasks)
    ]
    approved = [] if agent is None else approval_of(agent, node)
    worker = RolloutWorker(
        gateway, [node, str(ENGINE), "serve", "--stdio", *approved], str(REPOSITORY), lambda _level, _message: None, 4
    )
    try:
        return worker.play(requests)
    finally:
        worker.close()


@pytest.mark.full
def test_an_agent_of_published_sdks_yields_the_row_that_the_plain_seat_yields(
    forced_gateway: Any, tokenizer: Any, node: str, tmp_path: Path
) -> None:
    (own,) = play(forced_gateway(STORY), node, agent_file(tmp_path, node), tmp_path / "own", ["reschedule-P46"])
    assert own.result.failure is None and own.result.reward == 1
    assert (own.changed_histories, own.malformed_calls) == (0, 0)
    (row,) = own.rows
    (plain,) = play(forced_gateway(STORY), node, None, tmp_path / "plain", ["reschedule-P46"])[0].rows
    assert row.row.ids == plain.row.ids
    assert row.row.mask == plain.row.mask
    chat = chat_with(tokenizer, "compact")
    sampled = [token for token, bit in zip(row.row.ids, row.row.mask, strict=True) if bit]
    assert sampled == [
        t for text in STORY for t in [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    ]
    recorded = read_recording(tmp_path / "own" / "reschedule-P46.0.traj.jsonl")
    (expected,) = chat.rows_of(recorded)
    assert expected.ids == row.as_json()["ids"]
    assert expected.mask == row.as_json()["mask"]
    seats = json.loads((tmp_path / "own" / "reschedule-P46.0.traj.jsonl").read_text().splitlines()[0])["event"]["seats"]
    assert seats["agent"] == "agent:own"


@pytest.mark.full
def test_a_random_model_behind_an_agent_yields_masked_rows_whatever_it_says(
    tiny_gateway: Gateway, node: str, tmp_path: Path
) -> None:
    tasks = ["reschedule-P46", "reschedule-P50", "reschedule-P81"]
    played = play(tiny_gateway, node, agent_file(tmp_path, node), tmp_path, tasks)
    for rollout in played:
        assert rollout.result.reward == 0, rollout.result.failure
        assert rollout.rows and rollout.changed_histories == 0
        for row in rollout.rows:
            assert sum(row.row.mask) > 0
            assert [value is not None for value in row.row.logprobs] == [bit == 1 for bit in row.row.mask]


def test_an_agent_file_that_is_not_there_stops_the_training_with_its_name(
    forced_gateway: Any, node: str, tmp_path: Path
) -> None:
    with pytest.raises(TrainingError, match=r"there is no agent file .*nothing\.agent\.yaml"):
        play(forced_gateway(STORY), node, str(tmp_path / "nothing.agent.yaml"), tmp_path, ["reschedule-P46"])
