"""Samples from the live model for many sessions at once, in this process.

One thread does all decoding. Each of its passes takes the next token of every conversation that is being answered and
the new tokens of new requests (continuous batching), so no request waits for the longest answer. A session keeps its
keys and values between turns. A new session copies the longest prefix that another already holds, so the policy and the
tools of a domain are computed once per update of the weights. Kept tokens are always compared with the ids of the
request.

Not supported: bitwise equality between batch sizes (a different batch rounds differently), beam search, repetition
penalties, and text.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch

from rehearsal_trainer.processes.devices import release_threads
from rehearsal_trainer.sampler.answers import ContextExceededError, Generated, Sampling
from rehearsal_trainer.sampler.cpu_decoder.decoder import Decoder
from rehearsal_trainer.sampler.cpu_decoder.ngram_speculation import NgramSpeculator

SHARED_PREFILL = 64
"""A prompt with more new tokens is computed alone, so that others can copy its prefix in the next pass."""


ROWS = 16
"""The maximum number of tokens of a pass with guesses: about as many as the time of reading the weights covers."""


@dataclass(eq=False)
class _Request:
    session: str
    prompt: list[int]
    sampling: Sampling
    random: Random
    future: Future[Generated]
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    cached: int = 0
    _draws: list[float] = field(default_factory=list)

    def draw(self, token: int) -> float:
        """Returns the random number that decides a token of the answer, regardless of the pass that samples it."""
        while len(self._draws) <= token:
            self._draws.append(self.random.random())
        return self._draws[token]

    def left(self, context: int) -> int:
        """Returns the number of tokens that the answer may still have."""
        return min(self.sampling.max_tokens, context - len(self.prompt)) - len(self.ids)


@dataclass
class _Cache:
    ids: list[int]
    used: float = 0.0


class Generator:
    """Samples in batches of up to `slots` requests.

    It keeps the keys and values of up to `2 * slots` sessions, and evicts the least recently used.
    """

    def __init__(self, decoder: Decoder, stop_ids: Collection[int], context: int, slots: int = 32) -> None:
        self.decoder = decoder
        self.stop_ids = stop_ids
        self.context = context
        self.slots = slots
        self.sampled_tokens = 0
        self.computed_tokens = 0
        self._caches: dict[str, _Cache] = {}
        self._speculator = NgramSpeculator(stop_ids)
        self._waiting: list[_Request] = []
        self._active: list[_Request] = []
        self._wake = threading.Condition()
        self._model = threading.Lock()
        self._turn = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="generation", daemon=True)
        self._thread.start()
        release_threads()  # of the caller, who has loaded the model

    def submit(self, session: str, prompt: Sequence[int], sampling: Sampling, seed: int) -> Future[Generated]:
        """Samples an answer to `prompt` (the whole row so far); the future fails with ContextExceededError."""
        future: Future[Generated] = Future()
        future.set_running_or_notify_cancel()  # the decoding thread alone settles it, so no caller can cancel it
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
        """Forgets a session's keys and values; only an answer that it waits for fails."""
        with self._exclusive():
            with self._wake:
                waiting = [request for request in self._waiting if request.session == session]
                self._waiting = [request for request in self._waiting if request.session != session]
            for request in [*waiting, *(each for each in self._active if each.session == session)]:
                self._fail(request, RuntimeError("the session was closed"))
            self._forget(session)

    def refresh(self) -> None:
        """Takes over the live weights; everything computed with the old ones is forgotten."""
        self.suspend()
        with self._exclusive():
            self.decoder.refresh()

    def suspend(self) -> None:
        """Forgets everything that was computed."""
        with self._exclusive():
            for session in list(self._caches):
                self.decoder.drop(session)
            self._caches.clear()

    def adopt(self, model: Any) -> None:
        """Samples for another module from now on, for instance the same one with a LoRA adapter around it."""
        with self._exclusive():
            self.decoder.adopt(model)

    def close(self) -> None:
        """Ends the thread; open requests fail."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Holds the model, at the latest after the pass in progress.

        The thread that decodes would get a lock again at once, so the others would wait for many passes. It has to
        wait for the turn that one of them holds.
        """
        with self._turn:
            self._model.acquire()
        try:
            yield
        finally:
            self._model.release()

    def _run(self) -> None:
        error: BaseException = RuntimeError("the generator was closed")
        try:
            while self._has_work():
                try:
                    with self._exclusive(), torch.inference_mode():
                        self._pass()
                except Exception as failure:  # a pass computes for all of them together
                    with self._exclusive():
                        for request in list(self._active):
                            self._fail(request, failure)
        except BaseException as failure:
            error = failure
            raise
        finally:
            with self._exclusive(), self._wake:
                self._closed = True
                left, self._waiting, self._active = [*self._waiting, *self._active], [], []
                for request in left:
                    request.future.set_exception(error)

    def _has_work(self) -> bool:
        """Waits for a request; False once the generator is closed."""
        with self._wake:
            if not self._waiting and not self._active:
                release_threads()
            while not self._waiting and not self._active and not self._closed:
                self._wake.wait()
            return not self._closed

    def _fail(self, request: _Request, error: Exception) -> None:
        """Ends a request with an error, and drops the state of its session, which may be incomplete."""
        if request in self._active:
            self._active.remove(request)
        request.future.set_exception(error)
        with contextlib.suppress(Exception):  # the decoder itself may have failed
            self._forget(request.session)

    def _forget(self, session: str) -> None:
        self._caches.pop(session, None)
        self.decoder.drop(session)

    def _pass(self) -> None:
        most = ROWS // max(1, len(self._active)) - 1
        # For each request, the given tokens and the guessed continuation.
        entries: list[tuple[_Request, list[int], list[int]]] = []
        for request in self._active:
            draft = self._speculator.propose([*request.prompt, *request.ids], min(most, request.left(self.context) - 1))
            entries.append((request, [request.ids[-1]], draft))
        for request, tokens in self._admitted():
            self._active.append(request)
            entries.append((request, tokens, []))
        if not entries:
            return
        asked = [(request.session, given + draft, 1 + len(draft)) for request, given, draft in entries]
        logits = self.decoder.extend(asked).float()
        draws = [(request, len(request.ids) + at) for request, _, draft in entries for at in range(1 + len(draft))]
        picked, logprobs = pick(draws, logits)
        at = 0
        for request, given, draft in entries:
            end = at + 1 + len(draft)
            self.computed_tokens += len(given) + len(draft)
            taken = self._take(request, picked[at:end], logprobs[at:end], draft)
            cache = self._caches[request.session]
            cache.ids += given + draft[: taken - 1]
            cache.used = time.monotonic()
            if taken <= len(draft):
                self.decoder.truncate(request.session, len(cache.ids))
            at = end

    def _take(self, request: _Request, ids: list[int], logprobs: list[float], draft: list[int]) -> int:
        """Appends the sampled tokens up to the first one that differs from the draft, and returns their number."""
        taken = 0
        for token, logprob in zip(ids, logprobs, strict=True):
            request.ids.append(token)
            request.logprobs.append(logprob)
            self.sampled_tokens += 1
            taken += 1
            if self._has_ended(request) or taken > len(draft) or token != draft[taken - 1]:
                break
        return taken

    def _has_ended(self, request: _Request) -> bool:
        if request.ids[-1] in self.stop_ids:
            reason = "stop"
        elif request.left(self.context) <= 0:
            reason = "length"
        else:
            return False
        self._speculator.learn([*request.prompt, *request.ids])
        self._active.remove(request)
        request.future.set_result(Generated(request.ids, request.logprobs, reason, request.cached))
        return True

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
            try:
                length, donor = self._best_prefix(request)
                long = len(request.prompt) - length > SHARED_PREFILL
                if long and computing:
                    self._put_back(waiting[position:])
                    break
                self._make_room(request.session, busy | {donor})
                admitted.append((request, self._open(request, length, donor)))
            except Exception as error:
                self._fail(request, error)
            else:
                computing = computing or long
        return admitted

    def _put_back(self, requests: list[_Request]) -> None:
        with self._wake:
            self._waiting = requests + self._waiting

    def _best_prefix(self, request: _Request) -> tuple[int, str | None]:
        # The last token of the prompt is always computed: the caller needs its logits.
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

    def _make_room(self, session: str, busy: set[str | None]) -> None:
        if session in self._caches or len(self._caches) < self.slots * 2:
            return
        idle = [(cache.used, other) for other, cache in self._caches.items() if other not in busy]
        if idle:
            oldest = min(idle)[1]
            del self._caches[oldest]
            self.decoder.drop(oldest)


