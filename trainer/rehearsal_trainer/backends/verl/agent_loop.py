"""Plays the engine's rollouts in verl's agent loop.

Our session keeps the ids, the mask and the log-probabilities, and the engine gives the reward. The next prompt consists
of the previous ids, the sampled ids and the ids of the new messages. Nothing is tokenized twice, so verl's own code
that builds token ids is not used.
"""

from __future__ import annotations

from typing import Any

import ray
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput, register

from rehearsal_trainer.backends.verl.rollout_plan import RolloutPlan
from rehearsal_trainer.backends.verl.rollout_worker import ClusterRolloutWorker, plan_in, rollout_worker_here, say
from rehearsal_trainer.backends.verl.verl_settings import AGENT_LOOP
from rehearsal_trainer.gateway.session import SessionRow
from rehearsal_trainer.rollouts.rollouts import PlayedRollout, RolloutRequest
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.values.bounded_file import read_bytes


@register(AGENT_LOOP)
class EngineAgentLoop(AgentLoopBase):
    """Plays one rollout of a row of the data set: a task of a domain."""

    async def run(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, sampling_params: dict[str, Any], **row: Any
    ) -> AgentLoopOutput | list[AgentLoopOutput]:
        """Returns the rows of a rollout: one, several if the agent changed its history, none if it was not scored."""
        plan = plan_in(self.data_config.rehearsal)
        rollout_worker = await rollout_worker_here(plan, self.server_manager, self.tokenizer)
        told = row["extra_info"]
        is_evaluation = told["split"] != "train"
        request = request_of(plan, told, row, sampling_params)
        step = int(row.get("global_steps", 0))
        keeper: Any = None if plan.store is None else ray.get_actor(plan.store)
        if keeper is not None:
            await keeper.begin.remote(step, is_evaluation, request.task, request.member)
        try:
            played = await rollout_worker.play(request)
        except Exception:
            if keeper is not None:
                await keeper.drop.remote(step, is_evaluation, request.task, request.member)
            raise
        if keeper is not None:
            await keeper.take.remote(step, is_evaluation, *packed(played))
        if played.result.reward is None:
            failure = played.result.failure
            say(f"{request.task}: left out, {failure.message if failure else played.result.end_reason}")
            return []
        outputs = outputs_of(rollout_worker, played, step)
        return outputs[0] if len(outputs) == 1 else outputs


def request_of(plan: RolloutPlan, told: Any, row: Any, sampling_params: dict[str, Any]) -> RolloutRequest:
    """Returns the rollout to play for a row; its seed is the same when another worker plays it again."""
    member, step = int(row.get("session_id", 0)), int(row.get("global_steps", 0))
    kind = "step" if told["split"] == "train" else "evaluation"
    return RolloutRequest(
        task=str(told["task"]),
        member=member,
        seed=f"{plan.seed}/{kind}-{step}/{told['task']}/member-{member}",
        sampling=Sampling(float(sampling_params["temperature"]), float(sampling_params["top_p"]), plan.max_tokens),
        settings=plan.settings(told["split"] != "train"),
    )


def outputs_of(rollout_worker: ClusterRolloutWorker, played: PlayedRollout, step: int) -> list[AgentLoopOutput]:
    """Returns the rows in verl's format: the prompt is everything before the first sampled id."""
    versions = rollout_worker.model.versions.pop(played.session, [])
    shared = {
        "reward_extra_info": {},
        "turn_scores": [],
        "tool_rewards": [],
        "task": played.request.task,
        "end_reason": played.result.end_reason,
        "min_global_steps": min(versions, default=step),
        "max_global_steps": max(versions, default=step),
    }
    return [_output(rollout_worker.plan, row, played, shared) for row in played.rows]


def _output(plan: RolloutPlan, kept: SessionRow, played: PlayedRollout, shared: dict[str, Any]) -> AgentLoopOutput:
    row = kept.completion(kept.prompt_length)
    is_left_out = plan.masks_truncated and kept.finish_reasons[-1] == "length"
    return AgentLoopOutput(
        prompt_ids=row["prompt_ids"],
        response_ids=row["completion_ids"],
        response_mask=[0] * len(row["env_mask"]) if is_left_out else row["env_mask"],
        response_logprobs=row["logprobs"],
        reward_score=played.result.reward,
        num_turns=played.result.turns,
        metrics=AgentLoopMetrics(),
        extra_fields=dict(shared),
    )


def packed(played: PlayedRollout) -> tuple[PlayedRollout, bytes | None]:
    """Returns a rollout without its rows, which the store does not use, and its recording, whose file is deleted."""
    from dataclasses import replace
    from pathlib import Path

    file = Path(played.result.recording) if played.result.recording else None
    recording = read_bytes(file) if file and file.exists() else None
    if file:
        file.unlink(missing_ok=True)
    return replace(played, rows=[]), recording
