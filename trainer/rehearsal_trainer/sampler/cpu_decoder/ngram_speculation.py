"""What a model probably says next, so that several of its tokens can be computed in one pass. Torch-free.

A pass over few rows takes hardly longer for twice as many, since its time goes into reading the weights. So an answer
is continued with what came after the same words before, and the pass says which of those tokens are sampled indeed: a
guess decides what is computed together, never what is sampled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

_LENGTHS = (3, 2)
"""Tokens that a guess looks back at: as many as are known."""

_MAX_KNOWN = 500_000


class NgramSpeculator:
    """Remembers which token came last after each few. No draft reaches one of `stop_ids`, which end an answer."""

    def __init__(self, stop_ids: Collection[int]) -> None:
        self._ends = frozenset(stop_ids)
        self._next: dict[tuple[int, ...], int] = {}

    def learn(self, row: Sequence[int]) -> None:
        """Remembers a conversation."""
        if len(self._next) > _MAX_KNOWN:
            self._next.clear()
        for length in _LENGTHS:
            for at in range(length, len(row)):
                self._next[tuple(row[at - length : at])] = row[at]

    def propose(self, row: Sequence[int], limit: int) -> list[int]:
        """At most so many tokens that may follow; none where nothing is known."""
        before = list(row[-max(_LENGTHS) :])
        draft: list[int] = []
        while len(draft) < limit and (token := self._next_token(before)) is not None and token not in self._ends:
            draft.append(token)
            before = [*before[1:], token]
        return draft

    def _next_token(self, before: list[int]) -> int | None:
        found = (self._next.get(tuple(before[-length:])) for length in _LENGTHS)
        return next((token for token in found if token is not None), None)
