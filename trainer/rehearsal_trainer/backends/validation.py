"""Measures the loss on rows that SFT does not learn from while it trains."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from trl import SFTTrainer

from rehearsal_trainer.backends.shared_rows import filled
from rehearsal_trainer.chat.masks import Row, features_of
from rehearsal_trainer.metrics.measurements import Cadence, Evaluate
from rehearsal_trainer.processes import distributed


def validated(
    trainer: SFTTrainer, rows: Sequence[Row], steps: int, micro_batch: int, evaluate: Evaluate | None
) -> Evaluate:
    """Returns a function that measures the loss of the validation rows in addition to what `evaluate` measures.

    It measures the loss before the run, up to 20 times in its `steps` optimizer steps, and after the last step.
    """
    cadence = Cadence(math.ceil(steps / 20), steps)

    def measure(step: int) -> Mapping[str, float]:
        values = evaluate(step) if evaluate else {}
        if not cadence.is_due(step):
            return values
        started = time.monotonic()
        loss = loss_of(trainer, rows, micro_batch)
        return {**values, "validation_loss": loss, "validation_seconds": time.monotonic() - started}

    return measure


def loss_of(trainer: SFTTrainer, rows: Sequence[Row], micro_batch: int) -> float:
    """Returns the mean loss per labeled token as the trainer computes it, `micro_batch` rows at a time.

    Several processes share the rows, so every process has to call it.
    """
    model: Any = trainer.model
    loss, tokens = 0.0, 0
    model.eval()
    own = filled(rows, micro_batch * distributed.count())[distributed.rank() :: distributed.count()]
    with torch.no_grad(), trainer.compute_loss_context_manager():
        for start in range(0, len(own), micro_batch):
            batch: Any = trainer.data_collator([features_of(row) for row in own[start : start + micro_batch]])
            inputs = trainer._prepare_inputs(batch)
            tokens += int((inputs["labels"][:, 1:] >= 0).sum())
            loss += float(trainer.compute_loss(model, inputs, num_items_in_batch=1)) / distributed.count()
    model.train()
    trainer._metrics["eval"].clear()  # otherwise TRL's other measurements appear in its next line
    all_loss, all_tokens = distributed.total([loss, tokens])
    return all_loss / all_tokens
