"""Trains with GRPO on rollouts with a simulated user and real tools; only a completed task is rewarded.

    python -m rehearsal_trainer grpo --config grpo.json
    python -m rehearsal_trainer grpo --config grpo.json --resume

The command starts the engine and the gateway over the live model. For each optimizer step it plays a group of rollouts
for each of the step's tasks, and TRL does the rest. The recipe is MUA-RL (arXiv 2508.18669): group-relative advantages,
a binary reward, a KL coefficient of 0.001, and loss only on sampled tokens; grpo/config.py has the numbers. It does not
support several updates per batch of rollouts or overlong-answer shaping.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rehearsal_trainer.grpo.config import ALGORITHMS, PROFILES, Config, check, rows_per_step
from rehearsal_trainer.runs import preflight
from rehearsal_trainer.settings.configuration import read_config
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.counted import counted
from rehearsal_trainer.values.messages import Json

if TYPE_CHECKING:
    from rehearsal_trainer.backends.trl import GrpoPlan, Optimization
    from rehearsal_trainer.rollouts.evaluation import Evaluation
    from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
    from rehearsal_trainer.rollouts.task_sets import TaskSet
    from rehearsal_trainer.runs.run_folder import RunFolder


def main(argv: Sequence[str]) -> int:
    """Runs GRPO; <run>/checkpoints/final is the model, or an adapter if LoRA is trained."""
    config, resume = read_config(
        Config, PROFILES, argv, "Learns from rollouts with the engine.", check, ALGORITHMS, needs
    )
    run_grpo(config, resume)
    return 0


def run_grpo(config: Config, resume: bool = False) -> Path:
    """Trains a whole run; returns the folder of the trained model (or of the last checkpoint if it was stopped)."""
    import torch

    from rehearsal_trainer.backends.trl import grpo_trainer, save, train
    from rehearsal_trainer.gateway.serving import chat_of, gateway_of
    from rehearsal_trainer.grpo.step import StepPlayer
    from rehearsal_trainer.grpo.task_sets import trained_sets
    from rehearsal_trainer.metrics.measurements import Measurements
    from rehearsal_trainer.models.loading import load_model, load_tokenizer, training_dtype
    from rehearsal_trainer.models.locations import quantization_of
    from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
    from rehearsal_trainer.rollouts.task_sets import draw_order
    from rehearsal_trainer.runs.run_folder import RunFolder, refuse_finished

    if resume and config.steps:
        refuse_finished(config.run, config.steps)
    if config.threads:
        torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)

    with RunFolder(config.run, "grpo", config, resume) as run:
        run.stop_on_signals()
        run.watch(config.alarms, config.pause_on)
        run.report_to(config.report_to)

        # Model, gateway over the live weights, engine.
        tokenizer = load_tokenizer(config.model)
        chat = chat_of(config.model, tokenizer, config.dialect, config.thinking, config.exact_history)
        dtype, autocast = training_dtype(config.dtype, config.lora_rank)
        model = load_model(config.model, dtype, True, quantization_of(config.model, config.quantization))
        gateway = gateway_of(config, model, chat)
        with RolloutWorker.of(config, gateway, run.log) as worker:
            trained = trained_sets(config, worker)
            steps = steps_of(config, sum(len(each.tasks) for each in trained))
            if resume:
                refuse_finished(config.run, steps)
            evaluation = evaluation_of(config, run, worker, trained, steps)
            order = draw_order(trained, steps * config.tasks_per_step, config.seed)

            # Train, save, say so.
            measured = Measurements()
            play = StepPlayer(config, run, worker, trained, measured)
            plan, grpo = plans_of(config, run, steps, autocast)
            trainer = grpo_trainer(model, tokenizer, order, play, plan, grpo, run, measured, evaluation)
            gateway.generator.adopt(trainer.model)
            print(
                f"GRPO: {counted(sum(len(each.tasks) for each in trained), 'task')}, "
                f"{counted(steps, 'optimizer step')} of {counted(rows_per_step(config), 'rollout')}",
                file=sys.stderr,
                flush=True,
            )
            reached = train(trainer, run.latest_checkpoint() if resume else None)
            if reached < steps:
                run.ended_early(reached)
                return run.checkpoints / run_files.checkpoint_name(reached)
            save(trainer, tokenizer, run.checkpoints / run_files.FINAL, merge=False)
            run.event("finished", step=reached, path=run_files.FINAL)
            return run.checkpoints / run_files.FINAL


def steps_of(config: Config, tasks: int) -> int:
    """Returns the number of optimizer steps: `steps`, or else those of the epochs."""
    return config.steps or max(1, round(config.epochs * tasks / config.tasks_per_step))


def evaluation_of(
    config: Config, run: RunFolder, worker: RolloutWorker, trained: Sequence[TaskSet], steps: int
) -> Evaluation | None:
    """Returns the run's evaluations on tasks that it does not train on, or None if it has none."""
    from rehearsal_trainer.grpo.task_sets import evaluated_sets, refuse_overlap
    from rehearsal_trainer.rollouts.evaluation import Evaluation
    from rehearsal_trainer.rollouts.task_sets import report_task_sets

    evaluated = evaluated_sets(config, run, worker)
    refuse_overlap(trained, evaluated)
    report_task_sets(run, trained, evaluated, steps)
    return Evaluation.of(config, run, worker, evaluated, steps) if evaluated else None


def needs(config: Config) -> dict[str, Json]:
    """Returns the requirements of a run, which writes checkpoints, and at the end the adapter or all weights."""

    def disk(size: preflight.Size) -> int:
        return preflight.checkpoints(config, size) + preflight.trained(config, size)

    if config.trl:  # TRL takes seconds to import
        from rehearsal_trainer.backends.trl import check_options

        check_options("grpo", config)
    return preflight.needs(config, Path(config.run), disk)


def plans_of(config: Config, run: RunFolder, steps: int, autocast: bool) -> tuple[Optimization, GrpoPlan]:
    """Returns the settings of the optimizer and those of GRPO."""
    from rehearsal_trainer.backends.trl import GrpoPlan, Optimization, check_names

    check_names("grpo", config)
    optimization = Optimization(
        run=run.checkpoints, steps=steps, learning_rate=config.learning_rate, warmup_steps=config.warmup_steps,
        micro_batch=config.micro_batch, accumulation=rows_per_step(config) // config.micro_batch,
        save_every=config.save_every, keep_checkpoints=config.keep_checkpoints, seed=config.seed,
        gradient_checkpointing=config.gradient_checkpointing, lora_rank=config.lora_rank, bf16=autocast,
        options=config.trl,
    )  # fmt: skip
    grpo = GrpoPlan(
        group_size=config.group_size, temperature=config.temperature, beta=config.beta, epsilon=config.epsilon,
        epsilon_high=config.epsilon_high, algorithm=config.algorithm, context=config.context,
        skip_dead_groups=config.skip_dead_groups, importance_sampling_cap=config.importance_sampling_cap,
    )  # fmt: skip
    return optimization, grpo
