"""The configuration of an SFT run: MUA-RL's cold start, smaller profiles, and checks. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rehearsal_trainer.metrics import alarms
from rehearsal_trainer.processes import distributed
from rehearsal_trainer.runs import trackers
from rehearsal_trainer.settings import keys, profiles, rollout_keys
from rehearsal_trainer.sft.trajectories import find_recordings, read_recording
from rehearsal_trainer.values.failures import ConfigurationError, TrainingError


@dataclass(frozen=True)
class Config:
    """The configuration of an SFT run; the defaults are MUA-RL's cold start. keys.py describes each key."""

    recordings: keys.Recordings
    run: keys.Run
    domain: keys.SftDomain = None
    profile: keys.Profile = "cpu"
    python: keys.Python = None
    model: keys.Model = "smollm2"
    dialect: keys.Dialect = "auto"
    thinking: keys.Thinking = False
    exact_history: keys.ExactHistory = False
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


def check(config: Config) -> None:
    """Refuses values that do not fit together."""
    trackers.check(config.report_to)
    if config.batch % (micro_batch_of(config) * config.processes):
        together = f" x processes = {config.processes}" if config.processes > 1 else ""
        raise ConfigurationError(f"micro_batch: {config.micro_batch}{together} does not divide batch = {config.batch}")
    if distributed.count() not in (1, config.processes):
        raise ConfigurationError(
            f"processes: {distributed.count()} processes were launched, and processes is {config.processes}. "
            "Start one, which launches the others"
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
    """Returns the number of optimizer steps: `steps`, or else those of the epochs."""
    return config.steps or max(1, round(config.epochs * rows / config.batch))


def micro_batch_of(config: Config) -> int:
    """Rows that one process computes in one pass: never more than its part of a batch has."""
    return min(config.micro_batch, max(1, config.batch // config.processes))
