"""GRPO: learns from rollouts with a simulated user and real tools, rewarded only when the work is truly done.

    python -m rehearsal_trainer grpo --config grpo.json
    python -m rehearsal_trainer grpo --config grpo.json --resume

One page: start the gateway over the live model and the engine, then for each optimizer step play a group of
rollouts for each of its tasks and let TRL do the rest. MUA-RL (arXiv 2508.18669): group-relative advantages, a
binary reward, KL to the reference 0.001, loss only on what the model sampled. What it leaves out: dynamic
sampling (groups that are all right or all wrong stay in the batch), several updates per batch of rollouts,
several rows per rollout (a rollout whose history changed is not rewarded), overlong-answer shaping.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rehearsal_trainer import alarms
from rehearsal_trainer.configuration import read_config
from rehearsal_trainer.failures import ConfigurationError, TrainingError

if TYPE_CHECKING:
    from rehearsal_trainer.backends.trl import GrpoPlan, Measurements, Optimization, Rollouts
    from rehearsal_trainer.progress import RunFolder
    from rehearsal_trainer.rollouts import RolloutWorker
    from rehearsal_trainer.session import Sampling


@dataclass(frozen=True)
class Config:
    """Everything that a GRPO run depends on."""

    domain: str
    """Folder with domain.yaml, absolute or relative to engine_cwd."""
    run: str
    """The run folder."""
    profile: str = "cpu"
    model: str = "smollm2"
    dialect: Literal["compact", "hermes"] = "compact"
    engine_command: list[str] = field(default_factory=lambda: ["node", "dist/rehearsal.mjs", "serve", "--stdio"])
    engine_cwd: str = "."
    split: str = "train"
    user: str | dict[str, Any] = "agenda"
    agent: str | None = None
    """The file (*.agent.yaml) of an agent of one's own in the seat; the model that is trained is lent to it."""
    basis: Literal["train", "evaluate"] = "train"
    turn_cap: int | None = None
    steps: int = 100
    tasks_per_step: int = 32
    group_size: int = 8
    micro_batch: int = 8
    learning_rate: float = 1e-6
    warmup_steps: int = 0
    beta: float = 0.001
    epsilon: float = 0.2
    loss_type: str = "dapo"
    """"dapo" is the mean over all tokens of the step, verl's token-mean."""
    skip_dead_groups: bool = False
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 1024
    """Per answer."""
    context: int = 32768
    lora_rank: int = 0
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    gradient_checkpointing: bool = True
    concurrency: int = 64
    rollout_timeout_s: float = 1800
    save_every: int = 10
    keep_checkpoints: int = 3
    seed: int = 1
    threads: int | None = None
    user_prices: dict[str, float] = field(default_factory=dict)
    """What a million tokens of the user's model cost, {"input": ..., "output": ...}; the metric `cost` adds them up."""
    alarms: dict[str, float] = field(default_factory=dict)
    """Limits of the alarms that are not the default ones; alarms.py says what each is."""
    pause_on: list[str] = field(default_factory=list)
    """Alarms that pause the run: it writes a checkpoint and ends, and --resume goes on."""
    tensorboard: bool = False
    """Writes the metrics into event files of TensorBoard, too."""

    def __post_init__(self) -> None:
        # config.json holds the limits that a run has, not only those that were given.
        object.__setattr__(self, "alarms", alarms.completed(self.alarms))
        alarms.known(self.pause_on)
        if wrong := sorted(set(self.user_prices) - {"input", "output"}):
            raise ConfigurationError(f"user_prices: there is no {wrong[0]}; known are input and output")


_CPU = {
    "tasks_per_step": 4,
    "micro_batch": 4,
    "learning_rate": 5e-5,
    "lora_rank": 16,
    "max_tokens": 128,
    "context": 2048,
    "dtype": "float32",
    "gradient_checkpointing": False,
    "skip_dead_groups": True,
    "concurrency": 32,
    "rollout_timeout_s": 600,
    "save_every": 5,
}

