"""Watches verl's rollout workers, and repeats the unfinished rollouts of a worker that died; each counts once."""

from __future__ import annotations

import threading
from typing import Any
from uuid import uuid4

import ray
import transfer_queue as tq
from ray.exceptions import GetTimeoutError, RayActorError
from verl.trainer.ppo.v1.agent_loop_tq import AgentLoopManagerTQ, AgentLoopWorkerTQ
from verl.utils.ray_utils import auto_await

from rehearsal_trainer.backends.verl import agent_loop as agent_loop
from rehearsal_trainer.backends.verl.rollout_plan import PromptBudget
from rehearsal_trainer.backends.verl.rollout_worker import plan_in, say

PATIENCE_S = 1.0
"""Seconds between two checks of the workers."""


class _Worker(AgentLoopWorkerTQ.__ray_metadata__.modified_class):  # pyright: ignore
    """verl's worker in a process where our agent loop is registered, because this module is imported there."""


class WatchedAgentLoops(AgentLoopManagerTQ):
    """Hands prompts to workers, as verl does, and watches the workers until it is closed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent_loop_workers_class = ray.remote(_Worker)
        self.replaced = 0
        self._given: dict[int, list[Any]] = {}
        self._budget = PromptBudget(plan_in(self.config.data.rehearsal).groups_per_step)
        self._changing = threading.Lock()
        self._closed = threading.Event()

    @classmethod
    @auto_await
    async def create(cls, *args: Any, **kwargs: Any) -> WatchedAgentLoops:
        """Starts the workers and the watch."""
        instance = cls(*args, **kwargs)
        await instance._init_agent_loop_workers()
        threading.Thread(target=instance._watch, name="workers", daemon=True).start()
        return instance

    def close(self) -> None:
        """Ends the watch."""
        self._closed.set()

    def generate_sequences(self, prompts: Any) -> None:
        """Hands out the prompts and returns; the workers put the rows into the TransferQueue.

        TrainingError if an optimizer step would exceed its limit of groups.
        """
        if _partition(prompts) == "train":
            self._budget.spend(int(prompts["global_steps"]), len(prompts))
        with self._changing:
            chunks = prompts.chunk(len(self.agent_loop_workers))
            for index, chunk in enumerate(chunks):
                open_ones = [batch for batch in self._given.get(index, []) if self._unfinished(batch)]
                self._given[index] = [*open_ones, chunk]
            # If the worker has died, the watch finds out and hands its prompts to another worker.
            for index, chunk in enumerate(chunks):
                self._hand(index, chunk)

    def _hand(self, index: int, batch: Any) -> None:
        try:
            ray.get(self.agent_loop_workers[index].generate_sequences.remote(batch.clone()))
        except RayActorError:
            say(f"rollout worker {index} is gone")

    def _watch(self) -> None:
        while not self._closed.wait(PATIENCE_S):
            for index, worker in enumerate(list(self.agent_loop_workers)):
                try:
                    ray.get(worker.__ray_ready__.remote(), timeout=30)
                except GetTimeoutError:
                    continue
                except RayActorError:
                    with self._changing:
                        self._replace(index)

    def _replace(self, index: int) -> None:
        """Replaces a dead worker, and gives the new one the prompts that were not finished."""
        self.replaced += 1
        self.agent_loop_workers[index] = self.agent_loop_workers_class.options(
            name=f"agent_loop_worker_{index}_{uuid4().hex[:8]}"
        ).remote(self.config, self.llm_client, self.teacher_client, self.reward_loop_worker_handles)
        batches, self._given[index] = self._given.get(index, []), []
        for batch in batches:
            uids = self._unfinished(batch)
            if not uids:
                continue
            say(f"rollout worker {index} died; {len(uids)} prompts are played again by another")
            again = batch[[place for place, uid in enumerate(batch["uid"]) if uid in uids]]
            self._forget_rows(uids, _partition(batch))
            self._given[index].append(again)
            self._hand(index, again)

    @staticmethod
    def _unfinished(batch: Any) -> set[str]:
        known = (tq.kv_list(_partition(batch)) or {}).get(_partition(batch), {})
        return {uid for uid in batch["uid"] if known.get(uid, {}).get("status") in ("pending", "running")}

    @staticmethod
    def _forget_rows(uids: set[str], partition: str) -> None:
        """Removes the rows of finished members, because they are played again with their group."""
        known = (tq.kv_list(partition) or {}).get(partition, {})
        rows = [key for key in known if key not in uids and key.split("_")[0] in uids]
        if rows:
            tq.kv_clear(rows, partition)


def _partition(batch: Any) -> str:
    return "val" if batch.get("validate") else "train"
