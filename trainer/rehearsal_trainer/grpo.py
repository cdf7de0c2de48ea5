"""GRPO: learns from rollouts with a simulated user and real tools, rewarded only when the work is truly done.

    python -m rehearsal_trainer grpo --config grpo.json
    python -m rehearsal_trainer grpo --config grpo.json --resume

One page: start the gateway over the live model and the engine, then for each optimizer step play a group of
rollouts for each of its tasks and let TRL do the rest. MUA-RL (arXiv 2508.18669): group-relative advantages, a
binary reward, KL to the reference 0.001, loss only on what the model sampled; grpo_config.py has the numbers. What
it leaves out: DAPO's dynamic sampling (groups that are all right or all wrong are left out of the gradient, and no
others are played in their place), several updates per batch of rollouts, several rows per rollout (a rollout whose
history changed is not rewarded), overlong-answer shaping.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rehearsal_trainer.configuration import read_config
from rehearsal_trainer.failures import TrainingError
from rehearsal_trainer.grpo_config import ALGORITHMS, PROFILES, Config, check, rows_per_step

if TYPE_CHECKING:
    from rehearsal_trainer.backends.trl import GrpoPlan, Measurements, Optimization, Rollouts
    from rehearsal_trainer.evaluation import Evaluation
    from rehearsal_trainer.progress import RunFolder
    from rehearsal_trainer.rollouts import RolloutWorker
    from rehearsal_trainer.session import Sampling
    from rehearsal_trainer.task_sets import TaskSet


def main(argv: Sequence[str]) -> int:
    """Runs GRPO; the model lies in <run>/checkpoints/final (an adapter, where LoRA trained)."""
    config, resume = read_config(Config, PROFILES, argv, "Learns from rollouts with the engine.", check, ALGORITHMS)
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
    from rehearsal_trainer.task_sets import draw_order, trained_sets

    if config.threads:
        torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)

    with RunFolder(config.run, "grpo", config, resume) as run:
        run.stop_on_signals()

        # Model, gateway over the live weights, engine.
        tokenizer = load_tokenizer(config.model)
        model = load_model(config.model, dtype_named(config.dtype), trainable_adapter=True)
        gateway = gateway_over(
            model, tokenizer, config.model, config.dialect, sampling_of(config), config.context, 2 * config.concurrency
        )
        with RolloutWorker(gateway, config.engine_command, config.engine_cwd, run.log) as worker:
            trained = trained_sets(config, worker)
            steps = steps_of(config, sum(len(each.tasks) for each in trained))
            evaluation = evaluation_of(config, run, worker, trained, steps)
            order = draw_order(trained, steps * config.tasks_per_step, config.seed)

            # Train, save, say so.
            measured = Measurements()
            play = step_player(config, run, worker, trained, measured)
            plan, grpo = plans_of(config, run, steps)
            trainer = grpo_trainer(model, tokenizer, order, play, plan, grpo, run, measured, evaluation)
            gateway.generator.decoder.adopt(trainer.model)
            print(
                f"GRPO: {sum(len(each.tasks) for each in trained)} tasks, {steps} optimizer steps of "
                f"{rows_per_step(config)} rollouts",
                file=sys.stderr,
                flush=True,
            )
            reached = train(trainer, run.latest_checkpoint() if resume else None)
            if reached < steps:
                run.event("stopped", step=reached)
                return run.checkpoints / f"checkpoint-{reached}"
            save(trainer, tokenizer, run.checkpoints / "final", merge=False)
            run.event("finished", step=reached, path="final")
            return run.checkpoints / "final"


def steps_of(config: Config, tasks: int) -> int:
    """Optimizer steps: as many as asked for, else as many as the epochs have."""
    return config.steps or max(1, round(config.epochs * tasks / config.tasks_per_step))


def evaluation_of(
    config: Config, run: RunFolder, worker: RolloutWorker, trained: Sequence[TaskSet], steps: int
) -> Evaluation | None:
    """The run's evaluations, where it has any, on tasks that it does not train on."""
    from rehearsal_trainer.evaluate import Part
    from rehearsal_trainer.evaluation import Evaluation, Schedule
    from rehearsal_trainer.task_sets import evaluated_sets, refuse_overlap, say_apart

    evaluated = evaluated_sets(config, run, worker)
    refuse_overlap(trained, evaluated)
    say_apart(run, trained, evaluated)
    if not evaluated:
        return None
    part = Part("evaluate", sampling_of(config), config.evaluate_trials)
    return Evaluation(run, worker, evaluated, Schedule(config.evaluate_every, steps), config.seed, part)


