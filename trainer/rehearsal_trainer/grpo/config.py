"""The configuration of a GRPO run: MUA-RL's recipe, smaller profiles, and algorithms that change it. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass, field

from rehearsal_trainer.metrics.alarms import completed, known
from rehearsal_trainer.processes import distributed
from rehearsal_trainer.runs import trackers
from rehearsal_trainer.settings import keys, profiles, rollout_keys
from rehearsal_trainer.settings.rollout_keys import name_of
from rehearsal_trainer.values.failures import ConfigurationError


@dataclass(frozen=True)
class Config:
    """The configuration of a GRPO run; the defaults are those of MUA-RL. keys.py describes each key."""

    domain: rollout_keys.Domains
    run: keys.Run
    profile: keys.Profile = "cpu"
    python: keys.Python = None
    model: keys.Model = "smollm2"
    dialect: keys.Dialect = "auto"
    thinking: keys.Thinking = False
    exact_history: keys.ExactHistory = False
    engine_command: rollout_keys.EngineCommand = field(default_factory=lambda: list(rollout_keys.ENGINE))
    engine_cwd: rollout_keys.EngineCwd = "."
    split: rollout_keys.Split = "train"
    user: rollout_keys.User = "agenda"
    agent: rollout_keys.Agent = None
    basis: rollout_keys.TrainBasis = "train"
    turn_cap: rollout_keys.TurnCap = 30
    algorithm: keys.Algorithm = "grpo"
    epochs: keys.GrpoEpochs = 25.0
    steps: keys.GrpoSteps = None
    tasks_per_step: keys.TasksPerStep = 32
    group_size: keys.GroupSize = 8
    micro_batch: keys.MicroBatch = 8
    processes: keys.Processes = 1
    learning_rate: keys.GrpoLearningRate = 1e-6
    warmup_steps: keys.WarmupSteps = 0
    beta: keys.Beta = 0.001
    epsilon: keys.Epsilon = 0.2
    epsilon_high: keys.EpsilonHigh = None
    importance_sampling_cap: keys.ImportanceSamplingCap = 3.0
    format_reward: keys.FormatReward = 0.0
    tool_reward: keys.ToolReward = 0.0
    skip_dead_groups: keys.SkipDeadGroups = False
    refills: keys.Refills = 0
    temperature: rollout_keys.Temperature = 1.0
    top_p: rollout_keys.TopP = 1.0
    max_tokens: rollout_keys.MaxTokens = 1024
    context: keys.Context = 32768
    lora_rank: keys.LoraRank = 0
    dtype: keys.Dtype = "auto"
    quantization: keys.Quantization = "auto"
    gradient_checkpointing: keys.GradientCheckpointing = True
    trl: keys.TrlOptions = field(default_factory=dict)
    concurrency: rollout_keys.Concurrency = 64
    vllm_python: rollout_keys.VllmPython = None
    vllm_memory: rollout_keys.VllmMemory = 0.4
    rollout_timeout_s: rollout_keys.RolloutTimeout = 1800
    evaluate_every: rollout_keys.EvaluateEvery = 5
    evaluate_split: rollout_keys.EvaluateSplit = "test"
    evaluate_user: rollout_keys.EvaluateUser = "agenda"
    evaluate_basis: rollout_keys.EvaluateBasis = "evaluate"
    evaluate_trials: rollout_keys.EvaluateTrials = 1
    held_out: rollout_keys.HeldOut = field(default_factory=list)
    save_every: keys.SaveEvery = 10
    keep_checkpoints: keys.KeepCheckpoints = 3
    seed: keys.Seed = 1
    threads: keys.Threads = None
    user_prices: keys.UserPrices = field(default_factory=dict)
    alarms: keys.AlarmLimits = field(default_factory=dict)
    pause_on: keys.PauseOn = field(default_factory=list)
    report_to: keys.ReportTo = field(default_factory=list)

    def __post_init__(self) -> None:
        # config.json holds the limits that a run has, not only those that were given.
        object.__setattr__(self, "alarms", completed(self.alarms))
        known(self.pause_on, "grpo")
        if wrong := sorted(set(self.user_prices) - {"input", "output"}):
            raise ConfigurationError(f"user_prices: there is no {wrong[0]}; known are input and output")


_CPU = {
    **profiles.TRAINED_ON_CPU,
    "steps": 20,
    "tasks_per_step": 4,
    "micro_batch": 4,
    "learning_rate": 5e-5,
    "skip_dead_groups": True,
    "evaluate_every": 10,
    "save_every": 5,
}

# A quarter of the tasks of a step, because one GPU does not have time for more.
_GPU = {**profiles.TRAINED_ON_GPU, "tasks_per_step": 8, "learning_rate": 1e-5, "skip_dead_groups": True}

PROFILES = {
    "paper": {},
    "gpu": _GPU,
    "cpu": _CPU,
    "trial": {**_CPU, **profiles.TRIAL, "tasks_per_step": 2, "group_size": 4, "evaluate_every": 0},
}

ALGORITHMS = {
    "grpo": {},
    # Yu et al. 2025 (arXiv 2503.14476), section 3: Clip-Higher, dynamic sampling (here for some rounds), no KL term.
    "dapo": {"epsilon_high": 0.28, "beta": 0.0, "skip_dead_groups": True, "refills": 3},
    # Liu et al. 2025 (arXiv 2503.20783): no KL term; the constant that sums are divided by is `context`.
    "dr_grpo": {"beta": 0.0},
    # Zheng et al. 2025 (arXiv 2507.18071), section 5.1: clipping ranges of a sequence-level ratio, without a KL term.
    "gspo": {"beta": 0.0, "epsilon": 3e-4, "epsilon_high": 4e-4},
}
"""The values from each algorithm's paper; they override the profile, and the user's own values override them.

