"""TRL's GRPO trainer without the padding and, if asked, without the rows that teach nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from trl import GRPOTrainer


class FrugalTrainer(GRPOTrainer):
    """TRL's trainer without the padding and, if asked, without the rows that teach nothing.

    It also measures the drift: how far the log-probabilities that the gateway sampled with lie from those of the
    same tokens here, where the weights are the same until the optimizer's step.
    """

    skip_dead_groups = False
    differences: list[tuple[float, float]] | None = None
    """Takes, of each micro-batch, the mean and the largest difference."""
    _scored: Tensor | None = None

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Tensor, attention_mask: Tensor, logits_to_keep: int, *args: Any, **rest: Any
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Scores rows of similar length together and cuts the padding that the longest of a step would cost.

        `input_ids` and `attention_mask` are [rows, prompt + logits_to_keep]: the prompts, and the completions with
        padding behind them. What comes back is what TRL's own gives: the log-probabilities of the completions' tokens
        (natural logarithms, float32) and, with `compute_entropy`, the entropies of the model there (in nats), both
        [rows, logits_to_keep] and 0 at the padding; and the loss that balances experts, one number, with
        `compute_aux_loss`. What was not asked for is None.
        """
        score = super()._get_per_token_logps_and_entropies
        most = rest.pop("batch_size", None) or len(input_ids)
        prompt = input_ids.shape[1] - logits_to_keep
        lengths = attention_mask[:, prompt:].sum(1).tolist()
        logps = input_ids.new_zeros(len(input_ids), logits_to_keep, dtype=torch.float32)
        entropies = torch.zeros_like(logps) if rest.get("compute_entropy") else None
        losses = []
        for rows in similar_lengths(lengths, most):
            chosen, length = torch.tensor(rows, device=input_ids.device), max(1, max(lengths[row] for row in rows))
            ids, mask = input_ids[chosen, : prompt + length], attention_mask[chosen, : prompt + length]
            scored, spread, loss = score(model, ids, mask, length, *args, **rest)
            width = (0, logits_to_keep - length)
            logps = logps.index_add(0, chosen, torch.nn.functional.pad(scored.float(), width))
            if entropies is not None and spread is not None:
                entropies = entropies.index_add(0, chosen, torch.nn.functional.pad(spread.float(), width))
            if loss is not None:
                losses.append(loss * len(rows) / len(input_ids))
        self._scored = logps.detach()
        return logps, entropies, torch.stack(losses).sum() if losses else None

    def _measure_drift(self, inputs: dict[str, Any]) -> None:
        """Adds to `differences` what a micro-batch has at its sampled tokens; nothing where it has none."""
        sampled, scored = inputs.get("sampling_per_token_logps"), self._scored
        if self.differences is None or sampled is None or scored is None or sampled.shape != scored.shape:
            return
        mask = inputs["completion_mask"].bool() & inputs.get("tool_mask", inputs["completion_mask"]).bool()
        if mask.any():
            difference = (scored - sampled).abs()[mask]
            self.differences.append((float(difference.mean()), float(difference.max())))

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
        """The loss of a micro-batch, one number: that of TRL, without dead rows where those are to be skipped.

        A group that is all right or all wrong teaches nothing but the KL term, at the price of the others. In `inputs`
        the advantages are [rows], and 0 for such a group; its other tensors are [rows, tokens] or single numbers.
        """
        live = inputs["advantages"] != 0
        if live.all() or not self.skip_dead_groups:
            loss = super()._compute_loss(model, inputs)
            self._measure_drift(inputs)
            return loss
        shortest = inputs["completion_mask"].sum(1).argmin()[None]
        keep = live.nonzero()[:, 0] if live.any() else shortest
        kept = {
            name: value[keep] if isinstance(value, Tensor) and value.ndim > 0 and len(value) == len(live) else value
            for name, value in inputs.items()
        }
        loss = super()._compute_loss(model, kept)
        self._measure_drift(kept)
        if self.loss_type != "dapo":  # a mean over rows, of which the dead ones are zeros
            loss = loss * len(keep) / len(live)
        return loss if live.any() else loss * 0


def similar_lengths(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Row numbers in chunks of at most `most`, in each of which the longest is at most a quarter above the shortest."""
    chunks: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        last = chunks[-1] if chunks else []
        if last and len(last) < most and lengths[row] <= 1.25 * lengths[last[0]] + 16:
            last.append(row)
        else:
            chunks.append([row])
    return chunks
