"""SFT: teaches the model the conversations that went well.

    python -m rehearsal_trainer sft --config sft.json
    python -m rehearsal_trainer sft --set recordings='[".rehearsal/runs/gold"]' --set run=runs/sft

One page: read recordings, keep the successful ones, or those that a synthesis of cold-start data accepted (`rehearsal
synth`), tokenise them with the gateway's own dialect, train on the assistant's blocks, save. What it leaves out of
MUA-RL's cold start: batch 128 on 32 GPUs (profile `paper` has the numbers). Also left out: packing, and truncation (a
row that is longer than `context` is dropped and counted).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rehearsal_trainer import alarms, keys, preflight, processes, profiles, rollout_keys, run_files, trackers
from rehearsal_trainer.configuration import read_config
from rehearsal_trainer.failures import ConfigurationError, TrainingError
from rehearsal_trainer.messages import Json
from rehearsal_trainer.model_places import quantization_of
from rehearsal_trainer.trajectories import find_recordings, read_recording

if TYPE_CHECKING:
    from rehearsal_trainer.backends.trl import Optimization
    from rehearsal_trainer.evaluation import Evaluation
    from rehearsal_trainer.rollout_worker import RolloutWorker
    from rehearsal_trainer.run_folder import RunFolder
    from rehearsal_trainer.task_sets import TaskSet


@dataclass(frozen=True)
class Config:
    """Everything that an SFT run depends on; MUA-RL's cold start by default. keys.py says what each key does."""

    recordings: keys.Recordings
    run: keys.Run
    domain: keys.SftDomain = None
    profile: keys.Profile = "cpu"
    python: keys.Python = None
    model: keys.Model = "smollm2"
    dialect: keys.Dialect = "auto"
    thinking: keys.Thinking = False
    least_reward: keys.LeastReward = 1.0
    evaluate_split: keys.EvaluatedSplit = "test"
    validation_share: keys.ValidationShare = 0.0
    epochs: keys.SftEpochs = 2.0
    steps: keys.SftSteps = None
    batch: keys.SftBatch = 128
    micro_batch: keys.MicroBatch = 8
    processes: keys.Processes = 1
    learning_rate: keys.SftLearningRate = 5e-6
    warmup_steps: keys.WarmupSteps = 0
    schedule: keys.Schedule = "constant_with_warmup"
    lora_rank: keys.LoraRank = 0
    engine_command: rollout_keys.EngineCommand = field(default_factory=lambda: list(rollout_keys.ENGINE))
    engine_cwd: rollout_keys.EngineCwd = "."
    evaluate_every: rollout_keys.EvaluateEverySft = 0
    evaluate_user: rollout_keys.EvaluateUser = "agenda"
    evaluate_basis: rollout_keys.EvaluateBasis = "evaluate"
    evaluate_trials: rollout_keys.EvaluateTrials = 1
    turn_cap: rollout_keys.TurnCap = 30
    temperature: rollout_keys.Temperature = 1.0
    top_p: rollout_keys.TopP = 1.0
    max_tokens: rollout_keys.MaxTokens = 1024
    concurrency: rollout_keys.Concurrency = 64
    vllm_python: rollout_keys.VllmPython = None
    vllm_memory: rollout_keys.VllmMemory = 0.4
    rollout_timeout_s: rollout_keys.RolloutTimeout = 1800
    context: keys.Context = 32768
    dtype: keys.Dtype = "auto"
    quantization: keys.Quantization = "auto"
    gradient_checkpointing: keys.GradientCheckpointing = True
    trl: keys.TrlOptions = field(default_factory=dict)
    save_every: keys.SaveEvery = 10
    keep_checkpoints: keys.KeepCheckpoints = 2
    seed: keys.Seed = 1
    threads: keys.Threads = None
    alarms: keys.AlarmLimits = field(default_factory=dict)
    pause_on: keys.PauseOn = field(default_factory=list)
    report_to: keys.ReportTo = field(default_factory=list)

    def __post_init__(self) -> None:
        # config.json holds the limits that a run has, not only those that were given.
        object.__setattr__(self, "alarms", alarms.completed(self.alarms))
        alarms.known(self.pause_on, "sft")


_CPU = {
    **profiles.TRAINED_ON_CPU,
    "batch": 8,
    "steps": 40,
    "learning_rate": 1e-3,
    "warmup_steps": 3,
    "schedule": "linear",
    "save_every": 50,
}

PROFILES = {
    "paper": {},
    "gpu": {**profiles.TRAINED_ON_GPU, "learning_rate": 1e-4},
    "cpu": _CPU,
    "trial": {**_CPU, **profiles.TRIAL},
}


def main(argv: Sequence[str]) -> int:
    """Runs SFT; the model is in <run>/checkpoints/final: whole, or an adapter where a merge would round it away."""
    config, resume = read_config(Config, PROFILES, argv, "Learns from successful recordings.", check, needs=needs)
    if config.processes > 1 and processes.count() == 1:
        return processes.launch(config.processes, ["sft", *argv])
    run_sft(config, resume)
    return 0


