from __future__ import annotations

import pytest

from rehearsal_trainer.processes.devices import select_gpu


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"CUDA_VISIBLE_DEVICES": "0"}),
        ({"CUDA_VISIBLE_DEVICES": "2,3"}, {"CUDA_VISIBLE_DEVICES": "2"}),
        ({"CUDA_VISIBLE_DEVICES": "GPU-8f1,GPU-2c0"}, {"CUDA_VISIBLE_DEVICES": "GPU-8f1"}),
        ({"CUDA_VISIBLE_DEVICES": ""}, {"CUDA_VISIBLE_DEVICES": ""}),
        ({"LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "0,1"}, {"LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "0,1"}),
    ],
)
def test_one_gpu_stays_visible(before: dict[str, str], after: dict[str, str]) -> None:
    environment = dict(before)
    select_gpu(environment)
    assert environment == after
