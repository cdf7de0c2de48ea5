"""The table of all metrics of a run. The dashboard and the documentation read it from keys.json. Torch-free.

A name can contain `<tool>`, `<domain>` or `<name>`, which are replaced by names from the run, and `<metric>`, which is
replaced by another metric of the table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rehearsal_trainer.metrics.alarm_kind import LOOP, RunKind

GRPO: Sequence[RunKind] = ("grpo",)
SFT: Sequence[RunKind] = ("sft",)
TRAINED: Sequence[RunKind] = ("sft", "grpo")
PLAYED: Sequence[RunKind] = ("grpo", "evaluate")
"""The results of rollouts are in the metrics of GRPO and in the result of an evaluation."""


@dataclass(frozen=True)
class Metric:
    """A number that is measured in an optimizer step."""

    name: str
    label: str
    runs: Sequence[RunKind]
    """The kinds of run that measure it."""
    about: str
    unit: str | None = None
    decimals: int | None = None
    """The number of decimal places to show; None shows four significant digits."""


@dataclass(frozen=True)
class Chart:
    """A chart of the dashboard, with one metric or several related ones."""

    color: Literal["green", "red", "purple", "blue"]
    metrics: Sequence[str]
    label: str | None = None
    """None uses the label of its only metric; `about` works the same way."""
    about: str | None = None
    least: float | None = 0
    """The lower end of the smallest range that the y axis shows; None fits it to the data. `most` is the upper end."""
    most: float | None = None
    is_lead: bool = False
    """Whether the chart is shown from the start of a run, before anything is measured."""


METRICS: Sequence[Metric] = (
    Metric("reward", "Reward", PLAYED, "Mean reward of the rollouts.", decimals=3),
    Metric("loss", "Loss", TRAINED, "Training loss; in SFT the mean over the tokens that are learned from."),
    Metric(
        "validation_loss", "Validation loss", SFT,
        "Loss on recordings of tasks that SFT does not learn from, with `validation_share`.",
    ),
    Metric("kl", "KL", GRPO, "Distance from the frozen reference, per token (the estimator k3)."),
    Metric("turns", "Turns", PLAYED, "Mean number of turns of a rollout.", "turns", 1),
    Metric(
        "all_correct", "All correct", PLAYED,
        "Share of groups whose rollouts with a reward all have reward 1.",
        "share", 3,
    ),
    Metric(
        "all_wrong", "All wrong", PLAYED,
        "Share of groups whose rollouts with a reward all have reward 0.",
        "share", 3,
    ),
    Metric("completion", "Completion", PLAYED, "Mean share of a task's declared checks that were met.", "share", 3),
    Metric("entropy", "Entropy", TRAINED, "Mean entropy of the model at the tokens that are learned from."),
    Metric("response_length", "Response length", PLAYED, "Mean number of sampled tokens of a rollout.", "tokens", 1),
    Metric(
        "response_length/<percentile>", "Response length, <percentile>", PLAYED,
        "Sampled tokens of a rollout: the number that 10, 50, 90 or 100 % of the rollouts do not exceed.",
        "tokens", 0,
    ),
    Metric(
        "reward_share/<reward>", "Reward <reward>", PLAYED,
        "Share of rollouts with this reward, rounded to tenths; absent if no rollout has it.",
        "share", 3,
    ),
    Metric(
        "pass_at/<k>", "pass@<k>", PLAYED,
        "Estimated chance that at least one of k rollouts of a task succeeds.",
        "share", 3,
    ),
    Metric(
        "pass_hat/<k>", "pass^<k>", PLAYED,
        "Estimated chance that all of k rollouts of a task succeed.",
        "share", 3,
    ),
    Metric("grad_norm", "Gradient norm", TRAINED, "Norm of the gradient, before it is clipped."),
    Metric(
        "calls/<tool>", "Calls of <tool>", PLAYED,
        "Mean number of calls of the tool in a rollout; those of tools that do not exist are counted as `unknown`.",
        "calls", 2,
    ),
    Metric(
        "generic_calls", "Generic tools", PLAYED,
        "Mean number of calls of think, calculate and the like in a rollout.",
        "calls", 2,
    ),
    Metric("handoff", "Human handoff", PLAYED, "Share of rollouts that were handed to a human.", "share", 3),
    Metric("dead_groups", "Dead groups", GRPO, "Share of groups without a difference in reward.", "share", 3),
    Metric(
        "truncated", "Truncated", PLAYED,
        "Share of rollouts in which an answer was cut off, by `max_tokens` or by `context`.",
        "share", 3,
    ),
    Metric(
        "simulator_failed", "Simulator failed", PLAYED,
        "Share of all rollouts that the simulated user broke.",
        "share", 3,
    ),
    Metric(
        "looping", "Looping", PLAYED,
        f"Share of rollouts with a call made {LOOP} times in a row or more.",
        "share", 3,
    ),
    Metric(
        "drift", "Token drift", GRPO,
        "Mean difference of the log-probabilities that tokens were sampled with and those that the trainer computes "
        "of them.",
    ),
    Metric("rollout_seconds", "Rollouts", GRPO, "Wall time of the optimizer step's rollouts.", "seconds", 1),
    Metric(
        "update_seconds", "Update", GRPO,
        "Wall time of the rest of the optimizer step; on a Ray cluster that of updating the weights.",
        "seconds", 1,
    ),
    Metric(
        "tokens_per_second", "Tokens per second", GRPO,
        "Sampled tokens in a second of rollouts.",
        "tokens a second", 1,
    ),
    Metric(
        "cost", "Cost", GRPO,
        "What the model in the user's seat cost, with `user_prices`.",
        "the currency of the prices",
    ),
    Metric(
        "reward_std", "Reward std", GRPO,
        "Standard deviation of the rewards that an optimizer step learned from.",
        decimals=3,
    ),
    Metric(
        "trained_reward", "Trained reward", GRPO,
        "Mean reward that GRPO learned from, with `format_reward` or `tool_reward`; `reward` stays the result of the "
        "work.",
        decimals=3,
    ),
    Metric("learning_rate", "Learning rate", TRAINED, "Learning rate of the optimizer step."),
    Metric(
        "failed", "Failed", PLAYED,
        "Rollouts that say nothing about the model: the simulated user, the environment or the infrastructure broke "
        "them.",
        "rollouts",
    ),
    Metric("stalled", "Stalled", PLAYED, "Share of all rollouts that ran into their time limit.", "share", 3),
    Metric(
        "longest_repeat", "Longest repeat", PLAYED,
        "The longest row of one call, with the same values, in any rollout.",
        "calls",
    ),
    Metric(
        "malformed_calls", "Malformed calls", PLAYED,
        "Mean number of calls in a rollout that could not be read.",
        "calls", 2,
    ),
    Metric(
        "changed_histories", "Changed histories", PLAYED,
        "Mean number of times in a rollout that its earlier messages came back changed. Each starts another row of "
        "tokens, and every row is learned from.",
        decimals=2,
    ),
    Metric(
        "clipped", "Clipped", GRPO,
        "Share of tokens whose importance ratio was clipped, so that they give no gradient.",
        "share", 3,
    ),
    Metric(
        "clipped_low", "Clipped below", GRPO,
        "Share of tokens whose importance ratio was clipped at the lower end; 0 while a batch is one update. "
        "Absent on a Ray cluster, because verl reports both ends together, as `clipped`.",
        "share", 3,
    ),
    Metric(
        "clipped_high", "Clipped above", GRPO,
        "Share of tokens whose importance ratio was clipped at the upper end; 0 while a batch is one update. "
        "Absent on a Ray cluster, because verl reports both ends together, as `clipped`.",
        "share", 3,
    ),
    Metric(
        "sampler_ratio", "Trainer to sampler ratio", GRPO,
        "Mean ratio of the probability that the trainer gives a sampled token to the one it was sampled with; 1 where "
        "sampler and trainer agree. On a Ray cluster, ratios above `importance_sampling_cap` count as the cap.",
        decimals=4,
    ),
    Metric(
        "sampler_ratio_max", "Largest trainer to sampler ratio", GRPO,
        "The largest of the ratios that `sampler_ratio` is the mean of.",
        decimals=4,
    ),
    Metric(
        "sampler_truncated", "Truncated ratios", GRPO,
        "Share of sampled tokens whose trainer to sampler ratio is above `importance_sampling_cap`.",
        "share", 4,
    ),
    Metric(
        "gpu_memory", "GPU memory", TRAINED,
        "Most memory of the GPU that the trainer had in use in the optimizer step, on a Ray cluster since the run "
        "began; absent on a CPU.",
        "GiB", 2,
    ),
    Metric(
        "token_accuracy", "Token accuracy", SFT,
        "Share of the tokens that are learned from which the model thought the likeliest.",
        "share", 3,
    ),
    Metric(
        "tokens", "Tokens", TRAINED,
        "All tokens that the run has computed so far, also those that are not learned from.",
        "tokens",
    ),
    Metric("drift_max", "Largest token drift", GRPO, "The largest of the differences that `drift` is the mean of."),
    Metric("step_seconds", "Seconds", TRAINED, "Wall time of the optimizer step.", "seconds", 1),
    Metric("slowest_rollout_seconds", "Slowest rollout", PLAYED, "Wall time of the slowest rollout.", "seconds", 1),
    Metric(
        "validation_seconds", "Validation seconds", SFT,
        "Wall time of measuring `validation_loss`, which is part of no `step_seconds`.",
        "seconds", 1,
    ),
    Metric(
        "tokens_per_second_per_gpu", "Tokens per second and GPU", GRPO,
        "On a Ray cluster: tokens of the optimizer step, prompts too, in a second of one GPU.",
        "tokens a second", 1,
    ),
    Metric(
        "user_input_tokens", "User's input tokens", PLAYED,
        "Tokens that the model in the user's seat read, in all rollouts.",
        "tokens",
    ),
    Metric(
        "user_output_tokens", "User's output tokens", PLAYED,
        "Tokens that the model in the user's seat wrote, in all rollouts.",
        "tokens",
    ),
    Metric(
        "too_long", "Too long", SFT,
        "Share of the recordings that are longer than `context` and so left out; in the first line only.",
        "share", 3,
    ),
    Metric(
        "not_finite", "Not finite", TRAINED,
        "1 where the loss or the norm of its gradient is not a number; else absent.",
    ),
    Metric("engine/<name>", "Engine: <name>", PLAYED, "Mean of what the engine answers as `metrics` of a rollout."),
    Metric(
        "verl/<name>", "verl: <name>", GRPO,
        "On a Ray cluster: what verl measures beside this table, by its own name.",
    ),
    Metric(
        "domain/<domain>/<metric>", "<domain>: <metric>", GRPO,
        "The metric of one domain's rollouts, where a run trains on several.",
    ),
    Metric(
        "evaluate/success_low", "Evaluated: success, lower end", TRAINED,
        "Where the 95 % interval of the success in an evaluation begins.",
        "share", 3,
    ),
    Metric(
        "evaluate/success_high", "Evaluated: success, upper end", TRAINED,
        "Where the 95 % interval of the success in an evaluation ends.",
        "share", 3,
    ),
    Metric(
        "evaluate/<domain>/success_low", "Evaluated, <domain>: success, lower end", TRAINED,
        "Where that interval begins for one domain.",
        "share", 3,
    ),
    Metric(
        "evaluate/<domain>/success_high", "Evaluated, <domain>: success, upper end", TRAINED,
        "Where that interval ends for one domain.",
        "share", 3,
    ),
    Metric(
        "evaluate/seconds", "Seconds of evaluation", TRAINED,
        "Wall time of an evaluation while training, which is part of no `step_seconds`.",
        "seconds", 1,
    ),
    Metric(
        "evaluate/<metric>", "Evaluated: <metric>", TRAINED,
        "The metric in an evaluation after this optimizer step (0: before the first), over all domains that are "
        "trained on.",
    ),
    Metric(
        "evaluate/<domain>/<metric>", "Evaluated, <domain>: <metric>", TRAINED,
        "The metric in the evaluation on one domain, where there are several or it is held out.",
    ),
)  # fmt: skip

CHARTS: Sequence[Chart] = (
    Chart("green", ["reward"], most=1, is_lead=True),
    Chart("red", ["loss", "validation_loss"], "Loss", "Training loss, and that on what is not learned from.", None,
          is_lead=True),
    Chart("purple", ["kl"], is_lead=True),
    Chart("blue", ["turns"], is_lead=True),
    Chart("green", ["all_correct", "all_wrong"], "All correct and all wrong",
          "Share of groups whose rollouts all have reward 1, or all reward 0.", most=1),
    Chart("green", ["evaluate/reward", "evaluate/completion", "evaluate/<domain>/reward",
                    "evaluate/<domain>/completion"], "Test split",
          "Evaluations while training: mean reward, and share of the tasks' declared checks that were met.", most=1),
    Chart("green", ["completion"], most=1),
    Chart("purple", ["entropy"]),
    Chart("blue", ["response_length", "response_length/<percentile>"], "Response length",
          "Sampled tokens of a rollout: the mean, and what 10, 50, 90 and 100 % of the rollouts do not exceed."),
    Chart("green", ["pass_at/<k>", "pass_hat/<k>"], "pass@k and pass^k",
          "Estimated chance that one of k rollouts of a task succeeds, and that all of them do.", most=1),
    Chart("green", ["reward_share/<reward>"], "Rewards", "Share of rollouts by reward, rounded to tenths.", most=1),
    Chart("red", ["grad_norm"]),
    Chart("blue", ["calls/<tool>"], "Tool calls", "Mean number of calls of a rollout, by tool."),
    Chart("blue", ["generic_calls"]),
    Chart("purple", ["handoff"], most=1),
    Chart("red", ["dead_groups", "truncated", "simulator_failed", "looping"], "Teaches nothing",
          "What teaches nothing, or little: groups with one reward, answers cut off, simulated users that failed, and "
          "calls made again and again.", most=1),
    Chart("purple", ["drift"]),
    Chart("blue", ["rollout_seconds", "update_seconds"], "Seconds by phase",
          "Wall time of an optimizer step: its rollouts, and the update of the weights."),
    Chart("blue", ["tokens_per_second", "tokens_per_second_per_gpu"], "Tokens per second",
          "Sampled tokens in a second of rollouts; on a Ray cluster all tokens of the optimizer step, prompts too, in "
          "a second of one GPU."),
    Chart("blue", ["engine/agentSeconds", "engine/userSeconds", "engine/toolSeconds"], "Seconds of a rollout",
          "Mean time that a rollout waits for the model, the user and the tools."),
    Chart("purple", ["sampler_ratio", "sampler_ratio_max"], "Trainer to sampler ratio",
          "Probability that the trainer gives a sampled token, divided by the one it was sampled with."),
    Chart("red", ["gpu_memory"]),
    Chart("red", ["cost"]),
)  # fmt: skip
"""In their order."""


def metric_of(name: str) -> Metric | None:
    """Returns the metric of the table that has this name, or whose pattern matches it."""
    for metric in METRICS:
        pattern = re.sub(r"<(\w+)>", r"(?P<\1>.+)", metric.name)
        found = re.fullmatch(pattern, name)
        if found and ("metric" not in found.groupdict() or metric_of(found["metric"])):
            return metric
    return None
