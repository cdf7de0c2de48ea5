"""Two optimizer steps of every training profile on this machine's device, for bench/gpu.ts. Needs no network.

    python bench/gpu_training.py NODE ENGINE DOMAIN MODEL TASKS GROUP MAX_TOKENS

Each run is a process of `rehearsal_trainer` with the settings of its profile and only smaller sizes: SFT learns from
recordings of the gold seat, GRPO from rollouts of the model. The profile gpu, which computes in bfloat16 where the GPU
can, is repeated in float32, for the difference between the log-probabilities of sampler and trainer. TRL's plain loop
samples with transformers' `generate` one answer to the policy and takes the same number of steps over as many answers.

MODEL is a model that the trainer knows, or `qwen3-0.6b`: random weights in that shape, with the tokenizer of `tiny`.
Such a model never ends an answer, so every machine does the same work.

Prints one line of JSON: the device, the versions, and for each run its metrics of the last step.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
os.environ.update(HF_HUB_OFFLINE="1")

import torch
from rehearsal_trainer.models.loading import load_model, load_tokenizer
from rehearsal_trainer.values.lines import read_lines
from transformers import AutoModelForCausalLM, Qwen3Config

PROFILES = ("gpu", "paper", "cpu", "trial")
STEPS = 2
TURN_CAP = 4
"""A model with random weights never ends a conversation."""
SHAPES: dict[str, dict[str, Any]] = {
    "qwen3-0.6b": {
        "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
        "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": True, "max_position_embeddings": 40960,
    },
}  # fmt: skip
"""Random models that are made for a run, by name."""


def main(node: str, engine: str, domain: str, model: str, tasks: str, group: str, max_tokens: str) -> None:
    """Runs all measurements and prints them."""
    sizes = {"tasks_per_step": int(tasks), "group_size": int(group), "micro_batch": 2, "max_tokens": int(max_tokens)}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if model in SHAPES:
            model = random_model(SHAPES[model], folder / "model")
        gold = folder / "gold"
        seats = ["--agent", "gold", "--user", "agenda", "--split", "train", "--trials", "1"]
        subprocess.run([node, engine, "eval", domain, *seats, "--out", str(gold)], check=True, capture_output=True)
        common: dict[str, Any] = {
            "model": model, "dialect": "compact", "context": 4096, "steps": STEPS, "evaluate_every": 0,
            "save_every": STEPS,
        }  # fmt: skip
        played = {
            **sizes, "domain": domain, "engine_command": [node, engine, "serve", "--stdio"], "engine_cwd": scratch,
            "skip_dead_groups": False, "turn_cap": TURN_CAP,
        }  # fmt: skip
        learned = {"recordings": [str(gold)], "batch": 4, "micro_batch": 2}
        configurations: dict[str, tuple[str, dict[str, Any]]] = {}
        for profile in PROFILES:
            configurations[f"grpo {profile}"] = "grpo", {**common, **played, "profile": profile}
            configurations[f"sft {profile}"] = "sft", {**common, **learned, "profile": profile}
        in_float32 = {**common, **played, "profile": "gpu", "dtype": "float32"}
        configurations["grpo gpu float32"] = "grpo", in_float32
        runs: dict[str, Any] = {}
        for name, (kind, values) in configurations.items():
            report(runs, name, last_step(kind, folder / name.replace(" ", "-"), values))
        policy = (Path(domain) / "policy.md").read_text(encoding="utf-8")
        report(runs, "plain", plain_loop(model, policy, folder / "plain", **sizes))
    print(json.dumps({**device(), "runs": runs}))


def random_model(shape: dict[str, Any], folder: Path) -> str:
    """Writes a model with random weights in bfloat16 and the tokenizer of `tiny`. Returns its folder."""
    tokenizer = load_tokenizer("tiny")
    torch.manual_seed(0)
    ids = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    config = Qwen3Config(**shape, **ids, vocab_size=len(tokenizer))
    AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def report(runs: dict[str, Any], name: str, metrics: dict[str, Any]) -> None:
    """Adds the metrics of a run, and prints them at once: a run takes up to a minute."""
    runs[name] = metrics
    print(f"{name}: {json.dumps(metrics)}", file=sys.stderr, flush=True)


def last_step(kind: str, run: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Trains in a separate process. Returns the metrics of the last step, or `failure` with the end of its output."""
    run.mkdir()
    configuration = run.with_suffix(".json")
    configuration.write_text(json.dumps({**values, "run": str(run)}))
    command = [sys.executable, "-m", "rehearsal_trainer", kind, "--config", str(configuration)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"failure": f"exit code {done.returncode}: {done.stderr.strip()[-500:]}"}
    *_, before, last = read_lines(run / "metrics.jsonl")
    if kind == "grpo":
        rollouts = read_lines(run / "trajectories" / f"step-{STEPS:06d}" / "rollouts.jsonl")
        whole = sum(each["seconds"] for each in rollouts)
        models = sum(each["metrics"].get(name, 0.0) for each in rollouts for name in ("agentSeconds", "userSeconds"))
        last["engine_share"] = (1 - models / whole) * last["rollout_seconds"] / last["step_seconds"]
    tokens = last["tokens"] - before["tokens"]
    last["update_tokens_per_second"] = tokens / last.get("update_seconds", last["step_seconds"])
    return last


