"""The keys of models and training, with their types and descriptions. The defaults are in each `Config`.

`paper` is the value in MUA-RL (arXiv 2508.18669) or its script `examples/sglang_multiturn/mua_grpo.sh`. Torch-free.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from rehearsal_trainer.settings.setting import Setting

# The model and the run.
Profile = Annotated[
    Literal["cpu", "gpu", "paper", "trial"],
    Setting(
        "The set of defaults for all other keys: `cpu` for a laptop, `gpu` for one GPU, `paper` for MUA-RL's recipe "
        "on a cluster, `trial` for steps that take seconds and only show that everything works."
    ),
]
Run = Annotated[str, Setting("The run's folder.", is_given=True)]
Python = Annotated[
    str | list[str] | None,
    Setting(
        "An existing Python that trains, without downloads: its absolute path, or the argument list that "
        "starts it in a container, such as `[apptainer, exec, trainer.sif, python]`. null makes the trainer's own "
        "environment on first use. --python sets it.",
    ),
]
Model = Annotated[
    str,
    Setting(
        "The model to start from: smollm2, tiny (random weights, for a trial), a folder with a model, a checkpoint or "
        "an adapter, or an id of the Hugging Face hub. Its weights at the start are the frozen reference of the KL "
        "term.",
        paper="Qwen3 8B, 14B and 32B without thinking",
        trl="model",
        verl="actor_rollout_ref.model.path",
        verl_sft="model.path",
        is_path=True,
    ),
]
DialectName = Literal["auto", "template", "compact"]
"""`template`: the model's own chat template. `compact`: compact.jinja. `auto`: the template if it shows tools."""

Dialect = Annotated[
    DialectName,
    Setting(
        "How the conversation, tools and calls are written for the model: `template` is the model's own chat template, "
        "`compact` a short form for models too small for JSON, and `auto` the template if it shows tools, else "
        "compact. The command line takes it from the run that trained the model, else from the domain.",
        paper="auto, which is Qwen3's own template",
    ),
]
Thinking = Annotated[
    bool,
    Setting(
        "Whether the model thinks before it answers, if its chat template offers the choice. Users and tools do not "
        "see its thoughts. The command line takes it from the run that trained the model.",
        paper="false",
    ),
]
ExactHistory = Annotated[
    bool,
    Setting(
        "Whether a new training row starts where the chat template leaves out, or writes differently, an empty thought "
        "of an earlier answer, as those of Qwen3 do. By default, a row keeps these empty thoughts in training, in "
        "evaluation and in the gateway, and a conversation stays in one row.",
        paper="false",
    ),
]
TrlOptions = Annotated[
    dict[str, Any],
    Setting(
        "Options of TRL's SFTConfig or GRPOConfig by their own names, such as `optim: adafactor`. They are checked "
        "against the installed TRL. An option that has a key here is refused: set the key.",
    ),
]
VerlOptions = Annotated[
    dict[str, Any],
    Setting(
        "Options of verl's configuration by their own names, nested or with dots, such as "
        "`actor_rollout_ref.actor.fsdp_config.param_offload: true` (in SFT: `engine.param_offload: true`). They are "
        "checked against the installed verl, and a `+` adds one. An option that has a key here is refused: set the "
        "key.",
    ),
]
LoraRank = Annotated[
    int,
    Setting(
        "LoRA or all weights: 0 trains all weights; a larger number trains an adapter of this rank on all linear "
        "layers (alpha is twice the rank, without dropout). With an adapter the reference is the model without it; "
        "with all weights it is a second copy of the model in memory.",
        paper="0",
        trl="LoraConfig.r",
        verl="actor_rollout_ref.model.lora_rank",
        verl_sft="model.lora_rank",
        ge=0,
    ),
]
Dtype = Annotated[
    Literal["auto", "float32", "bfloat16"],
    Setting(
        "Number format of the weights. `auto` is bfloat16 if the hardware supports it, else float32. If all weights "
        "are trained, they are float32, and only the arithmetic is bfloat16.",
        trl="bf16, and the model's own dtype",
        verl_sft="engine.model_dtype",
    ),
]
QuantizationName = Literal["auto", "none", "4bit"]
"""`4bit`: NF4 with double quantization. `auto`: as the checkpoint that `model` names was trained, else none."""