PROFILES = {
    "paper": {},
    "cpu": _CPU,
    # Seconds a step, to see that everything works.
    "trial": {**_CPU, "tasks_per_step": 2, "group_size": 4, "max_tokens": 32},
}


def main(argv: Sequence[str]) -> int:
    """Runs GRPO; the model lies in <run>/checkpoints/final (an adapter, where LoRA trained)."""
    config, resume = read_config(Config, PROFILES, argv, "Learns from rollouts with the engine.", check_sizes)
    run_grpo(config, resume)
    return 0


def run_grpo(config: Config, resume: bool = False) -> Path:
    """The whole run; returns the folder of the trained model (or of the last checkpoint, when stopped)."""
    import torch

    from rehearsal_trainer.backends.trl import Measurements, grpo_trainer, save, train
    from rehearsal_trainer.models import dtype_named, load_model, load_tokenizer
    from rehearsal_trainer.progress import RunFolder
    from rehearsal_trainer.rollouts import RolloutWorker
    from rehearsal_trainer.serving import gateway_over

    if config.threads:
        torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)

    with RunFolder(config.run, "grpo", config, resume) as run:
        run.stop_on_signals()
        run.watch(config.alarms, config.pause_on)
        if config.tensorboard:
            run.write_event_file()

        # Model, gateway over the live weights, engine.
        tokenizer = load_tokenizer(config.model)
        model = load_model(config.model, dtype_named(config.dtype), trainable_adapter=True)
        gateway = gateway_over(
            model, tokenizer, config.model, config.dialect, sampling_of(config), config.context, 2 * config.concurrency
        )
        with RolloutWorker(gateway, config.engine_command, config.engine_cwd, run.log) as worker:
            tasks = [task["id"] for task in worker.tasks(config.domain, config.split)]
            order = task_order(tasks, config.steps * config.tasks_per_step, config.seed)

            # Train, save, say so.
            measured = Measurements()
            play = step_player(config, run, worker, measured)
            plan, grpo = plans_of(config, run)
            trainer = grpo_trainer(model, tokenizer, order, play, plan, grpo, run, measured)
            gateway.generator.decoder.adopt(trainer.model)
            print(
                f"GRPO: {len(tasks)} tasks, {config.steps} optimizer steps of {rows_per_step(config)} rollouts",
                file=sys.stderr,
                flush=True,
            )
            reached = train(trainer, run.latest_checkpoint() if resume else None)
            if reached < config.steps:
                run.ended_early(reached)
                return run.checkpoints / f"checkpoint-{reached}"
            save(trainer, tokenizer, run.checkpoints / "final", merge=False)
            run.event("finished", step=reached, path="final")
            return run.checkpoints / "final"


def rows_per_step(config: Config) -> int:
    """Rollouts of one optimizer step."""
    return config.tasks_per_step * config.group_size


def check_sizes(config: Config) -> None:
    """Refuses sizes that leave a part of a micro-batch over."""
    if rows_per_step(config) % config.micro_batch:
        raise ConfigurationError(
            f"micro_batch: {config.micro_batch} does not divide tasks_per_step x group_size = {rows_per_step(config)}"
        )


def sampling_of(config: Config) -> Sampling:
    """How the model is sampled in rollouts."""
    from rehearsal_trainer.session import Sampling

    return Sampling(config.temperature, config.top_p, config.max_tokens)


def plans_of(config: Config, run: RunFolder) -> tuple[Optimization, GrpoPlan]:
    """The numbers of the optimizer, and those of GRPO."""
    from rehearsal_trainer.backends.trl import GrpoPlan, Optimization

    optimization = Optimization(
        run=run.checkpoints, steps=config.steps, learning_rate=config.learning_rate, warmup_steps=config.warmup_steps,
        micro_batch=config.micro_batch, accumulation=rows_per_step(config) // config.micro_batch,
        save_every=config.save_every, keep_checkpoints=config.keep_checkpoints, seed=config.seed,
        gradient_checkpointing=config.gradient_checkpointing, lora_rank=config.lora_rank,
    )  # fmt: skip
    grpo = GrpoPlan(
        config.group_size, config.temperature, config.beta, config.epsilon, config.loss_type, config.skip_dead_groups
    )
    return optimization, grpo


