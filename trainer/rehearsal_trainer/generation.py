"""Samples from the live model for many sessions at once, in this process.

One thread owns the decoding. Each of its passes takes the next token of every conversation that is being
answered and the new tokens of those that just asked (continuous batching), so nobody waits for the longest
answer. A session keeps its keys and values between turns; a new session copies the longest prefix that another
already holds, so the policy and tools of a domain are computed once per weights. Which tokens are kept is
decided by comparing ids, never by trusting the caller.

What it leaves out: bitwise equality between batch sizes (a different batch rounds differently), beam search,
repetition penalties, and anything about text.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from random import Random

import torch

from rehearsal_trainer.answers import ContextExceededError, Generated
from rehearsal_trainer.decoder import Decoder
from rehearsal_trainer.session import Sampling

SHARED_PREFILL = 64
"""New tokens above which a prompt is computed alone, so that others can copy its prefix in the next pass."""


@dataclass
class _Request:
    session: str
    prompt: list[int]
    sampling: Sampling
    random: Random
    future: Future[Generated]
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    cached: int = 0


@dataclass
class _Cache:
    ids: list[int]
    used: float = 0.0


class Generator:
    """Batched sampling. `slots` conversations keep their keys and values; the least recently used makes room."""

    def __init__(self, decoder: Decoder, end_id: int, context: int, slots: int = 32) -> None:
        self.decoder = decoder
        self.end_id = end_id
        self.context = context
        self.slots = slots
        self.sampled_tokens = 0
        self.computed_tokens = 0
        self._caches: dict[str, _Cache] = {}
        self._waiting: list[_Request] = []
        self._active: list[_Request] = []
        self._wake = threading.Condition()
        self._model = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="generation", daemon=True)
        self._thread.start()

    def submit(self, session: str, prompt: Sequence[int], sampling: Sampling, seed: int) -> Future[Generated]:
        """Samples an answer to `prompt` (the whole row so far); the future fails with ContextExceededError."""
        future: Future[Generated] = Future()
        if len(prompt) >= self.context:
            future.set_exception(
                ContextExceededError(f"the conversation has {len(prompt)} tokens; the context holds {self.context}")
            )
            return future
        with self._wake:
            if self._closed:
                raise RuntimeError("the generator is closed")
            self._waiting.append(_Request(session, list(prompt), sampling, Random(seed), future))
            self._wake.notify()
        return future

    def release(self, session: str) -> None:
        """Forgets a session's keys and values; an answer that is being sampled for it fails, and no other one."""
        with self._model:
            closed = [request for request in self._active if request.session == session]
            self._active = [request for request in self._active if request.session != session]
            for request in closed:
                request.future.set_exception(RuntimeError("the session was closed"))
            if self._caches.pop(session, None) is not None:
                self.decoder.drop(session)

    def refresh(self) -> None:
        """Takes over the live weights; everything computed with the old ones is forgotten."""
        with self._model:
            for session in list(self._caches):
                self.decoder.drop(session)
            self._caches.clear()
            self.decoder.refresh()

    def close(self) -> None:
        """Ends the thread; open requests fail."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._active and not self._closed:
                    self._wake.wait()
                if self._closed:
                    failed = self._waiting + self._active
                    self._waiting, self._active = [], []
                    break
            try:
                with self._model, torch.inference_mode():
                    self._pass()
            except Exception as error:  # one broken pass must answer its callers instead of leaving them waiting
                for request in self._active:
                    self._caches.pop(request.session, None)
                    self.decoder.drop(request.session)
                    request.future.set_exception(error)
                self._active = []
        for request in failed:
            request.future.set_exception(RuntimeError("the generator was closed"))

    def _pass(self) -> None:
        entries = [(request, [request.ids[-1]]) for request in self._active]
        for request, tokens in self._admitted():
            self._active.append(request)
            entries.append((request, tokens))
        if not entries:
            return
        logits = self.decoder.extend([(request.session, tokens) for request, tokens in entries]).float()
        for request, tokens in entries:
            self.computed_tokens += len(tokens)
            cache = self._caches[request.session]
            cache.ids += tokens
            cache.used = time.monotonic()
        picked, logprobs = pick([request for request, _ in entries], logits)
        for (request, _), token, logprob in zip(entries, picked, logprobs, strict=True):
            request.ids.append(token)
            request.logprobs.append(logprob)
            self._finish_if_done(request)
        self.sampled_tokens += len(entries)

    def _finish_if_done(self, request: _Request) -> None:
        full = len(request.prompt) + len(request.ids) >= self.context
        if request.ids[-1] == self.end_id:
            reason = "stop"
        elif len(request.ids) >= request.sampling.max_tokens or full:
            reason = "length"
        else:
            return
        self._active.remove(request)
        request.future.set_result(Generated(request.ids, request.logprobs, reason, request.cached))

    def _admitted(self) -> list[tuple[_Request, list[int]]]:
        with self._wake:
            waiting, self._waiting = self._waiting, []
        admitted: list[tuple[_Request, list[int]]] = []
        computing = False
        for position, request in enumerate(waiting):
            busy = {other.session for other in self._active} | {other.session for other, _ in admitted}
            if len(busy) >= self.slots or request.session in busy:
                self._put_back([request])
                continue
            length, donor = self._best_prefix(request)
            long = len(request.prompt) - length > SHARED_PREFILL
            if long and computing:
                self._put_back(waiting[position:])
                break
            computing = computing or long
            self._make_room(request.session, busy)
            admitted.append((request, self._open(request, length, donor)))
        return admitted

    def _put_back(self, requests: list[_Request]) -> None:
        with self._wake:
            self._waiting = requests + self._waiting

    def _best_prefix(self, request: _Request) -> tuple[int, str | None]:
        # The last token of the prompt is always computed: its logits are what is asked for.
        limit = len(request.prompt) - 1
        best, donor = 0, None
        own = self._caches.get(request.session)
        if own is not None:
            best, donor = common_prefix(own.ids, request.prompt, limit), request.session
        for session, cache in self._caches.items():
            if session != request.session and len(cache.ids) > best + 8:
                length = common_prefix(cache.ids, request.prompt, limit)
                if length > best + 8:  # copying is only worth it for more than a few tokens
                    best, donor = length, session
        return best, donor

    def _open(self, request: _Request, length: int, donor: str | None) -> list[int]:
        if donor == request.session:
            self.decoder.truncate(request.session, length)
        else:
            self.decoder.copy(donor, request.session, length)
        self._caches[request.session] = _Cache(request.prompt[:length], time.monotonic())
        request.cached = length
        return request.prompt[length:]

    def _make_room(self, session: str, busy: set[str]) -> None:
        if session in self._caches or len(self._caches) < self.slots * 2:
            return
        idle = [(cache.used, other) for other, cache in self._caches.items() if other not in busy]
        if idle:
            oldest = min(idle)[1]
            del self._caches[oldest]
            self.decoder.drop(oldest)


def common_prefix(left: Sequence[int], right: Sequence[int], limit: int) -> int:
    """How many ids two rows share at their start, at most `limit`."""
    end = min(len(left), len(right), limit)
    if list(left[:end]) == list(right[:end]):
        return end
    return next(index for index in range(end) if left[index] != right[index])


def pick(requests: Sequence[_Request], logits: torch.Tensor) -> tuple[list[int], list[float]]:
    """One id per request with its log-probability under that request's temperature and top-p.

    logits: (requests, vocabulary), float32. Each request draws from its own stream, so its neighbours in the
    batch do not change which number it gets.
    """
    greedy = torch.tensor([request.sampling.temperature == 0 for request in requests])
    temperatures = torch.tensor([request.sampling.temperature or 1.0 for request in requests]).to(logits)
    scaled = logits / temperatures[:, None]
    for index, request in enumerate(requests):
        if request.sampling.top_p < 1 and not greedy[index]:
            scaled[index] = _nucleus(scaled[index], request.sampling.top_p)
    logprobs = scaled.log_softmax(-1)
    draws = torch.tensor(
        [0.0 if flag else request.random.random() for request, flag in zip(requests, greedy, strict=True)]
    )
    sums = logprobs.exp().cumsum(-1, dtype=torch.float64)
    targets = draws.double().to(sums.device)[:, None] * sums[:, -1:]
    sampled = torch.searchsorted(sums, targets, right=True)[:, 0].clamp(max=logits.shape[-1] - 1)
    ids = torch.where(greedy.to(logits.device), logits.argmax(-1), sampled)
    return ids.tolist(), logprobs.gather(-1, ids[:, None])[:, 0].tolist()


def _nucleus(logits: torch.Tensor, top_p: float) -> torch.Tensor:
    order = logits.argsort(descending=True)
    before = logits[order].softmax(-1).cumsum(-1) - logits[order].softmax(-1)
    return logits.index_fill(0, order[before >= top_p], float("-inf"))