The first algorithm is the default.
"""


def check(config: Config) -> None:
    """Refuses values that do not fit together."""
    if rows_per_step(config) % config.micro_batch:
        raise ConfigurationError(
            f"micro_batch: {config.micro_batch} does not divide tasks_per_step x group_size = {rows_per_step(config)}"
        )
    check_purpose(config)


def check_purpose(config: Config) -> None:
    """Refuses trackers, domains, splits and lengths that do not fit together, with either backend."""
    trackers.check(config.report_to)
    if max(config.processes, distributed.count()) > 1:
        raise ConfigurationError(
            "processes: GRPO trains in one process on one GPU, and SFT in several. Set processes to 1. To train on "
            "several GPUs of this machine, run `ray start --head` and train with --target ray://localhost:8265, where "
            "nodes and gpus_per_node say how many"
        )
    if config.max_tokens >= config.context:
        raise ConfigurationError(
            f"max_tokens: a response of {config.max_tokens} tokens leaves no room in a context of {config.context}"
        )
    if config.temperature == 0:
        raise ConfigurationError(
            "temperature: at 0 all rollouts of a group are the same, so there is nothing to compare. Set it above 0; "
            "1 samples from the model that is trained"
        )
    if config.top_p < 1:
        raise ConfigurationError(
            f"top_p: at {config.top_p:g} the sampler leaves out tokens that the trainer counts, so their "
            "log-probabilities disagree. Set top_p to 1"
        )
    if isinstance(config.domain, list) and not config.domain:
        raise ConfigurationError("domain: name at least one domain")
    if config.held_out and not config.evaluate_every:
        raise ConfigurationError("held_out: domains are evaluated only where evaluate_every is more than 0")
    names: set[str] = set()
    for share in [*shares_of(config), *config.held_out]:
        name = name_of(share)
        if name in names:
            raise ConfigurationError(f"domain: two domains are called {name}; give one of them another name")
        names.add(name)
    trained = {share.folder for share in shares_of(config)}
    for share in config.held_out:
        if share.folder in trained:
            raise ConfigurationError(f"held_out: {share.folder} is trained on; leave it out of one of the two lists")
    if config.evaluate_every and config.split in (None, config.evaluate_split):
        raise ConfigurationError(
            f"split: the tasks of the split {config.evaluate_split} would be trained on and evaluated on. Train on "
            "the other split, choose another evaluate_split, or set evaluate_every to 0"
        )


def rows_per_step(config: Config) -> int:
    """Returns the number of rollouts of one optimizer step."""
    return config.tasks_per_step * config.group_size


def shares_of(config: Config) -> list[rollout_keys.DomainShare]:
    """Returns the domains that a run learns from."""
    return [rollout_keys.DomainShare(config.domain)] if isinstance(config.domain, str) else config.domain
