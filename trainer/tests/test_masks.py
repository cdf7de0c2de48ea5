from __future__ import annotations

import pytest

from rehearsal_trainer.chat.masks import IGNORED_LABEL, Row, labels_of, split_at, without_tail


def row() -> Row:
    built = Row()
    built.append_given([1, 2, 3])
    built.append_sampled([4, 5], [-0.5, -0.25])
    built.append_given([6])
    return built


def test_only_sampled_ids_have_mask_and_logprob() -> None:
    assert row().mask == [0, 0, 0, 1, 1, 0]
    assert row().logprobs == [None, None, None, -0.5, -0.25, None]


def test_labels_are_the_masked_ids() -> None:
    i = IGNORED_LABEL
    assert labels_of(row()) == [i, i, i, 4, 5, i]


def test_learned_ids_train_without_a_logprob() -> None:
    built = Row()
    built.append_learned([7])
    assert (built.mask, built.logprobs) == ([1], [None])


def test_the_tail_teaches_nothing() -> None:
    assert without_tail(row()).ids == [1, 2, 3, 4, 5]
    assert without_tail(Row([1], [0], [None])).ids == []


def test_split_keeps_every_id_once() -> None:
    parts = split_at(row(), 2)
    assert parts["prompt_ids"] == [1, 2]
    assert parts["completion_ids"] == [3, 4, 5, 6]
    assert parts["env_mask"] == [0, 1, 1, 0]
    assert parts["logprobs"] == [0.0, -0.5, -0.25, 0.0]


def test_a_prompt_with_sampled_ids_is_refused() -> None:
    with pytest.raises(ValueError, match="sampled ids"):
        split_at(row(), 4)


def test_one_logprob_per_sampled_id() -> None:
    with pytest.raises(ValueError, match="2 sampled ids came with 1"):
        Row().append_sampled([1, 2], [-0.1])
