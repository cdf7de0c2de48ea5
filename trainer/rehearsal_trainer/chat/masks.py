"""Decides which tokens train, with pure functions over one row of token ids.

A row is one conversation as the model saw it. The mask is 1 on the ids that the model sampled (in SFT: those that the
model should learn), and 0 on all ids that were given to it: policy, tools, user, tool results and the special tokens
between messages. Torch-free. This module uses neither text nor tokenizers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from rehearsal_trainer.values.failures import TrainingError

IGNORED_LABEL = -100  # torch's cross entropy ignores this label


@dataclass
class Row:
    """Token ids with their loss mask and log-probabilities; the three lists always have the same length."""

    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float | None] = field(default_factory=list)
    """A number exactly where the mask is 1; always None in SFT rows, which are not sampled."""

    def append_given(self, ids: list[int]) -> None:
        """Adds ids that the model was given."""
        self.ids += ids
        self.mask += [0] * len(ids)
        self.logprobs += [None] * len(ids)

    def append_sampled(self, ids: list[int], logprobs: list[float]) -> None:
        """Adds ids that the model sampled, with one log-probability each."""
        if len(ids) != len(logprobs):
            raise ValueError(f"{len(ids)} sampled ids came with {len(logprobs)} log-probabilities")
        self.ids += ids
        self.mask += [1] * len(ids)
        self.logprobs += logprobs

    def append_learned(self, ids: list[int]) -> None:
        """Adds ids that SFT trains on: mask 1, without a log-probability because they were not sampled."""
        self.ids += ids
        self.mask += [1] * len(ids)
        self.logprobs += [None] * len(ids)


class Sampled(NamedTuple):
    """An answer as the model sampled it: its ids, and the index of the first one in the row."""

    place: int
    ids: list[int]


class CompletionRow(TypedDict):
    """A row split into prompt and completion, as GRPO requires."""

    prompt_ids: list[int]
    completion_ids: list[int]
    env_mask: list[int]
    logprobs: list[float]


def features_of(row: Row) -> dict[str, list[int]]:
    """Returns a row in the format of SFT's data collator: token ids and the same number of labels."""
    return {"input_ids": row.ids, "labels": labels_of(row)}


def labels_of(row: Row) -> list[int]:
    """Returns the labels for cross entropy: the id where the mask is 1, else IGNORED_LABEL."""
    return [token if bit else IGNORED_LABEL for token, bit in zip(row.ids, row.mask, strict=True)]


def trained_ids(ids: Sequence[int], mask: Sequence[int]) -> dict[int, int]:
    """Returns the ids with mask 1 by their places."""
    return {place: token for place, (token, bit) in enumerate(zip(ids, mask, strict=True)) if bit}


def check_trained(trained: Mapping[int, int], sampled: Sequence[Sampled], what: str = "the loss mask") -> None:
    """Raises TrainingError if the trained ids or their indices differ from the sampled ones.

    trained: ids by their indices in the row; what: the name of the list that marks them as trained.
    """
    given = {place: token for answer in sampled for place, token in enumerate(answer.ids, answer.place)}
    if trained == given:
        return
    first = min(place for place, _ in trained.items() ^ given.items())
    raise TrainingError(
        f"{what} of a row does not match what the model sampled: it has {len(trained)} ids, {len(given)} were sampled, "
        f"and the first difference is at place {first}. Nothing was learned from the row. This is an internal error; "
        "report it"
    )


def without_tail(row: Row) -> Row:
    """Returns the row up to its last trained token, because later tokens do not train."""
    end = max((index + 1 for index, bit in enumerate(row.mask) if bit), default=0)
    return Row(row.ids[:end], row.mask[:end], row.logprobs[:end])


def joined(rows: Sequence[Row]) -> Row:
    """Returns several rows as one, for display."""
    whole = Row()
    for row in rows:
        whole.ids += row.ids
        whole.mask += row.mask
        whole.logprobs += row.logprobs
    return whole


def split_at(row: Row, prompt_length: int) -> CompletionRow:
    """Splits a row into prompt and completion; log-probabilities of given ids are 0.0, as TRL expects.

    The prompt must not contain sampled ids, because they would never train.
    """
    if any(row.mask[:prompt_length]):
        raise ValueError("the prompt of a row holds sampled ids; cut it before the first of them")
    return {
        "prompt_ids": row.ids[:prompt_length],
        "completion_ids": row.ids[prompt_length:],
        "env_mask": row.mask[prompt_length:],
        "logprobs": [0.0 if value is None else value for value in row.logprobs[prompt_length:]],
    }