def run_sft(config: Config, resume: bool = False) -> Path:
    """The whole run; returns the folder of the trained model (or of the last checkpoint, when stopped)."""
    import torch

    from rehearsal_trainer.examples import Examples
    from rehearsal_trainer.models import can_merge, load_model, load_tokenizer, training_dtype
    from rehearsal_trainer.serving import chat_of, gateway_of

    if config.threads:
        torch.set_num_threads(config.threads)
    processes.take_gpu()
    torch.manual_seed(config.seed)

    # Data: what went well, as token ids. The chat is the gateway's, so the ids are those of a rollout.
    tokenizer = load_tokenizer(config.model)
    chat = chat_of(config.model, tokenizer, config.dialect, config.thinking)
    examples = Examples.of(config, chat)
    steps = steps_of(config, len(examples.rows))

    # These import TRL, which takes seconds that a run without examples does not need.
    from rehearsal_trainer.backends.trl import save, sft_trainer, train
    from rehearsal_trainer.measurements import Measurements
    from rehearsal_trainer.rollout_worker import RolloutWorker
    from rehearsal_trainer.run_folder import RunFolder

    # Model and run folder.
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
        if config.evaluate_every and processes.is_first():
            gateway = gateway_of(config, model, chat)
            worker = opened.enter_context(RolloutWorker.of(config, gateway, run.log))
            evaluation = evaluation_of(config, run, worker, steps)
        measured = Measurements()
        if run.latest_checkpoint() is None:
            measured.values["too_long"] = examples.too_long_share
        trainer = sft_trainer(model, tokenizer, examples.rows, plan, run, measured, evaluation, examples.validation)
        if gateway:
            gateway.generator.adopt(trainer.model)
        if processes.is_first():
            print(
                f"SFT: {len(examples.rows)} rows, {steps} optimizer steps, batch {config.batch}",
                file=sys.stderr,
                flush=True,
            )
        reached = train(trainer, run.latest_checkpoint() if resume else None)
        if reached < steps:
            run.ended_early(reached)
            processes.part()
            return run.checkpoints / run_files.checkpoint_name(reached)
        if processes.is_first():
            save(trainer, tokenizer, run.checkpoints / run_files.FINAL, merge=can_merge(model))
        run.event("finished", step=reached, path=run_files.FINAL)
        processes.part()
        return run.checkpoints / run_files.FINAL


def check(config: Config) -> None:
    """Refuses what does not fit together."""
    trackers.check(config.report_to)
    if config.batch % (micro_batch_of(config) * config.processes):
        together = f" x processes = {config.processes}" if config.processes > 1 else ""
        raise ConfigurationError(f"micro_batch: {config.micro_batch}{together} does not divide batch = {config.batch}")
    if processes.count() not in (1, config.processes):
        raise ConfigurationError(
            f"processes: {processes.count()} processes were launched, and processes is {config.processes}. Start one, "
            "which launches the others"
        )
    if config.evaluate_every and (config.domain is None or config.evaluate_split is None):
        missing = "domain" if config.domain is None else "evaluate_split"
        raise ConfigurationError(f"evaluate_every: an evaluation needs {missing}; name it, or set evaluate_every to 0")
    check_recordings(config)


def check_recordings(config: Config) -> None:
    """Refuses recordings that cannot be read. Those that are not there yet are played before the run begins."""
    if all(Path(each).exists() for each in config.recordings):
        try:
            read_recording(find_recordings(config.recordings)[0])
        except TrainingError as error:
            raise ConfigurationError(f"recordings: {error}") from error


def steps_of(config: Config, rows: int) -> int:
    """Optimizer steps: as many as asked for, else as many as the epochs have."""
    return config.steps or max(1, round(config.epochs * rows / config.batch))


def micro_batch_of(config: Config) -> int:
    """Rows that one process computes in one pass: never more than its part of a batch has."""
    return min(config.micro_batch, max(1, config.batch // config.processes))


def needs(config: Config) -> dict[str, Json]:
    """Checkpoints, and at the end the whole model, or the adapter where it is not merged."""

    def disk(size: preflight.Size) -> int:
        left = preflight.whole(config, size) if preflight.can_merge(config, size) else preflight.trained(config, size)
        return preflight.checkpoints(config, size) + left

    processes.check(config.processes)
    preflight.check_trl("sft", config)
    return preflight.needs(config, Path(config.run), disk)


def plan_of(config: Config, run: RunFolder, steps: int, autocast: bool) -> Optimization:
    """The numbers of the optimizer."""
    from rehearsal_trainer.backends.trl import Optimization

    micro = micro_batch_of(config)
    return Optimization(
        run=run.checkpoints, steps=steps, learning_rate=config.learning_rate, warmup_steps=config.warmup_steps,
        micro_batch=micro, accumulation=config.batch // (micro * config.processes), save_every=config.save_every,
        keep_checkpoints=config.keep_checkpoints, seed=config.seed,
        gradient_checkpointing=config.gradient_checkpointing, lora_rank=config.lora_rank, schedule=config.schedule,
        bf16=autocast, options=config.trl,
    )  # fmt: skip


def evaluation_of(config: Config, run: RunFolder, worker: RolloutWorker, steps: int) -> Evaluation:
    """The run's evaluations, on tasks that it learns no recording of."""
    from rehearsal_trainer.evaluation import Evaluation
    from rehearsal_trainer.task_sets import say_apart

    sets = [evaluated_set(config, worker)]
    say_apart(run, [], sets, steps)
    return Evaluation.of(config, run, worker, sets, steps)


def evaluated_set(config: Config, worker: RolloutWorker) -> TaskSet:
    """The tasks that the run is evaluated on, of which it learns no recording."""
    from rehearsal_trainer.grpo_config import name_of
    from rehearsal_trainer.rollout_keys import DomainShare
    from rehearsal_trainer.rollouts import RolloutSettings
    from rehearsal_trainer.task_sets import TaskSet

    share = DomainShare(str(config.domain))
    settings = RolloutSettings(
        share.folder, config.evaluate_user, config.evaluate_basis, config.turn_cap, config.rollout_timeout_s
    )
    tasks = [task["id"] for task in worker.tasks(share.folder, config.evaluate_split)]
    return TaskSet(name_of(share), share, tasks, settings)
