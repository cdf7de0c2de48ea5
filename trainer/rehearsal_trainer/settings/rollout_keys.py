"""The keys of rollouts and evaluations; keys.py has those of models and training. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from rehearsal_trainer.settings.setting import Setting

Endpoint = str | dict[str, Any]
ENGINE = ("rehearsal", "serve", "--stdio")
"""The command that starts the engine as npm installs it."""


@dataclass(frozen=True)
class DomainShare:
    """One of the domains of a run."""

    folder: Annotated[str, Setting("The folder with domain.yaml.", is_path=True)]
    weight: Annotated[float, Setting("Its share of the groups, in proportion to the other weights.", gt=0)] = 1.0
    name: Annotated[str | None, Setting("The name in metrics. The default is the name of the folder.")] = None
    user: Annotated[Endpoint | None, Setting("Who plays its user in training, instead of `user`.")] = None
    evaluate_user: Annotated[
        Endpoint | None, Setting("Who plays its user in evaluation, instead of `evaluate_user`.")
    ] = None


def name_of(share: DomainShare) -> str:
    """Returns the name of a domain in metrics."""
    return share.name or share.folder.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


# Where rollouts come from.
Domain = Annotated[str, Setting("The folder with domain.yaml.", is_path=True)]
Domains = Annotated[
    str | list[DomainShare],
    Setting(
        "The folder with domain.yaml, or a list of domains with their weights. Groups are drawn by weight, and all "
        "domains share the frozen reference.",
        paper="TAU1-bench retail and airline",
        trl="train_dataset",
        verl="data.train_files",
        is_path=True,
    ),
]
HeldOut = Annotated[
    list[DomainShare],
    Setting(
        "Domains that are also evaluated, but never trained on. The run warns if one falls below the 95 % interval of "
        "its evaluation before training.",
        verl="data.val_files",
        is_path=True,
    ),
]
EngineCommand = Annotated[list[str], Setting("How the engine is started.", is_given=True)]
EngineCwd = Annotated[str, Setting("The folder in which the engine is started.", is_given=True)]
Split = Annotated[
    Literal["train", "test"] | None,
    Setting("The split whose tasks are played; null plays all tasks.", paper="TAU1-bench's test tasks"),
]
User = Annotated[
    Endpoint,
    Setting(
        "Who plays the user in training: `agenda` (a simulated user without a model), or an endpoint of a model with "
        "base_url, model and api_key_env (the environment variable with the key). --user sets it.",
        paper="GPT-4o-2024-11-20",
    ),
]
Agent = Annotated[
    str | None,
    Setting(
        "The file (*.agent.yaml) of a custom agent in the agent's seat, which uses the trained model.", is_path=True
    ),
]
TrainBasis = Annotated[
    Literal["train", "evaluate"],
    Setting(
        "Which of a task's two bases decides the reward; `train` does not require what the agent says.",
        paper="train: the requirement on dialogue content is removed",
    ),
]
TurnCap = Annotated[
    int | None,
    Setting(
        "Maximum number of agent responses; null uses the domain's.",
        unit="turns",
        paper="30",
        trl="kept by the engine",
        verl="actor_rollout_ref.rollout.multi_turn.max_assistant_turns",
        ge=1,
    ),
]
Temperature = Annotated[
    float,
    Setting(
        "Sampling temperature. In training, any value other than 1 samples from a different distribution than the "
        "trained one.",
        paper="1.0",
        trl="temperature",
        verl="actor_rollout_ref.rollout.temperature",
        ge=0,
    ),
]
TopP = Annotated[
    float,
    Setting(
        "Samples only the most likely tokens that make up this probability; 1 samples from all.",
        trl="top_p",
        verl="actor_rollout_ref.rollout.top_p",
        gt=0,
        le=1,
    ),
]
MaxTokens = Annotated[
    int,
    Setting(
        "Maximum length of the response in one turn.",
        unit="tokens",
        paper="1024",
        trl="kept by the gateway",
        verl="kept by the gateway, within data.max_response_length",
        ge=1,
    ),
]
Concurrency = Annotated[
    int,
    Setting(
        "Rollouts that are played at the same time, which also limits the calls to the user's model. On a cluster, the "
        "workers share them.",
        ge=1,
    ),
]
VllmPython = Annotated[
    str | None,
    Setting(
        "The absolute path of a Python that has vLLM. vLLM then samples in a separate process, which gets the weights "
        "before the rollouts of every optimizer step. null samples in the trainer's process.",
        trl="use_vllm",
        verl="actor_rollout_ref.rollout.name",
    ),
]
VllmMemory = Annotated[
    float,
    Setting(
        "Share of memory that vLLM may use, of the GPU or, without one, of the machine. Training uses the rest.",
        trl="vllm_gpu_memory_utilization",
        verl="actor_rollout_ref.rollout.gpu_memory_utilization",
        gt=0,
        le=1,
    ),
]
RolloutTimeout = Annotated[
    float,
    Setting(
        "Time after which a rollout ends with an infrastructure failure, which never has a reward.",
        unit="seconds",
        gt=0,
    ),
]

# How a run is evaluated while it trains, and how a model is evaluated alone.
EvaluateEvery = Annotated[
    int,
    Setting(
        "Optimizer steps between evaluations on tasks that are not trained on; also before the first step and after "
        "the last. 0 never evaluates.",
        unit="optimizer steps",
        paper="5",
        trl="eval_steps",
        verl="trainer.test_freq",
        ge=0,
    ),
]
EvaluateEverySft = Annotated[
    int,
    Setting(
        "Optimizer steps between evaluations on `domain`; also before the first step and after the last. 0 never "
        "evaluates.",
        unit="optimizer steps",
        trl="eval_steps",
        verl="trainer.test_freq",
        ge=0,
    ),
]
EvaluateSplit = Annotated[
    Literal["train", "test"],
    Setting("The split for evaluation. Training must not use its tasks.", verl="data.val_files"),
]
EvaluateUser = Annotated[
    Endpoint, Setting("Who plays the user in evaluation, as in `user`. --evaluate-user sets it.", paper="GPT-4.1")
]
EvaluateBasis = Annotated[
    Literal["train", "evaluate"], Setting("Which of a task's two bases decides the reward of an evaluation.")
]
EvaluateTrials = Annotated[
    int,
    Setting(
        "Rollouts of each task in an evaluation, at `temperature`.",
        unit="rollouts",
        trl="num_generations_eval",
        verl="actor_rollout_ref.rollout.val_kwargs.n",
        ge=1,
    ),
]
Trials = Annotated[int, Setting("Rollouts of each task at `temperature`; 0 leaves them out.", unit="rollouts", ge=0)]
GreedyTrials = Annotated[
    int,
    Setting(
        "Rollouts of each task at temperature 0; only the simulated user's words differ. 0 leaves them out.",
        unit="rollouts",
        ge=0,
    ),
]
