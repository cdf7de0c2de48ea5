"""Builds the rows of token ids that SFT learns from and those that it is validated on. Torch-free."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from rehearsal_trainer.chat.chat import Chat
from rehearsal_trainer.chat.masks import Row
from rehearsal_trainer.sft.trajectories import find_recordings, read_recording, successful
from rehearsal_trainer.values.failures import ConfigurationError, TrainingError
from rehearsal_trainer.values.messages import Conversation, Json

if TYPE_CHECKING:
    from rehearsal_trainer.sft.config import Config


@dataclass(frozen=True)
class Examples:
    """The rows of a run. A task is either for training or for validation. Every row fits into `context`."""

    rows: Sequence[Row]
    """The rows to learn from, at least one."""
    validation: Sequence[Row]
    """The rows on which the loss is only measured; empty without `validation_share`."""
    too_long: int
    """The number of rows that are left out because they are longer than `context`."""
    files: int
    """The number of recordings that were read."""

    @classmethod
    def of(cls, config: Config, chat: Chat) -> Self:
        """Returns the rows of a configuration's recordings, in the order of the files.

        TrainingError if no rows are left for training or validation, ConfigurationError for recordings of tasks that a
        model is evaluated on.
        """
        files = find_recordings(config.recordings)
        conversations = successful(map(read_recording, files), config.least_reward)
        refuse_evaluated(conversations, config.evaluate_split)
        every = [(row, each) for each in conversations for row in chat.rows_of(each)]
        kept = validation_tasks(conversations, config.validation_share, config.seed)
        fitting = [(row, each.task) for row, each in every if len(row.ids) <= config.context]
        rows = [row for row, task in fitting if task not in kept]
        validation = [row for row, task in fitting if task in kept]
        if not rows:
            raise TrainingError(
                f"nothing to learn from: of {len(files)} recordings {len(conversations)} have a reward of at least "
                f"{config.least_reward:g} and are not previews; {len(rows)} of them fit into {config.context} tokens"
            )
        if empty := [each.source for row, each in every if not any(row.mask)]:
            raise TrainingError(
                f"{len(empty)} recordings have no token to learn from: the agent says nothing in them; the first is "
                f"{empty[0]}. Leave them out of recordings"
            )
        if kept and not validation:
            raise TrainingError(
                f"validation_share: no recording of {len(kept)} tasks fits into {config.context} tokens"
            )
        return cls(rows, validation, len(every) - len(fitting), len(files))

    @property
    def too_long_share(self) -> float:
        """The share of the rows of successful recordings that are too long, from 0 to 1."""
        return self.too_long / (len(self.rows) + len(self.validation) + self.too_long)

    def counts(self) -> dict[str, Json]:
        """Returns the summary for the event `examples`; `tokens` and `trained_tokens` count the rows to learn from."""
        return {
            "recordings": self.files,
            "rows": len(self.rows),
            "validation_rows": len(self.validation),
            "too_long": self.too_long,
            "tokens": sum(len(row.ids) for row in self.rows),
            "trained_tokens": sum(sum(row.mask) for row in self.rows),
        }


def validation_tasks(conversations: Sequence[Conversation], share: float, seed: int) -> set[str]:
    """Returns the tasks for validation. Tasks are not split, because another recording of a task reveals its answer."""
    tasks = sorted({each.task for each in conversations})
    if share == 0:
        return set()
    if len(tasks) < 2:
        raise ConfigurationError("validation_share: the recordings are of one task; record more, or set it to 0")
    count = max(1, round(share * len(tasks)))
    return set(random.Random(f"{seed}/validation").sample(tasks, count))


def refuse_evaluated(conversations: Sequence[Conversation], split: str | None) -> None:
    """Raises ConfigurationError for recordings of tasks that a model is evaluated on."""
    found = [each for each in conversations if split is not None and each.split == split]
    if found:
        raise ConfigurationError(
            f"recordings: {len(found)} of {len(conversations)} are of tasks of the split {split}, which a model is "
            f"evaluated on; the first is {found[0].source}. Leave them out, or set evaluate_split to null"
        )
