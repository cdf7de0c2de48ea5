"""Runs our agent loop in verl's own workers, with engines, and compares the rows with the sampled ids."""

from __future__ import annotations

import os
import random
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch
import transfer_queue as tq
from conftest import config_of, verl_config
from verl.utils import tensordict_utils as tu
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from waiting import until

from rehearsal_trainer.models.loading import load_tokenizer

SEED = int(os.environ.get("REHEARSAL_SEED", "1"))


def prompts_of(config: Any, count: int, step: int) -> Any:
    """Returns a batch from verl's data set, as verl's trainer makes it."""
    dataset = RLHFDataset(config.data.train_files, load_tokenizer("tiny"), config.data)
    batch = collate_fn([dataset[index] for index in range(count)])
    batch["uid"] = np.array([str(uuid.uuid4()) for _ in range(count)], dtype=object)
    prompts = tu.get_tensordict(batch)
    tu.assign_non_tensor_data(prompts, "global_steps", step)
    tags = [{"is_prompt": True, "status": "pending", "global_steps": step} for _ in range(count)]
    tq.kv_batch_put(keys=list(prompts["uid"]), partition_id="train", tags=tags)
    return prompts


def groups_of(prompts: Any) -> dict[str, Any]:
    """Returns the tag of each prompt's group."""
    known = tq.kv_list("train")["train"]
    return {uid: known[uid] for uid in prompts["uid"]}


def rows_of(prompts: Any) -> dict[str, Any]:
    """Returns the rows that are there of these prompts: their keys and tags."""
    uids = set(prompts["uid"])
    return {
        key: tag for key, tag in tq.kv_list("train")["train"].items() if key not in uids and key.split("_")[0] in uids
    }


def finished(prompts: Any) -> dict[str, Any]:
    """Waits for all groups, and returns the keys and tags of the rows."""

    def have_ended() -> bool:
        return all(tag["status"] in ("finished", "failure") for tag in groups_of(prompts).values())

    until("all groups have ended", have_ended)
    assert {tag["status"] for tag in groups_of(prompts).values()} == {"finished"}
    return rows_of(prompts)


