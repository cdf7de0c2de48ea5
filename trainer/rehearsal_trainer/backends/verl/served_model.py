"""Samples from verl's model servers: takes ids, and returns sampled ids with their log-probabilities."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from typing import Any

from rehearsal_trainer.sampler.answers import ContextExceededError, Generated, Sampling


class ServedModel:
    """Gives a gateway answers from verl's model servers. Its methods must be called in one event loop.

    `began` returns the number of ids in a session's row before the first sampled one: verl cuts the row there, and both
    parts have to fit into its buffers.
    """

    def __init__(
        self,
        server: Any,
        stop_ids: Collection[int],
        prompt_tokens: int,
        response_tokens: int,
        began: Callable[[str], int],
    ) -> None:
        self.server = server
        self.stop_ids = stop_ids
        self.prompt_tokens = prompt_tokens
        self.response_tokens = response_tokens
        self.too_long: str | None = None
        self.versions: dict[str, list[int]] = {}
        """The versions of the weights that answered in each session."""
        self._began = began

    def submit(self, session: str, prompt: Sequence[int], sampling: Sampling, seed: int) -> Future[Generated]:
        """Samples an answer to `prompt`, the whole row so far."""
        loop = asyncio.get_running_loop()
        return asyncio.run_coroutine_threadsafe(self._generate(session, list(prompt), sampling, seed), loop)

    def release(self, session: str) -> None:
        """Does nothing: the servers hold the keys and values, and drop them themselves."""

    async def _generate(self, session: str, prompt: list[int], sampling: Sampling, seed: int) -> Generated:
        began = self._began(session)
        if began > self.prompt_tokens:
            self.too_long = (
                f"prompt_tokens: the policy, the tools and the first message have {began} tokens, and there is room "
                f"for {self.prompt_tokens}; raise prompt_tokens"
            )
            raise ContextExceededError(self.too_long)
        room = began + self.response_tokens - len(prompt)
        if room < 1:
            raise ContextExceededError(
                f"the conversation has {len(prompt)} tokens; there is room for {began + self.response_tokens}"
            )
        wanted = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": -1,
            "repetition_penalty": 1.0,
            "logprobs": True,
            "max_tokens": min(sampling.max_tokens, room),
            "stop_token_ids": sorted(self.stop_ids),
            **self._seeded(seed),
        }
        output = await self.server.generate(request_id=session, prompt_ids=prompt, sampling_params=wanted)
        ids, logprobs = list(output.token_ids), list(output.log_probs or [])
        if not ids or len(ids) != len(logprobs):
            raise RuntimeError(
                f"the model server gave {len(ids)} ids with {len(logprobs)} log-probabilities ({output.stop_reason}); "
                "rollout.calculate_log_probs must be true"
            )
        self._keep_versions(session, output.extra_fields)
        reason = "stop" if ids[-1] in self.stop_ids else "length"
        return Generated(ids, logprobs, reason, int(output.extra_fields.get("num_cached_tokens") or 0))

    def _seeded(self, seed: int) -> dict[str, int]:
        # Of verl's servers only vLLM takes a seed for each request; its seeds are signed.
        rollout = getattr(getattr(self.server.config, "actor_rollout_ref", None), "rollout", None)
        return {"seed": seed >> 1} if getattr(rollout, "name", None) == "vllm" else {}

    def _keep_versions(self, session: str, said: dict[str, Any]) -> None:
        versions = self.versions.setdefault(session, [])
        versions += [int(said[name]) for name in ("min_global_steps", "max_global_steps") if said.get(name) is not None]
