"""Where verl's losses have a gradient on our rows: at the ids that train, by place. No cluster is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from conftest import config_of
from test_rows import row_of
from torch import Tensor
from verl.utils import tensordict_utils as tu
from verl.utils.dataset.dataset_utils import DatasetPadMode, SFTTensorCollator
from verl.workers.config import ActorConfig
from verl.workers.utils.losses import ppo_loss, sft_loss

from rehearsal_trainer.backends.verl.agent_loop import outputs_of
from rehearsal_trainer.backends.verl.sft_rows import RenderedRows, write_rows
from rehearsal_trainer.backends.verl.station import Station
from rehearsal_trainer.backends.verl.station_plan import StationPlan
from rehearsal_trainer.engine import RolloutResult
from rehearsal_trainer.masks import Row
from rehearsal_trainer.models import load_tokenizer
from rehearsal_trainer.rollouts import PlayedRollout, RolloutRequest
from rehearsal_trainer.session import Sampling


def jagged(rows: Sequence[Tensor]) -> Tensor:
    """Rows of different lengths as one batch without padding, as verl has them."""
    return torch.nested.as_nested_tensor(list(rows), layout=torch.jagged)


def shifted(mask: list[int], by: int) -> list[int]:
    """A mask that is 1 `by` places too late."""
    return torch.tensor(mask).roll(by).tolist()


def scored_as_zero(lengths: Sequence[int]) -> list[Tensor]:
    """Log-probabilities of rows of these lengths, whose gradient is kept."""
    return [torch.zeros(length, requires_grad=True) for length in lengths]


def trained_places(logprobs: Sequence[Tensor]) -> list[list[int]]:
    """The places of the ids that a loss learned from: a log-probability at a place is that of the next id."""
    return [[] if row.grad is None else (row.grad.nonzero()[:, 0] + 1).tolist() for row in logprobs]


@pytest.mark.parametrize("by", [0, 1, -1])
def test_sft_learns_at_the_places_of_the_rows(tmp_path: Path, by: int) -> None:
    rows = [
        Row([5, 6, 7, 8, 9], [0, 0, 1, 1, 0], [None] * 5),
        Row([5, 6, 7], [0, 1, 0], [None] * 3),
        Row([5, 6, 7, 8], [0, 0, 0, 1], [None] * 4),
    ]
    places = [[place for place, bit in enumerate(row.mask) if bit] for row in rows]
    write_rows([Row(row.ids, shifted(row.mask, by), row.logprobs) for row in rows], str(tmp_path / "rows.parquet"))
    read = RenderedRows(str(tmp_path / "rows.parquet"))
    batch = SFTTensorCollator(DatasetPadMode.NO_PADDING)([read[at] for at in range(len(read))])
    data = tu.get_tensordict(
        {name: batch[name] for name in ("input_ids", "loss_mask")}, {"dp_size": 1, "batch_num_tokens": 4}
    )
    logprobs = scored_as_zero([len(row.ids) for row in rows])
    loss, _ = sft_loss(None, {"log_probs": jagged(logprobs)}, data)  # pyright: ignore[reportArgumentType]
    loss.backward()
    assert (trained_places(logprobs) == places) == (by == 0)


@pytest.mark.parametrize("by", [0, 1, -1])
def test_grpo_learns_at_the_places_that_were_sampled(by: int) -> None:
    plan = StationPlan.of(config_of(algorithm="grpo"), None)
    station = Station(plan, None, load_tokenizer("tiny"))
    request = RolloutRequest("task", 0, "seed", Sampling(), plan.settings(False))
    rows = [row_of("stop", "stop"), row_of("stop"), row_of("stop", "stop", "stop")]
    places = [
        [place for each in row.sampled for place in range(each.place, each.place + len(each.ids))] for row in rows
    ]
    outputs = outputs_of(station, PlayedRollout(request, RolloutResult(1.0, "done", 2), rows, 1, 0), step=4)
    masks = [shifted(each.response_mask, by) for each in outputs]
    data = tu.get_tensordict(
        {
            "prompts": jagged([torch.tensor(each.prompt_ids) for each in outputs]),
            "responses": jagged([torch.tensor(each.response_ids) for each in outputs]),
            "response_mask": jagged([torch.tensor(mask) for mask in masks]),
            "old_log_probs": jagged([torch.zeros(len(mask)) for mask in masks]),
            "advantages": jagged([torch.ones(len(mask)) for mask in masks]),
        },
        {"dp_size": 1, "batch_num_tokens": sum(map(sum, masks)), "global_batch_size": len(rows)},
    )
    config = ActorConfig(strategy="fsdp2", rollout_n=1, ppo_micro_batch_size_per_gpu=1)
    logprobs = scored_as_zero([len(each.prompt_ids) + len(each.response_ids) for each in outputs])
    loss, _ = ppo_loss(config, {"log_probs": jagged(logprobs)}, data)
    loss.backward()
    assert (trained_places(logprobs) == places) == (by == 0)
