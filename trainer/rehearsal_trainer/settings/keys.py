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
        "The set of defaults that every other key is read over: `cpu` for a laptop, `gpu` for one GPU, `paper` for "
        "MUA-RL's recipe on a cluster, `trial` for steps of seconds that only show that everything works."
    ),
]
Run = Annotated[str, Setting("The run's folder.", is_given=True)]
Python = Annotated[
    str | list[str] | None,
    Setting(
        "An existing Python that trains as it is, without downloads: its absolute path, or the argument list that "
        "starts it in a container, such as `[apptainer, exec, trainer.sif, python]`. null makes the trainer's own "
        "environment on first use. --python sets it.",
    ),
]
Model = Annotated[
    str,
    Setting(
        "The model to start from: smollm2, tiny (random, for trying out), a folder with a model, a checkpoint or an "
        "adapter, or an id of the Hugging Face hub. Its weights at the start are the frozen reference of the KL term.",
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
        "Whether the model thinks before it answers, where its chat template lets one choose. Neither users nor tools "
        "see what it thinks.",
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
        "LoRA or all weights: 0 trains all weights, more trains an adapter of this rank on all linear layers (its "
        "alpha is twice the rank, without dropout). With an adapter the reference is the model without it; with all "
        "weights it is a second copy of the model in memory.",
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
        "In which numbers the weights lie. `auto` is bfloat16 where the hardware computes in it, else float32; where "
        "all weights train it is float32, and only the arithmetic is bfloat16.",
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
        "Computes activations again in place of keeping them: less memory, about a third more time. The policy and "
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
        "The longest conversation, with the policy and the tools. A rollout that needs more ends with reward 0; a "
        "recording that is longer is left out of SFT and counted.",
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
        "Rows that are computed at once. It changes memory and time, not the result.",
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
        "they compute the same gradient as one process. SFT alone trains in several.",
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
        "Checkpoints that are kept; older ones are deleted.",
        trl="save_total_limit",
        verl="trainer.max_actor_ckpt_to_keep",
        verl_sft="trainer.max_ckpt_to_keep",
        ge=1,
    ),
]
Seed = Annotated[
    int,
    Setting(
        "The source of the order of tasks and of every rollout's randomness.",
        trl="seed",
        verl="data.seed",
        verl_sft="trainer.seed",
        ge=0,
        le=2**32 - 1,
    ),
]
Threads = Annotated[
    int | None, Setting("Threads of the CPU; null leaves it to the environment's OMP_NUM_THREADS.", ge=1)
]

# What SFT learns from.
Recordings = Annotated[
    list[str],
    Setting("Recordings, and folders with recordings, to learn from.", paper="about 2,000 trajectories", is_path=True),
]
SftDomain = Annotated[
    str | None,
    Setting(
        "The folder with domain.yaml. Its gold seat plays the training tasks where there are no recordings, and a run "
        "that is evaluated plays its test tasks.",
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
        "Share of the tasks whose recordings are not learned from, to measure `validation_loss` before the run and up "
        "to 20 times in it; the alarm `overfitting` needs it. 0 learns from all.",
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
        "Optimizer steps, in place of `epochs`; null counts epochs.",
        unit="optimizer steps",
        trl="max_steps",
        verl="trainer.total_training_steps",
        ge=1,
    ),
]
SftBatch = Annotated[
    int,
    Setting(
        "Conversations of one optimizer step.",
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
        "Size of AdamW's steps. An adapter wants 10 to 200 times as much as all weights.",
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
        "group's deviation. `dapo`: clipping is wider upwards, no KL term, truncated rollouts left out, groups "
        "without variance replaced. `dr_grpo`: divided by a constant and not by lengths or deviations, no KL term. "
        "`gspo`: one importance ratio for a whole rollout, clipped narrowly, no KL term.",
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
        "Optimizer steps, in place of `epochs`; null counts epochs.",
        unit="optimizer steps",
        trl="max_steps",
        verl="trainer.total_training_steps",
        ge=1,
    ),
]
TasksPerStep = Annotated[
    int,
    Setting(
        "Tasks, and so groups, of one optimizer step.",
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
        "Size of AdamW's steps. Lower it where the KL explodes. An adapter wants 10 to 50 times as much.",
        paper="1e-6",
        trl="learning_rate",
        verl="actor_rollout_ref.actor.optim.lr",
        gt=0,
    ),
]
Beta = Annotated[
    float,
    Setting(
        "Weight of the KL divergence from the frozen reference (the low-variance estimator k3). Raise it where the KL "
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
        "Clip range of the importance ratio below 1, and above it where `epsilon_high` is null. Each batch of rollouts "
        "is one update, in which the ratio is 1, so nothing is clipped.",
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
        "Truncated importance sampling: the gradient of a sampled token is multiplied by the ratio of the probability "
        "that the trainer gives it to the one it was sampled with, and by this number at most. It corrects for a "
        "sampler that rounds differently, such as vLLM; where both agree the ratio is 1. null leaves it out.",
        paper="none",
        trl="vllm_importance_sampling_clip_max",
        verl="algorithm.rollout_correction.rollout_is_threshold",
        gt=0,
    ),
]
Refills = Annotated[
    int,
    Setting(
        "Rounds in which groups that are all right or all wrong are replaced by groups of other tasks (dynamic "
        "sampling): more signal in a step, for more rollouts. Metrics count all that were played. On a cluster a step "
        "that plays more groups than these rounds and one batch more ends the run.",
        unit="rounds",
        paper="0",
        verl="algorithm.filter_groups.enable",
        ge=0,
    ),
]
FormatReward = Annotated[
    float,
    Setting(
        "An intermediate reward, added to that of a rollout in which every call of a tool was well formed. For "
        "experiments: what is measured and evaluated stays the reward of the work alone.",
        paper="none: many ways lead to a good end, and a reward for the way is gamed",
        ge=0,
    ),
]
ToolReward = Annotated[
    float,
    Setting(
        "An intermediate reward, added in proportion to the gold actions whose tool was called. For experiments: what "
        "is measured and evaluated stays the reward of the work alone.",
        paper="none: many ways lead to a good end, and a reward for the way is gamed",
        ge=0,
    ),
]
SkipDeadGroups = Annotated[
    bool,
    Setting(
        "Leaves groups that are all right or all wrong out of the gradient: they hold nothing but the KL term. They "
        "are counted either way.",
        paper="false",
    ),
]

AlarmLimits = Annotated[
    dict[str, float],
    Setting("Limits of the alarms that are not the default ones, by name, such as {kl: 0.2}.", names="limits"),
]
PauseOn = Annotated[
    list[str],
    Setting("Alarms that pause the run: it writes a checkpoint and ends, and can be resumed.", names="alarms"),
]
UserPrices = Annotated[
    dict[str, float],
    Setting(
        "What the user's model costs, as input and output; the metric `cost` adds it up.", unit="for a million tokens"
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