Quantization = Annotated[
    QuantizationName,
    Setting(
        "QLoRA: `4bit` loads the weights under an adapter in 4 bits (NF4 with double quantization), so that a model of "
        "8 billion parameters trains on a GPU with 24 GB. It needs `lora_rank` and the package bitsandbytes. `auto` is "
        "what the checkpoint that `model` names was trained with, else `none`.",
        paper="none",
        trl="quantization_config",
    ),
]
GradientCheckpointing = Annotated[
    bool,
    Setting(
        "Recomputes activations instead of keeping them. This takes less memory and more time. The policy and "
        "the tools are then computed for every row.",
        paper="true",
        trl="gradient_checkpointing",
        verl="actor_rollout_ref.model.enable_gradient_checkpointing",
        verl_sft="model.enable_gradient_checkpointing",
    ),
]
Context = Annotated[
    int,
    Setting(
        "Maximum length of a conversation, with the policy and the tools. A rollout that needs more ends with reward "
        "0. SFT leaves longer recordings out and counts them.",
        unit="tokens",
        paper="32768",
        trl="max_length (SFT); kept by the gateway (GRPO)",
        verl="actor_rollout_ref.rollout.max_model_len",
        verl_sft="data.max_length",
        ge=64,
    ),
]
MicroBatch = Annotated[
    int,
    Setting(
        "Rows that are computed at the same time. This changes memory and time, not the result.",
        unit="rows",
        trl="per_device_train_batch_size",
        verl_sft="data.micro_batch_size_per_gpu",
        ge=1,
    ),
]
Processes = Annotated[
    int,
    Setting(
        "Processes that train together, one on each GPU of the machine; without a GPU they share the CPU. Together "
        "they compute the same gradient as one process. Only SFT trains in several.",
        unit="processes",
        trl="accelerate launch --num_processes",
        ge=1,
    ),
]
WarmupSteps = Annotated[
    int,
    Setting(
        "Optimizer steps over which the learning rate rises from zero.",
        unit="optimizer steps",
        trl="warmup_steps",
        verl="actor_rollout_ref.actor.optim.lr_warmup_steps",
        verl_sft="optim.lr_warmup_steps",
        ge=0,
    ),
]
SaveEvery = Annotated[
    int,
    Setting(
        "Optimizer steps between checkpoints; a run resumes from its last one.",
        unit="optimizer steps",
        paper="10",
        trl="save_steps",
        verl="trainer.save_freq",
        ge=1,
    ),
]
KeepCheckpoints = Annotated[
    int,
    Setting(
        "Number of checkpoints to keep; older ones are deleted.",
        trl="save_total_limit",
        verl="trainer.max_actor_ckpt_to_keep",
        verl_sft="trainer.max_ckpt_to_keep",
        ge=1,
    ),
]
Seed = Annotated[
    int,
    Setting(
        "Seed of the order of tasks and of the random streams of every rollout.",
        trl="seed",
        verl="data.seed",
        verl_sft="trainer.seed",
        ge=0,
        le=2**32 - 1,
    ),
]
Threads = Annotated[int | None, Setting("Number of CPU threads; null uses OMP_NUM_THREADS of the environment.", ge=1)]