def common_prefix(left: Sequence[int], right: Sequence[int], limit: int) -> int:
    """Returns the length of the common prefix of two rows, at most `limit`."""
    end = min(len(left), len(right), limit)
    if list(left[:end]) == list(right[:end]):
        return end
    return next(index for index in range(end) if left[index] != right[index])


def pick(draws: Sequence[tuple[_Request, int]], logits: torch.Tensor) -> tuple[list[int], list[float]]:
    """Samples one id with its log-probability for each row, with the temperature and top-p of the row's request.

    draws: for each row, its request and the index of the token in its answer. logits: (rows, vocabulary), float32.
    Each request draws from its own stream, so the other rows of the batch do not change its random numbers.
    """
    samplings = [request.sampling for request, _ in draws]
    greedy = torch.tensor([sampling.temperature == 0 for sampling in samplings])
    temperatures = torch.tensor([sampling.temperature or 1.0 for sampling in samplings]).to(logits)
    scaled = logits / temperatures[:, None]
    for index, sampling in enumerate(samplings):
        if sampling.top_p < 1 and not greedy[index]:
            scaled[index] = _nucleus(scaled[index], sampling.top_p)
    logprobs = scaled.log_softmax(-1)
    numbers = torch.tensor(
        [0.0 if flag else request.draw(token) for (request, token), flag in zip(draws, greedy, strict=True)]
    )
    sums = logprobs.exp().cumsum(-1, dtype=torch.float64)
    targets = numbers.double().to(sums.device)[:, None] * sums[:, -1:]
    sampled = torch.searchsorted(sums, targets, right=True)[:, 0].clamp(max=logits.shape[-1] - 1)
    ids = torch.where(greedy.to(logits.device), logits.argmax(-1), sampled)
    return ids.tolist(), logprobs.gather(-1, ids[:, None])[:, 0].tolist()


def _nucleus(logits: torch.Tensor, top_p: float) -> torch.Tensor:
    order = logits.argsort(descending=True)
    before = logits[order].softmax(-1).cumsum(-1) - logits[order].softmax(-1)
    return logits.index_fill(0, order[before >= top_p], float("-inf"))
