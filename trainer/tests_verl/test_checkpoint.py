"""verl's own merger makes a model folder of a checkpoint in verl's layout; without a GPU, so of one shard."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from test_job import VERL_BEGAN, Head, events_of, head, said, stopped, until_written  # noqa: F401
from waiting import LIMIT_S

from rehearsal_trainer.models.loading import load_model, load_tokenizer

SCRIPT = Path(__file__).resolve().parents[1] / "rehearsal_trainer" / "backends" / "verl" / "checkpoint.py"


def saved(run: Path, step: int, lora: bool = False) -> Any:
    """The tiny model as verl's checkpoint manager leaves it after a step; returns the model."""
    actor = run / "checkpoints" / f"global_step_{step}" / "actor"
    (actor / "huggingface").mkdir(parents=True)
    torch.manual_seed(step)
    model = load_model("tiny", torch.float32)
    model.config.save_pretrained(actor / "huggingface")
    load_tokenizer("tiny").save_pretrained(actor / "huggingface")
    if lora:
        model = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", task_type="CAUSAL_LM"))
        (actor / "lora_train_meta.json").write_text('{"r": 4, "lora_alpha": 8, "task_type": "CAUSAL_LM"}')
    torch.save(model.state_dict(), actor / "model_world_size_1_rank_0.pt")
    (actor / "fsdp_config.json").write_text('{"FSDP_version": 2, "world_size": 1}')
    (run / "checkpoints" / "latest_checkpointed_iteration.txt").write_text(str(step))
    return model


def told(run: Path, step: int, most: int = 10**9) -> tuple[dict[str, Any], list[str]]:
    command = [sys.executable, str(SCRIPT), str(run), str(step), str(most)]
    first, *pieces = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return json.loads(first.removeprefix("@checkpoint ")), pieces


def test_a_model_is_merged_once_and_told_where_it_is_small(tmp_path: Path) -> None:
    assert told(tmp_path, 0) == ({"known": []}, [])
    saved(tmp_path, 2)
    model = saved(tmp_path, 4)
    (tmp_path / "checkpoints" / "global_step_6" / "actor").mkdir(parents=True)  # verl was stopped while it wrote
    assert told(tmp_path, 6) == ({"known": ["checkpoint-2", "checkpoint-4"]}, [])
    found, pieces = told(tmp_path, 0)
    assert found["name"] == "checkpoint-4" and not found["adapter"] and pieces
    merged = load_model(found["folder"], torch.float32)
    for name, value in model.state_dict().items():
        torch.testing.assert_close(merged.state_dict()[name], value.bfloat16().float())
    written = (Path(found["folder"]) / "config.json").stat().st_mtime_ns
    assert told(tmp_path, 4, most=1) == (found, [])
    assert (Path(found["folder"]) / "config.json").stat().st_mtime_ns == written


def test_an_adapter_is_told_without_its_base(tmp_path: Path) -> None:
    saved(tmp_path, 3, lora=True)
    found, _ = told(tmp_path, 3)
    assert found["adapter"]
    assert {"adapter_config.json", "adapter_model.safetensors", "tokenizer.json"} <= set(found["files"])
    assert not {"config.json", "model.safetensors"} & set(found["files"])
    assert json.loads((Path(found["folder"]) / "lora_adapter" / "adapter_config.json").read_text())["r"] == 4


def test_a_shard_that_is_missing_is_said(tmp_path: Path) -> None:
    saved(tmp_path, 2)
    (tmp_path / "checkpoints" / "global_step_2" / "actor" / "model_world_size_1_rank_0.pt").unlink()
    found, _ = told(tmp_path, 2)
    assert "model_world_size_1_rank_0.pt" in found["error"]
    assert not (tmp_path / "checkpoints" / "global_step_2" / "model").exists()


@pytest.mark.parametrize("lora", [False, True])
def test_a_checkpoint_is_fetched_from_a_real_head(head: Head, tmp_path: Path, lora: bool) -> None:  # noqa: F811
    far, run = tmp_path / "storage" / "run", tmp_path / "run"
    saved(far, 2, lora)
    run.mkdir()
    (run / "launch.json").write_text('{"model": "tiny"}')
    (run / "config.json").write_text(json.dumps({"kind": "grpo", "run": str(far)}))
    (run / "target.json").write_text(json.dumps({"target": head.target}))
    assert "it has checkpoint-2" in said(head.rehearsal("fetch", run, "--checkpoint", "checkpoint-9"))
    fetching = head.rehearsal("fetch", run)
    out, words = fetching.communicate(timeout=LIMIT_S)
    assert fetching.returncode == 0, words
    assert out.strip() == str(run / "checkpoints" / "checkpoint-2")
    there = saved(tmp_path / "again", 2, lora).state_dict()
    here = load_model(out.strip(), torch.float32, trainable_adapter=lora).state_dict()
    assert here.keys() == there.keys()
    for name, value in there.items():
        is_brought = not lora or "lora_" in name  # an adapter's base is that of this machine
        torch.testing.assert_close(here[name], value.bfloat16().float() if is_brought else value)


def test_a_run_goes_on_from_its_checkpoint_as_another_job(head: Head, tmp_path: Path) -> None:  # noqa: F811
    """Until verl begins: what it loads then is on a GPU. The checkpoint has verl's layout, and is laid there."""
    far, run = tmp_path / "storage" / "run", tmp_path / "run"
    following = head.train(run)
    until_written(following, run / "log.txt", VERL_BEGAN)
    stopped(head, run, following)
    first = json.loads((run / "ray.json").read_text())["job"]
    saved(far, 2)
    resuming = head.rehearsal("resume", run)
    until_written(resuming, run / "events.jsonl", '"data"', times=2)
    assert json.loads((run / "ray.json").read_text())["job"] != first
    words = stopped(head, run, resuming)
    assert [event["step"] for event in events_of(run) if event["type"] == "resumed"] == [2], words
    assert [event["type"] for event in events_of(run)] == ["started", "data", "stopped", "resumed", "data", "stopped"]