# What SFT learns from.
Recordings = Annotated[
    list[str],
    Setting("Recordings, and folders with recordings, to learn from.", paper="about 2,000 trajectories", is_path=True),
]
SftDomain = Annotated[
    str | None,
    Setting(
        "The folder with domain.yaml. Without recordings, its gold seat plays the training tasks first. Evaluations "
        "of the run play its test tasks.",
        is_path=True,
    ),
]
EvaluatedSplit = Annotated[
    Literal["train", "test"] | None,
    Setting("A model is evaluated on the tasks of this split, so recordings of them are refused; null takes all."),
]
LeastReward = Annotated[
    float,
    Setting("A recording with a smaller reward is left out.", paper="successes and verified near-misses"),
]
ValidationShare = Annotated[
    float,
    Setting(
        "Share of the tasks whose recordings are held out, to measure `validation_loss` before the run and up to 20 "
        "times during it; the alarm `overfitting` needs it. 0 holds none out.",
        trl="eval_dataset",
        verl_sft="data.val_files",
        ge=0,
        le=0.5,
    ),
]
SftEpochs = Annotated[
    float,
    Setting(
        "Passes over all recordings.", unit="epochs", paper="2", trl="num_train_epochs", verl="trainer.total_epochs",
        gt=0,
    ),
]  # fmt: skip
SftSteps = Annotated[
    int | None,
    Setting(
        "Optimizer steps, instead of `epochs`; null uses `epochs`.",
        unit="optimizer steps",
        trl="max_steps",
        verl="trainer.total_training_steps",
        ge=1,
    ),
]
SftBatch = Annotated[
    int,
    Setting(
        "Conversations in one optimizer step.",
        unit="rows",
        paper="128",
        trl="per_device_train_batch_size x gradient_accumulation_steps",
        verl="data.train_batch_size",
        ge=1,
    ),
]
SftLearningRate = Annotated[
    float,
    Setting(
        "Learning rate of AdamW. The profiles that train an adapter have 20 to 200 times the rate of `paper`, which "
        "trains all weights.",
        paper="5e-6",
        trl="learning_rate",
        verl="optim.lr",
        gt=0,
    ),
]
Schedule = Annotated[
    Literal["constant_with_warmup", "linear"],
    Setting(
        "How the learning rate continues after the warm-up; `linear` falls to zero at the last step.",
        trl="lr_scheduler_type",
        verl="optim.lr_scheduler_type",
    ),
]