def sampling_of(config: Config) -> Sampling:
    """How the model is sampled in rollouts."""
    from rehearsal_trainer.session import Sampling

    return Sampling(config.temperature, config.top_p, config.max_tokens)


def plans_of(config: Config, run: RunFolder, steps: int) -> tuple[Optimization, GrpoPlan]:
    """The numbers of the optimizer, and those of GRPO."""
    from rehearsal_trainer.backends.trl import GrpoPlan, Optimization

    optimization = Optimization(
        run=run.checkpoints, steps=steps, learning_rate=config.learning_rate, warmup_steps=config.warmup_steps,
        micro_batch=config.micro_batch, accumulation=rows_per_step(config) // config.micro_batch,
        save_every=config.save_every, keep_checkpoints=config.keep_checkpoints, seed=config.seed,
        gradient_checkpointing=config.gradient_checkpointing, lora_rank=config.lora_rank,
    )  # fmt: skip
    grpo = GrpoPlan(
        group_size=config.group_size, temperature=config.temperature, beta=config.beta, epsilon=config.epsilon,
        epsilon_high=config.epsilon_high, algorithm=config.algorithm, context=config.context,
        skip_dead_groups=config.skip_dead_groups,
    )  # fmt: skip
    return optimization, grpo


def step_player(
    config: Config, run: RunFolder, worker: RolloutWorker, trained: Sequence[TaskSet], measured: Measurements
) -> Rollouts:
    """What plays an optimizer step: a row of tokens and a reward for each of its rollouts."""
    from rehearsal_trainer.masks import CompletionRow
    from rehearsal_trainer.rollouts import RolloutRequest, dead_groups, measure, write_summary
    from rehearsal_trainer.task_sets import labels_of

    gateway, sampling = worker.gateway, sampling_of(config)
    of_label = {label: (each, task) for each in trained for label, task in labels_of(each, trained).items()}

    def play(prompts: Sequence[str], step: int) -> tuple[list[CompletionRow], list[float | None]]:
        started = time.monotonic()
        gateway.generator.refresh()
        before = gateway.generator.sampled_tokens
        folder = run.trajectories(step)
        requests = [
            RolloutRequest(
                task=of_label[label][1],
                member=member,
                seed=f"{config.seed}/step-{step}/{label}/member-{member}",
                sampling=sampling,
                recording=str((folder / f"{label.replace('/', '.')}.{member}.traj.jsonl").resolve()),
                settings=of_label[label][0].settings,
            )
            for label, member in with_members(prompts)
        ]
        played = worker.play(trained[0].settings, requests)
        write_summary(folder, played)
        seconds = time.monotonic() - started
        sampled = gateway.generator.sampled_tokens - before
        measured.values |= measure(played)
        measured.values |= {"rollout_seconds": seconds, "tokens_per_second": sampled / seconds}
        measured.values["dead_groups"] = dead_groups([rollout.result.reward for rollout in played], config.group_size)
        for each in trained if len(trained) > 1 else []:
            own = [rollout for rollout in played if rollout.request.settings is each.settings]
            measured.values |= {f"domain/{each.name}/{name}": value for name, value in measure(own).items() if own}
        if all(rollout.result.reward is None for rollout in played):
            failure = next((rollout.result.failure for rollout in played if rollout.result.failure), None)
            raise TrainingError(
                f"no rollout of step {step} could be scored: {failure.message if failure else 'no reason given'}"
            )
        return training_rows(played, gateway.chat.end_id)

    return play


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
            if not any(kept.row.mask):
                raise TrainingError(
                    f"the rollout of task {rollout.request.task} has a row in which nothing can be learned: no token "
                    "of it was sampled"
                )
            rows.append(split_at(without_tail(kept.row), kept.system_length or 1))
        else:
            rows.append({"prompt_ids": [end_id], "completion_ids": [end_id], "env_mask": [0], "logprobs": [0.0]})
        rewards.append(rollout.result.reward if usable else None)
    return rows, rewards
