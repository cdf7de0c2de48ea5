"""Extends TRL's GRPO trainer to rollouts with one or more rows, without padding and rows that teach nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from trl import GRPOTrainer

from rehearsal_trainer.backends.atomic_checkpoints import AtomicCheckpoints
from rehearsal_trainer.chat.masks import CompletionRow, Sampled, check_trained
from rehearsal_trainer.grpo.step import StepRows
from rehearsal_trainer.metrics.measurements import Drift


class UnpaddedTrainer(AtomicCheckpoints, GRPOTrainer):
    """TRL's trainer without padding, without rows that lack sampled tokens and optionally without dead groups.

    TRL expects one row for each rollout. Here a rollout has several rows if its history was rewritten, and none if it
    could not be scored. Every row gets the advantage of its rollout, and only rows of scored rollouts count in a mean
    over rows.

    It also measures the drift, which is the difference between the gateway's log-probabilities and those of the same
    tokens here, with the same weights until the optimizer's step. The ratio of the two probabilities, truncated at
    `importance_sampling_cap`, weights the gradient of each token, as in TRL's mode `token_truncate` for vLLM (truncated
    importance sampling; Ionides 2008). TRL needs another pass over the rows for it, because a batch can have several
    updates there. Here it has one, so the pass of the update has these log-probabilities.
    """

    skip_dead_groups = False
    importance_sampling_cap: float | None = None
    """The maximum importance weight of a token; None turns the weights off."""
    drifts: list[Drift] | None = None
    """Receives the drift of each micro-batch."""
    _part: dict[str, Any] | None = None
    """The rows whose loss is being computed."""
    _owners: Tensor
    _sampled: Sequence[Sequence[Sampled]]
    """For each row, the answers of the model in it."""
    _tokens: Tensor
    """The number of tokens of the step's rows on this process."""

    def columns_of(self, played: StepRows, pad: int, micro_batches: int) -> dict[str, Any]:
        """Returns the columns of TRL's `rollout_func`: those of the rows, and `engine_reward` by rollout.

        Rows of the token `pad`, without a sampled one, fill up the equal micro-batches that TRL cuts the step into.
        There are never fewer rows than rollouts: TRL shows the row of a rollout that was not scored.
        """
        filler: CompletionRow = {"prompt_ids": [pad], "completion_ids": [pad], "env_mask": [0], "logprobs": [0.0]}
        wanted = max(len(played.rows), len(played.rewards))
        missing = wanted + -wanted % micro_batches - len(played.rows)
        rows = [*played.rows, *[filler] * missing]
        # A filler belongs to an extra rollout, which `_generate_and_score_completions` adds after the others.
        owners = [*played.owners, *[len(played.rewards)] * missing]
        self._owners = torch.tensor(owners, device=self.accelerator.device)
        self._sampled = [*played.sampled, *[()] * missing]
        tokens = sum(len(row["prompt_ids"]) + len(row["completion_ids"]) for row in played.rows)
        self._tokens = torch.tensor([tokens], device=self.accelerator.device)
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in filler}
        return {**columns, "engine_reward": list(played.rewards)}

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Plays and scores a step as TRL does; gives each row the advantage of its rollout and counts the rows.

        TrainingError if a mask does not match the sampled ids.
        """
        before = self.state.num_input_tokens_seen
        output = super()._generate_and_score_completions(inputs)
        self._check_masks(output)
        # TRL leaves out the tokens of the user and the tools, and counts the rows that only fill up a micro-batch.
        every: Any = self.accelerator.gather(self._tokens)
        self.state.num_input_tokens_seen = before + int(every.sum())
        self._metrics["train"]["num_tokens"] = [self.state.num_input_tokens_seen]
        advantages: Tensor = output["advantages"]
        output["advantages"] = torch.cat([advantages, advantages.new_zeros(1)])[self._owners]
        output["scored_rows"] = (self._owners < len(advantages)).sum()
        return output

    def _check_masks(self, batch: dict[str, Any]) -> None:
        """Raises TrainingError if the ids that would train differ from those that were sampled for the rows of a step.

        `batch` has TRL's masks and ids, [rows, tokens], with padding before the prompts and after the completions. DAPO
        leaves out rows whose last answer was truncated.
        """
        mask = (batch["completion_mask"] * batch["tool_mask"]).bool().cpu()
        lengths, ids = batch["prompt_mask"].sum(1).tolist(), batch["completion_ids"].cpu()
        for row, sampled in enumerate(self._sampled):
            places = mask[row].nonzero()[:, 0]
            trained = dict(zip((places + lengths[row]).tolist(), ids[row][places].tolist(), strict=True))
            if trained or not self.mask_truncated_completions:
                check_trained(trained, sampled)

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Tensor, attention_mask: Tensor, logits_to_keep: int, *args: Any, **rest: Any
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Scores rows of similar length together, without the padding that the longest row of a step would cause.

        `input_ids` and `attention_mask` are [rows, prompt + logits_to_keep]: the prompts, and the completions with
        padding after them. Returns the same as TRL's method: the log-probabilities of the completions' tokens (natural
        logarithms, float32), and with `compute_entropy` the entropies of the model there (in nats), both
        [rows, logits_to_keep] and 0 at the padding. With `compute_aux_loss` it also returns the loss that balances
        experts, one number. Values that were not requested are None.
        """
        score = super()._get_per_token_logps_and_entropies
        max_rows = rest.pop("batch_size", None) or len(input_ids)
        prompt = input_ids.shape[1] - logits_to_keep
        lengths = attention_mask[:, prompt:].sum(1).tolist()
        logps = input_ids.new_zeros(len(input_ids), logits_to_keep, dtype=torch.float32)
        entropies = torch.zeros_like(logps) if rest.get("compute_entropy") else None
        losses = []
        for rows in similar_lengths(lengths, max_rows):
            chosen, length = torch.tensor(rows, device=input_ids.device), max(1, max(lengths[row] for row in rows))
            ids, mask = input_ids[chosen, : prompt + length], attention_mask[chosen, : prompt + length]
            scored, spread, loss = score(model, ids, mask, length, *args, **rest)
            width = (0, logits_to_keep - length)
            logps = logps.index_add(0, chosen, torch.nn.functional.pad(scored.float(), width))
            if entropies is not None and spread is not None:
                entropies = entropies.index_add(0, chosen, torch.nn.functional.pad(spread.float(), width))
            if loss is not None:
                losses.append(loss * len(rows) / len(input_ids))
        if self._part is not None:
            self._weigh(self._part, logps.detach())
        return logps, entropies, torch.stack(losses).sum() if losses else None

    def _weigh(self, part: dict[str, Any], scored: Tensor) -> None:
        """Multiplies the advantages of a part's rows with the weights of its tokens, and adds its drift to `drifts`.

        `scored` are the log-probabilities of the completions' tokens before the update, [rows, tokens]. The advantages
        become [rows, tokens]: TRL computes the loss with them after it has scored the rows.
        """
        sampled = part["sampling_per_token_logps"]
        mask = part["completion_mask"].bool() & part.get("tool_mask", part["completion_mask"]).bool()
        difference = (scored - sampled).masked_fill(~mask, 0.0)
        ratio, cap = difference.exp(), self.importance_sampling_cap
        if self.drifts is not None:
            size, given = difference[mask].abs(), ratio[mask]
            truncated = None if cap is None else float((given > cap).float().mean())
            drift = Drift(float(size.mean()), float(size.max()), float(given.mean()), float(given.max()), truncated)
            self.drifts.append(drift)
        if cap is not None:
            part["advantages"] = part["advantages"][:, None] * ratio.clamp(max=cap)

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
        """Returns the loss of a micro-batch, one number: TRL's loss over the rows that can be learned from.

        Rows without a sampled token are left out, and with `skip_dead_groups` also the rows of groups without a
        difference in reward, which have only the KL term. In `inputs` the advantages are [rows], and 0 for such a
        group; `scored_rows` counts the rows of the step; other tensors are [rows, tokens] or single numbers.
        """
        sampled = inputs["completion_mask"] * inputs.get("tool_mask", 1)
        kept = sampled.sum(1) > 0
        if self.skip_dead_groups:
            kept &= inputs["advantages"] != 0
        if not kept.any():
            return self._nothing_to_learn(model, inputs, sampled.sum(1))
        total = torch.zeros((), device=kept.device)
        parts = kept.nonzero()[:, 0].split(self.args.per_device_train_batch_size)
        for number, rows in enumerate(parts, 1):
            self._part = _picked(inputs, rows)
            loss = super()._compute_loss(model, self._part)
            self._part = None
            if self.loss_type != "dapo":  # TRL's mean over the rows of this part becomes a mean over the step's
                loss = loss * len(rows) * self.current_gradient_accumulation_steps / inputs["scored_rows"]
            if number < len(parts):  # more rows than a micro-batch has room for, one part after the other
                self.accelerator.backward(loss)
                loss = loss.detach()
            total = total + loss
        return total

    def _nothing_to_learn(self, model: Any, inputs: dict[str, Any], sampled: Tensor) -> Tensor:
        """Returns a loss of 0 with a gradient of 0, from the shortest row with a sampled token if there is one.

        `sampled` counts the sampled tokens, [rows]. A row without any says nothing about the model, so TRL's metrics of
        it are dropped.
        """
        known = {name: len(values) for name, values in self._metrics["train"].items()}
        lengths = inputs["completion_mask"].sum(1).masked_fill(sampled == 0, torch.iinfo(torch.long).max)
        loss = super()._compute_loss(model, _picked(inputs, lengths.argmin()[None])) * 0
        if not sampled.any():
            for name, values in self._metrics["train"].items():
                del values[known.get(name, 0) :]
        return loss


def _picked(inputs: dict[str, Any], rows: Tensor) -> dict[str, Any]:
    """Returns the given rows of a micro-batch; values that are not tensors of its rows stay unchanged."""
    count = len(inputs["advantages"])
    return {
        name: value[rows] if isinstance(value, Tensor) and value.ndim > 0 and len(value) == count else value
        for name, value in inputs.items()
    }


def similar_lengths(lengths: Sequence[int], max_rows: int) -> list[list[int]]:
    """Returns row numbers in chunks of at most `max_rows`; the longest row is at most 25 % longer than the shortest."""
    chunks: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        last = chunks[-1] if chunks else []
        if last and len(last) < max_rows and lengths[row] <= 1.25 * lengths[last[0]] + 16:
            last.append(row)
        else:
            chunks.append([row])
    return chunks