def plain_loop(
    model: str, policy: str, run: Path, tasks_per_step: int, group_size: int, micro_batch: int, max_tokens: int
) -> dict[str, float]:
    """TRL's own GRPO with transformers' `generate`, one answer of at most `max_tokens` to the policy, all weights."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer  # noqa: TID251

    on_gpu = torch.cuda.is_available()
    sampled: list[int] = []
    seconds: list[float] = []

    def reward(completion_ids: list[list[int]], **_: Any) -> list[float]:
        sampled.append(sum(map(len, completion_ids)))
        return [float(at % 2) for at in range(len(completion_ids))]

    class Timed(GRPOTrainer):
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            began = time.monotonic()
            made = super()._generate_and_score_completions(inputs)
            seconds.append(time.monotonic() - began)
            return made

    rows = tasks_per_step * group_size
    config = GRPOConfig(
        output_dir=str(run), max_steps=STEPS, per_device_train_batch_size=micro_batch,
        gradient_accumulation_steps=rows // micro_batch, num_generations=group_size, max_completion_length=max_tokens,
        gradient_checkpointing=True, bf16=on_gpu, report_to="none", save_strategy="no", disable_tqdm=True,
        use_cpu=not on_gpu, dataloader_pin_memory=False,
    )  # fmt: skip
    trainer = Timed(
        model=load_model(model, torch.float32, True),
        reward_funcs=reward,
        args=config,
        train_dataset=Dataset.from_list([{"prompt": f"{policy}\n{at}"} for at in range(STEPS * tasks_per_step)]),
        processing_class=load_tokenizer(model),
    )
    began = time.monotonic()
    trainer.train()
    whole = time.monotonic() - began
    half = len(seconds) // STEPS  # the last step is the one that is reported, as for the other runs
    sampling, tokens = sum(seconds[-half:]), sum(sampled[-half:])
    return {"tokens_per_second": tokens / sampling, "update_seconds": (whole - sum(seconds)) / STEPS}


def device() -> dict[str, Any]:
    """Returns the device, its memory and the versions of libraries."""
    on_gpu = torch.cuda.is_available()
    return {
        "device": torch.cuda.get_device_name(0) if on_gpu else "CPU",
        "memory": torch.cuda.get_device_properties(0).total_memory if on_gpu else None,
        "versions": {
            "torch": torch.__version__,
            **{name: metadata.version(name) for name in ("transformers", "trl", "peft")},
            "cuda": torch.version.cuda,
        },
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