def step_player(config: Config, run: RunFolder, worker: RolloutWorker, measured: Measurements) -> Rollouts:
    """What plays an optimizer step: a row of tokens and a reward for each of its rollouts."""
    from rehearsal_trainer.masks import CompletionRow
    from rehearsal_trainer.rollouts import Idle, RolloutRequest, RolloutSettings, measure, write_summary

    gateway, sampling = worker.gateway, sampling_of(config)
    settings = RolloutSettings.of(config)

    def play(prompts: Sequence[str], step: int) -> tuple[list[CompletionRow], list[float | None]]:
        started = time.monotonic()
        gateway.generator.refresh()
        before = gateway.generator.sampled_tokens
        folder = run.trajectories(step)
        requests = [
            RolloutRequest(
                task=task,
                member=member,
                seed=f"{config.seed}/step-{step}/{task}/member-{member}",
                sampling=sampling,
                recording=str((folder / f"{task}.{member}.traj.jsonl").resolve()),
            )
            for task, member in with_members(prompts)
        ]
        idle = Idle(config.alarms["idle_s"], lambda left: run.raise_alarm(alarms.stalled(step, left, config.alarms)))
        played = worker.play(settings, requests, idle=idle)
        write_summary(folder, played)
        seconds = time.monotonic() - started
        sampled = gateway.generator.sampled_tokens - before
        measured.values |= measure(played)
        measured.values |= {"rollout_seconds": seconds, "tokens_per_second": sampled / seconds}
        if config.user_prices:
            measured.values["cost"] = cost_of(measured.values, config.user_prices)
        if all(rollout.result.reward is None for rollout in played):
            failure = next((rollout.result.failure for rollout in played if rollout.result.failure), None)
            raise TrainingError(
                f"no rollout of step {step} could be scored: {failure.message if failure else 'no reason given'}"
            )
        return training_rows(played, gateway.chat.end_id)

    return play


def cost_of(used: Mapping[str, float], prices: Mapping[str, float]) -> float:
    """What the tokens of the model in the user's seat cost."""
    return sum(used.get(f"user_{kind}_tokens", 0.0) * price for kind, price in prices.items()) / 1e6


def task_order(tasks: Sequence[str], length: int, seed: int) -> list[str]:
    """The tasks of the whole run: one shuffled pass after the other, the same for the same seed."""
    order: list[str] = []
    stream = random.Random(f"task-order/{seed}")
    while len(order) < length:
        order += stream.sample(list(tasks), len(tasks))
    return order[:length]


def with_members(prompts: Sequence[str]) -> list[tuple[str, int]]:
    """Numbers each task's rollouts of a step from 0, also when a task stands in two of its groups."""
    counts: dict[str, int] = {}
    numbered = []
    for task in prompts:
        counts[task] = counts.get(task, -1) + 1
        numbered.append((task, counts[task]))
    return numbered


def training_rows(played: Sequence[Any], end_id: int) -> tuple[list[Any], list[float | None]]:
    """One row and reward per rollout. What cannot train keeps its place with reward None, which TRL leaves out.

    The prompt is the system message alone, the same ids for the whole domain; the first user message stands in
    the completion with mask 0, like every later one.
    """
    from rehearsal_trainer.masks import split_at, without_tail

    rows, rewards = [], []
    for rollout in played:
        usable = len(rollout.rows) == 1
        if usable:
            kept = rollout.rows[0]
            rows.append(split_at(without_tail(kept.row), kept.system_length or 1))
        else:
            rows.append({"prompt_ids": [end_id], "completion_ids": [end_id], "env_mask": [0], "logprobs": [0.0]})
        rewards.append(rollout.result.reward if usable else None)
    return rows, rewards
