"""Trains with SFT on successful conversations.

    python -m rehearsal_trainer sft --config sft.json
    python -m rehearsal_trainer sft --set recordings='[".rehearsal/runs/gold"]' --set run=runs/sft

The command reads recordings and keeps the successful ones, or those that a synthesis of cold-start data accepted
(`rehearsal synth`). It tokenizes them with the gateway's own dialect, trains on the assistant's messages, and saves the
model. MUA-RL's cold start uses batch 128 on 32 GPUs (the profile `paper` has the numbers). Packing and truncation are
not supported: a row that is longer than `context` is dropped and counted.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rehearsal_trainer.models.locations import quantization_of
from rehearsal_trainer.processes import distributed
from rehearsal_trainer.runs import preflight
from rehearsal_trainer.settings.configuration import read_config
from rehearsal_trainer.sft.config import PROFILES, Config, check, micro_batch_of, steps_of
from rehearsal_trainer.values import run_files
from rehearsal_trainer.values.counted import counted
from rehearsal_trainer.values.messages import Json

if TYPE_CHECKING:
    from rehearsal_trainer.backends.trl import Optimization
    from rehearsal_trainer.rollouts.evaluation import Evaluation
    from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
    from rehearsal_trainer.rollouts.task_sets import TaskSet
    from rehearsal_trainer.runs.run_folder import RunFolder


def main(argv: Sequence[str]) -> int:
    """Runs SFT; <run>/checkpoints/final is the whole model, or an adapter if a merge would round it away."""
    config, resume = read_config(Config, PROFILES, argv, "Learns from successful recordings.", check, needs=needs)
    if config.processes > 1 and distributed.count() == 1:
        return distributed.launch(config.processes, ["sft", *argv])
    run_sft(config, resume)
    return 0


def run_sft(config: Config, resume: bool = False) -> Path:
    """Trains a whole run; returns the folder of the trained model (or of the last checkpoint if it was stopped)."""
    import torch

    from rehearsal_trainer.gateway.serving import chat_of, gateway_of
    from rehearsal_trainer.models.loading import can_merge, load_model, load_tokenizer, training_dtype
    from rehearsal_trainer.sft.examples import Examples

    if config.threads:
        torch.set_num_threads(config.threads)
    distributed.take_gpu()
    torch.manual_seed(config.seed)

    # Data: successful conversations as token ids. The chat is the gateway's, so the ids are the same as in a rollout.
    tokenizer = load_tokenizer(config.model)
    chat = chat_of(config.model, tokenizer, config.dialect, config.thinking, config.exact_history)
    examples = Examples.of(config, chat)
    steps = steps_of(config, len(examples.rows))

    # These import TRL, which takes seconds that a run without examples does not need.
    from rehearsal_trainer.backends.trl import save, sft_trainer, train
    from rehearsal_trainer.metrics.measurements import Measurements
    from rehearsal_trainer.rollouts.rollout_worker import RolloutWorker
    from rehearsal_trainer.runs.run_folder import RunFolder, refuse_finished

    # Model and run folder.
    if resume:
        refuse_finished(config.run, steps)
    with RunFolder(config.run, "sft", config, resume) as run, contextlib.ExitStack() as opened:
        run.event("examples", **examples.counts(), steps=steps)
        run.stop_on_signals()
        run.watch(config.alarms, config.pause_on)
        run.report_to(config.report_to)
        dtype, autocast = training_dtype(config.dtype, config.lora_rank)
        model = load_model(config.model, dtype, True, quantization_of(config.model, config.quantization))
        plan = plan_of(config, run, steps, autocast)

        # Train, save, say so.
        evaluation, gateway = None, None
        if config.evaluate_every and distributed.is_first():
            gateway = gateway_of(config, model, chat)
            worker = opened.enter_context(RolloutWorker.of(config, gateway, run.log))
            evaluation = evaluation_of(config, run, worker, steps)
        measured = Measurements()
        if run.latest_checkpoint() is None:
            measured.values["too_long"] = examples.too_long_share
        trainer = sft_trainer(model, tokenizer, examples.rows, plan, run, measured, evaluation, examples.validation)
        if gateway:
            gateway.generator.adopt(trainer.model)
        if distributed.is_first():
            print(
                f"SFT: {counted(len(examples.rows), 'row')}, {counted(steps, 'optimizer step')}, batch {config.batch}",
                file=sys.stderr,
                flush=True,
            )
        reached = train(trainer, run.latest_checkpoint() if resume else None)
        if reached < steps:
            run.ended_early(reached)
            distributed.leave()
            return run.checkpoints / run_files.checkpoint_name(reached)
        if distributed.is_first():
            save(trainer, tokenizer, run.checkpoints / run_files.FINAL, merge=can_merge(model))
        run.event("finished", step=reached, path=run_files.FINAL)
        distributed.leave()
        return run.checkpoints / run_files.FINAL


def needs(config: Config) -> dict[str, Json]:
    """Returns the requirements of a run, which writes checkpoints, and at the end the whole model or the adapter."""

    def disk(size: preflight.Size) -> int:
        left = preflight.whole(config, size) if preflight.can_merge(config, size) else preflight.trained(config, size)
        return preflight.checkpoints(config, size) + left

    distributed.check(config.processes)
    if config.trl:  # TRL takes seconds to import
        from rehearsal_trainer.backends.trl import check_options

        check_options("sft", config)
    return preflight.needs(config, Path(config.run), disk)


def plan_of(config: Config, run: RunFolder, steps: int, autocast: bool) -> Optimization:
    """Returns the settings of the optimizer."""
    from rehearsal_trainer.backends.trl import Optimization, check_names

    check_names("sft", config)
    micro = micro_batch_of(config)
    return Optimization(
        run=run.checkpoints, steps=steps, learning_rate=config.learning_rate, warmup_steps=config.warmup_steps,
        micro_batch=micro, accumulation=config.batch // (micro * config.processes), save_every=config.save_every,
        keep_checkpoints=config.keep_checkpoints, seed=config.seed,
        gradient_checkpointing=config.gradient_checkpointing, lora_rank=config.lora_rank, schedule=config.schedule,
        bf16=autocast, options=config.trl,
    )  # fmt: skip


def evaluation_of(config: Config, run: RunFolder, worker: RolloutWorker, steps: int) -> Evaluation:
    """Returns the run's evaluations, on tasks whose recordings it does not learn."""
    from rehearsal_trainer.rollouts.evaluation import Evaluation
    from rehearsal_trainer.rollouts.task_sets import report_task_sets

    sets = [evaluated_set(config, worker)]
    report_task_sets(run, [], sets, steps)
    return Evaluation.of(config, run, worker, sets, steps)


def evaluated_set(config: Config, worker: RolloutWorker) -> TaskSet:
    """Returns the tasks that the run is evaluated on, whose recordings it does not learn."""
    from rehearsal_trainer.rollouts.rollouts import RolloutSettings
    from rehearsal_trainer.rollouts.task_sets import TaskSet
    from rehearsal_trainer.settings.rollout_keys import DomainShare, name_of

    share = DomainShare(str(config.domain))
    settings = RolloutSettings(
        share.folder, config.evaluate_user, config.evaluate_basis, config.turn_cap, config.rollout_timeout_s
    )
    tasks = [task["id"] for task in worker.tasks(share.folder, config.evaluate_split)]
    return TaskSet(name_of(share), share, tasks, settings)
