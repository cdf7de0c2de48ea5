"""QLoRA on the tiny model, with bitsandbytes on this machine's CPU."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from configs import evaluation_config, gold_recordings, grpo_config, lines, sft_config
from safetensors.torch import load_file

from rehearsal_trainer.backends import trl as backend
from rehearsal_trainer.backends.verl.cluster_config import PROFILES, ClusterConfig, check_cluster
from rehearsal_trainer.commands.evaluate import run_evaluation
from rehearsal_trainer.commands.grpo import run_grpo
from rehearsal_trainer.commands.sft import run_sft
from rehearsal_trainer.grpo.config import ALGORITHMS
from rehearsal_trainer.models.loading import is_quantized, load_model
from rehearsal_trainer.models.locations import QUANTIZATION, quantization_of
from rehearsal_trainer.runs import preflight
from rehearsal_trainer.runs.preflight import Size
from rehearsal_trainer.settings.configuration import from_values
from rehearsal_trainer.values.failures import ConfigurationError

needs_bitsandbytes = pytest.mark.skipif(
    importlib.util.find_spec("bitsandbytes") is None, reason="bitsandbytes is not installed"
)
IDS = torch.tensor([[1, 9690, 198, 2683, 359, 253, 5356, 5646, 2, 198]])


def adapter_in(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "adapter_model.safetensors")


@needs_bitsandbytes
def test_grpo_takes_two_steps_over_4_bit_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[Any] = []
    train = backend.train

    def watched(trainer: Any, resume_from: Path | None) -> int:
        trained.append(trainer.model)
        return train(trainer, resume_from)

    monkeypatch.setattr(backend, "train", watched)
    final = run_grpo(grpo_config(tmp_path / "run", quantization="4bit"))
    first, second = lines(tmp_path / "run" / "metrics.jsonl")
    assert first["grad_norm"] > 0 and second["grad_norm"] > 0
    assert second["kl"] > 0
    # The rows were sampled by the quantized model, too, so sampler and trainer agree.
    assert max(first["drift_max"], second["drift_max"]) < 1e-3
    linear = trained[0].get_base_model().model.layers[0].self_attn.q_proj.base_layer
    assert (type(linear).__name__, linear.weight.dtype) == ("Linear4bit", torch.uint8)
    assert linear.weight.quant_state.nested, "double quantization"
    saved = adapter_in(final)
    assert {value.dtype for value in saved.values()} == {torch.float32}
    # Loaded again by its name alone, the adapter is over 4-bit weights and computes what was trained.
    for folder in (final, tmp_path / "run" / "checkpoints" / "checkpoint-2"):
        assert quantization_of(str(folder), "auto") == "4bit"
        assert json.loads((folder / QUANTIZATION).read_text())["bnb_4bit_quant_type"] == "nf4"
    again = load_model(str(final), torch.float32, quantization="4bit").eval()
    assert is_quantized(again)
    assert torch.equal(again(IDS).logits, trained[0].eval()(IDS).logits)
    plain = load_model(str(final), torch.float32).eval()
    assert not torch.allclose(plain(IDS).logits, again(IDS).logits, atol=1e-4)


@pytest.mark.full
@needs_bitsandbytes
def test_sft_leaves_an_adapter_that_grpo_and_an_evaluation_continue_from(tmp_path: Path) -> None:
    recordings = gold_recordings(tmp_path / "recordings")
    final = run_sft(sft_config(tmp_path / "sft", recordings, quantization="4bit"))
    losses = [line["loss"] for line in lines(tmp_path / "sft" / "metrics.jsonl")]
    assert losses[-1] < losses[0]
    before = adapter_in(final)
    # A small step: what TRL would round away in bfloat16 reaches the adapter.
    after = adapter_in(run_grpo(grpo_config(tmp_path / "grpo", model=str(final), steps=1, learning_rate=1e-6)))
    changed = {name: (after[name] - value).abs().max().item() for name, value in before.items()}
    assert before.keys() == after.keys()
    assert 0 < max(changed.values()) < 1e-5
    assert lines(tmp_path / "grpo" / "metrics.jsonl")[0]["drift_max"] < 1e-3
    result = run_evaluation(evaluation_config(tmp_path / "evaluation", model=str(final)))
    assert result is not None


def test_only_an_adapter_trains_over_4_bit_weights(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="quantization: 4-bit weights cannot be trained, only an adapter"):
        preflight.check_quantization(grpo_config(tmp_path, quantization="4bit", lora_rank=0))


def test_a_missing_package_is_told_with_its_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "bitsandbytes" else found(name))
    with pytest.raises(ConfigurationError, match="quantization: 4-bit weights need the package bitsandbytes") as raised:
        preflight.check_quantization(grpo_config(tmp_path, quantization="4bit"))
    assert f'"{sys.executable}" -m pip install -r "{preflight.BITSANDBYTES}"' in str(raised.value)
    assert preflight.BITSANDBYTES.exists()


@needs_bitsandbytes
def test_a_device_without_4_bit_weights_is_told_before_weights_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bitsandbytes.supported_torch_devices", {"cuda"})
    with pytest.raises(ConfigurationError, match=r"bitsandbytes 0\.\S+ has no 4-bit weights for this device \(cpu\)"):
        preflight.check_quantization(grpo_config(tmp_path, quantization="4bit"))


def test_what_samples_or_trains_elsewhere_has_no_4_bit_weights(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="quantization: vLLM cannot sample from 4-bit weights here"):
        preflight.check_quantization(grpo_config(tmp_path, quantization="4bit", vllm_python=sys.executable))
    values = {"domain": "d", "run": "r", "model": "m", "profile": "paper", "quantization": "4bit"}
    with pytest.raises(ConfigurationError, match="quantization: verl trains no adapter over 4-bit weights"):
        check_cluster(from_values(ClusterConfig, PROFILES, values, ALGORITHMS))


def test_a_model_that_is_too_large_may_fit_in_4_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Qwen3 8B: of 8.19 billion parameters 6.95 billion are in linear layers, the rest in the embedding and the head.
    size = Size(8_190_735_360, 3_354_624, 6_945_767_424)
    monkeypatch.setattr(preflight, "device_memory", lambda _model: ("the GPU (24 GB)", 24 * 2**30))
    config = grpo_config(tmp_path, model="Qwen/Qwen3-8B", profile="gpu", dtype="float32")
    with pytest.raises(ConfigurationError, match="or set dtype to bfloat16, or set quantization to 4bit"):
        preflight.check_memory(config, size)
    preflight.check_memory(replace(config, quantization="4bit", dtype="bfloat16"), size)
    assert preflight.in_memory(replace(config, quantization="4bit", dtype="bfloat16"), size) == pytest.approx(
        6_945_767_424 * 0.516 + 2 * (8_190_735_360 - 6_945_767_424), rel=1e-3
    )


@needs_bitsandbytes
@pytest.mark.full
def test_the_estimate_is_what_the_weights_take(tmp_path: Path) -> None:
    model = load_model("smollm2", torch.float32, quantization="4bit")
    estimate = preflight.in_memory(
        grpo_config(tmp_path, model="smollm2", quantization="4bit"), preflight.NAMED["smollm2"]
    )
    assert estimate == pytest.approx(model.get_memory_footprint(), rel=0.02)