@pytest.fixture(scope="module")
def loops(cluster: None, client_of: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from rehearsal_trainer.backends.verl.workers import WatchedAgentLoops

    opened: list[Any] = []

    def make(workers: int) -> tuple[Any, Any]:
        folder = tmp_path_factory.mktemp("verl")
        config = verl_config(config_of(workers=workers), folder)
        tq.init(config.transfer_queue)
        manager = WatchedAgentLoops.create(
            config=config, llm_client=client_of(config), teacher_client=None, reward_loop_worker_handles=None
        )
        opened.append(manager)
        return config, manager

    yield make
    for manager in opened:
        manager.close()
        for worker in manager.agent_loop_workers:
            ray.kill(worker)


def engines() -> list[int]:
    """Returns the processes of engines, found by their command lines."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.endswith(b"rehearsal.mjs") for word in words) and b"--stdio" in words:
            found.append(int(entry.name))
    return found


def test_rows_are_what_was_sampled_bit_for_bit(loops: Any, store: Any, server: Any, tmp_path: Path) -> None:
    config, manager = loops(2)
    before = len(ray.get(server.asked.remote()))
    prompts = prompts_of(config, 2, step=1)
    manager.generate_sequences(prompts)
    rows = finished(prompts)
    assert len(rows) == 2 * 4  # the trial's group size
    assert len(engines()) >= 2  # one beside each worker
    fields = ["prompts", "responses", "response_mask", "rollout_log_probs", "rm_scores", "input_ids", "num_turns"]
    data = tq.kv_batch_get(keys=list(rows), partition_id="train", select_fields=fields)
    asked = ray.get(server.asked.remote())[before:]
    by_prompt: dict[tuple[int, ...], list[tuple[list[int], list[float]]]] = {}
    for prompt, ids, logprobs in asked:
        by_prompt.setdefault(tuple(prompt), []).append((ids, logprobs))
    turns = 0
    for index in range(len(rows)):
        prompt, response = data["prompts"][index].tolist(), data["responses"][index].tolist()
        mask, logprobs = data["response_mask"][index].tolist(), data["rollout_log_probs"][index]
        assert data["input_ids"][index].tolist() == prompt + response
        assert len(response) == len(mask) == len(logprobs)
        for start, end in spans_of(mask):
            sampled = by_prompt[tuple(prompt + response[:start])]
            wanted = (response[start:end], logprobs[start:end])
            assert any(
                ids == wanted[0] and torch.equal(torch.tensor(values, dtype=torch.float32), wanted[1])
                for ids, values in sampled
            )
            turns += 1
        assert all(value == 0 for value, bit in zip(logprobs.tolist(), mask, strict=True) if not bit)
        rewards = data["rm_scores"][index].tolist()
        assert len(rewards) == len(response) and not any(rewards[:-1])
    assert turns == len(asked) == sum(int(count) for count in data["num_turns"])
    assert ray.get(store.waiting.remote()) is None
    assert len(ray.get(store.finish.remote(1, False))) == len(rows)
    assert len((tmp_path / "run" / "trajectories" / "step-000001" / "rollouts.jsonl").read_text().splitlines()) == 8


def spans_of(mask: list[int]) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each run of sampled ids. Given ids separate two answers, so runs never touch."""
    start = None
    for place, bit in enumerate([*mask, 0]):
        if bit and start is None:
            start = place
        if not bit and start is not None:
            yield start, place
            start = None


@pytest.mark.parametrize("workers", [1, 2])
def test_rollouts_per_second(loops: Any, store: Any, workers: int, record_property: Any) -> None:
    config, manager = loops(workers)
    warm = prompts_of(config, workers, step=100 + workers)
    manager.generate_sequences(warm)
    finished(warm)
    prompts = prompts_of(config, 8, step=200 + workers)
    started = time.monotonic()
    manager.generate_sequences(prompts)
    rows = finished(prompts)
    rate = len(rows) / (time.monotonic() - started)
    record_property("rollouts_per_second", rate)
    print(f"{workers} rollout workers: {rate:.2f} rollouts a second")
    assert len(rows) == 32


def test_a_worker_that_is_killed_loses_nothing_and_counts_nothing_twice(
    loops: Any, store: Any, server: Any, tmp_path: Path
) -> None:
    """REHEARSAL_SEED draws how many rows are finished then. The server keeps the answers of all others meanwhile."""
    config, manager = loops(2)
    pid: Any = ray.get(manager.agent_loop_workers[0].__ray_call__.remote(lambda _: os.getpid()))
    warm = prompts_of(config, 2, step=300)
    manager.generate_sequences(warm)
    finished(warm)
    prompts = prompts_of(config, 8, step=301)
    # Each of the two workers has 4 groups of 4 rows, so at least one row of the first is left.
    wanted = random.Random(SEED).randint(0, 15)
    print(f"REHEARSAL_SEED={SEED}: a worker is killed when {wanted} rows are finished")
    ray.get(server.hold_after.remote(wanted))
    manager.generate_sequences(prompts)
    until(f"{wanted} rows are finished", lambda: len(rows_of(prompts)) == wanted)
    until("an answer is kept", lambda: any(ray.get([server.held.remote()])))
    os.kill(pid, signal.SIGKILL)
    ray.get(server.go.remote())
    rows = finished(prompts)
    groups: dict[str, list[str]] = {}
    for key in rows:
        uid, rest = key.split("_", 1)
        groups.setdefault(uid, []).append(rest)
    assert len(groups) == 8
    assert all(sorted(members) == ["0_0", "1_0", "2_0", "3_0"] for members in groups.values())
    ray.get(store.finish.remote(301, False))
    assert len((tmp_path / "run" / "trajectories" / "step-000301" / "rollouts.jsonl").read_text().splitlines()) == 32
    assert manager.replaced == 1