# How GRPO learns from them.
Algorithm = Annotated[
    Literal["grpo", "dapo", "dr_grpo", "gspo"],
    Setting(
        "The loss and its defaults. `grpo`: MUA-RL's, a mean over all tokens of the step, advantages divided by the "
        "group's deviation. `dapo`: a wider clip range above 1, no KL term, truncated rollouts left out, groups "
        "without variance replaced. `dr_grpo`: divided by a constant instead of lengths or deviations, no KL term. "
        "`gspo`: one importance ratio for a whole rollout, with a narrow clip range, no KL term.",
        paper="grpo",
        trl="loss_type, scale_rewards, importance_sampling_level, mask_truncated_completions",
        verl="algorithm.adv_estimator, norm_adv_by_std_in_grpo, loss_agg_mode, policy_loss.loss_mode",
    ),
]
GrpoEpochs = Annotated[
    float,
    Setting(
        "Passes over all training tasks.", unit="epochs", paper="25", trl="num_train_epochs",
        verl="trainer.total_epochs", gt=0,
    ),
]  # fmt: skip
GrpoSteps = Annotated[
    int | None,
    Setting(
        "Optimizer steps, instead of `epochs`; null uses `epochs`.",
        unit="optimizer steps",
        trl="max_steps",
        verl="trainer.total_training_steps",
        ge=1,
    ),
]
TasksPerStep = Annotated[
    int,
    Setting(
        "Tasks in one optimizer step, each with one group.",
        unit="tasks",
        paper="32",
        trl="per_device_train_batch_size x gradient_accumulation_steps / num_generations",
        verl="data.train_batch_size, actor_rollout_ref.actor.ppo_mini_batch_size",
        ge=1,
        le=4096,
    ),
]
GroupSize = Annotated[
    int,
    Setting(
        "Rollouts of one task that are compared with each other.",
        unit="rollouts",
        paper="8",
        trl="num_generations",
        verl="actor_rollout_ref.rollout.n",
        ge=2,
        le=4096,
    ),
]
GrpoLearningRate = Annotated[
    float,
    Setting(
        "Learning rate of AdamW. Lower it if the KL explodes. The profiles that train an adapter have 10 to 50 times "
        "the rate of `paper`, which trains all weights.",
        paper="1e-6",
        trl="learning_rate",
        verl="actor_rollout_ref.actor.optim.lr",
        gt=0,
    ),
]
Beta = Annotated[
    float,
    Setting(
        "Weight of the KL divergence from the frozen reference (the low-variance estimator k3). Raise it if the KL "
        "explodes; 0 leaves the reference out.",
        paper="0.001",
        trl="beta",
        verl="actor_rollout_ref.actor.kl_loss_coef",
        ge=0,
    ),
]
Epsilon = Annotated[
    float,
    Setting(
        "Clip range of the importance ratio below 1, and also above 1 if `epsilon_high` is null. Each batch of "
        "rollouts is one update, in which the ratio is 1, so nothing is clipped.",
        paper="0.2",
        trl="epsilon",
        verl="actor_rollout_ref.actor.clip_ratio",
        gt=0,
    ),
]
EpsilonHigh = Annotated[
    float | None,
    Setting(
        "Clip range of the importance ratio above 1. It has no effect while a batch of rollouts is one update.",
        trl="epsilon_high",
        verl="actor_rollout_ref.actor.clip_ratio_high",
        gt=0,
    ),
]
ImportanceSamplingCap = Annotated[
    float | None,
    Setting(
        "Truncated importance sampling: the gradient of a sampled token is multiplied by the ratio of its probability "
        "in the trainer to its probability in the sampler, but by at most this number. This corrects for a sampler "
        "that rounds differently, such as vLLM. If both agree, the ratio is 1. null turns it off.",
        paper="none",
        trl="vllm_importance_sampling_clip_max",
        verl="algorithm.rollout_correction.rollout_is_threshold",
        gt=0,
    ),
]
Refills = Annotated[
    int,
    Setting(
        "Rounds in which groups that always passed or always failed are replaced by groups of other tasks (dynamic "
        "sampling). A step then has more signal and needs more rollouts. Metrics count all rollouts. On a cluster, "
        "the run ends if a step plays more groups than these rounds and one batch.",
        unit="rounds",
        paper="0",
        verl="algorithm.filter_groups.enable",
        ge=0,
    ),
]
FormatReward = Annotated[
    float,
    Setting(
        "An intermediate reward for a rollout in which every tool call was well formed. It is for experiments: "
        "metrics and evaluations use the reward without it.",
        paper="none: there are many ways to a good result, and models exploit a reward for the way",
        ge=0,
    ),
]
ToolReward = Annotated[
    float,
    Setting(
        "An intermediate reward in proportion to the gold actions whose tool was called. It is for experiments: "
        "metrics and evaluations use the reward without it.",
        paper="none: there are many ways to a good result, and models exploit a reward for the way",
        ge=0,
    ),
]
SkipDeadGroups = Annotated[
    bool,
    Setting(
        "Leaves groups that always passed or always failed out of the gradient, because they contribute only the KL "
        "term. They are counted either way.",
        paper="false",
    ),
]

AlarmLimits = Annotated[
    dict[str, float],
    Setting("Changes to the default limits of the alarms, by name, such as {kl: 0.2}.", names="limits"),
]
PauseOn = Annotated[
    list[str],
    Setting("Alarms that pause the run: it writes a checkpoint and ends, and can be resumed.", names="alarms"),
]
UserPrices = Annotated[
    dict[str, float],
    Setting(
        "Prices of the user's model, as input and output; the metric `cost` uses them.", unit="for a million tokens"
    ),
]
ReportTo = Annotated[
    list[str],
    Setting(
        "Experiment trackers that get every metric, the run's name and its settings without keys: `mlflow`, "
        "`tensorboard`, `trackio`, `wandb`. Each reads its own variables, such as `WANDB_MODE=offline`, where training "
        "runs. tensorboard and mlflow write into the run's folder by default.",
        trl="report_to",
        verl="trainer.logger",
    ),
]
