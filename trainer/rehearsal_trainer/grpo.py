"""GRPO: learns from rollouts with a simulated user and real tools, rewarded only when the work is truly done.

    python -m rehearsal_trainer grpo --config grpo.json
    python -m rehearsal_trainer grpo --config grpo.json --resume

One page: start the gateway over the live model and the engine, then for each optimizer step play a group of
rollouts for each of its tasks and let TRL do the rest. MUA-RL (arXiv 2508.18669): group-relative advantages, a
binary reward, KL to the reference 0.001, loss only on what the model sampled; grpo_config.py has the numbers. What
it leaves out: several updates per batch of rollouts, several rows per rollout (a rollout whose history changed is
not rewarded), overlong-answer shaping.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rehearsal_trainer import alarms, preflight
from rehearsal_trainer.configuration import read_config
from rehearsal_trainer.failures import TrainingError
from rehearsal_trainer.grpo_config import ALGORITHMS, PROFILES, Config, check, rows_per_step
from rehearsal_trainer.messages import Json

if TYPE_CHECKING:
    from rehearsal_trainer.backends.trl import GrpoPlan, Measurements, Optimization, Rollouts
    from rehearsal_trainer.evaluation import Evaluation
    from rehearsal_trainer.progress import RunFolder
    from rehearsal_trainer.rollouts import IntermediateRewards, PlayedRollout, RolloutWorker
    from rehearsal_trainer.task_sets import TaskSet


def main(argv: Sequence[str]) -> int:
    """Runs GRPO; the model lies in <run>/checkpoints/final (an adapter, where LoRA trained)."""
    config, resume = read_config(
        Config, PROFILES, argv, "Learns from rollouts with the engine.", check, ALGORITHMS, needs
    )
    run_grpo(config, resume)
    return 0


def run_grpo(config: Config, resume: bool = False) -> Path:
    """The whole run; returns the folder of the trained model (or of the last checkpoint, when stopped)."""
    import torch

    from rehearsal_trainer.backends.trl import Measurements, grpo_trainer, save, train
    from rehearsal_trainer.models import load_model, load_tokenizer, training_dtype
    from rehearsal_trainer.progress import RunFolder
    from rehearsal_trainer.rollouts import RolloutWorker
    from rehearsal_trainer.serving import gateway_over
    from rehearsal_trainer.session import Sampling
    from rehearsal_trainer.task_sets import draw_order, trained_sets

    if config.threads:
        torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)

    with RunFolder(config.run, "grpo", config, resume) as run:
        run.stop_on_signals()
        run.watch(config.alarms, config.pause_on)
        if config.tensorboard:
            run.write_event_file()

        # Model, gateway over the live weights, engine.
        tokenizer = load_tokenizer(config.model)
        dtype, autocast = training_dtype(config.dtype, config.lora_rank)
        model = load_model(config.model, dtype, trainable_adapter=True)
        gateway = gateway_over(
            model, tokenizer, config.model, config.dialect, Sampling.of(config), config.context, 2 * config.concurrency
        )
        with RolloutWorker(gateway, config.engine_command, config.engine_cwd, run.log) as worker:
            trained = trained_sets(config, worker)
            steps = steps_of(config, sum(len(each.tasks) for each in trained))
            evaluation = evaluation_of(config, run, worker, trained, steps)
            order = draw_order(trained, steps * config.tasks_per_step, config.seed)

            # Train, save, say so.
            measured = Measurements()
            play = step_player(config, run, worker, trained, measured)
            plan, grpo = plans_of(config, run, steps, autocast)
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
                run.ended_early(reached)
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
    from rehearsal_trainer.session import Sampling
    from rehearsal_trainer.task_sets import evaluated_sets, refuse_overlap, say_apart

    evaluated = evaluated_sets(config, run, worker)
    refuse_overlap(trained, evaluated)
    say_apart(run, trained, evaluated, steps)
    if not evaluated:
        return None
    part = Part("evaluate", Sampling.of(config), config.evaluate_trials)
    return Evaluation(run, worker, evaluated, Schedule(config.evaluate_every, steps), config.seed, part)


def needs(config: Config) -> dict[str, Json]:
    """Checkpoints, and at the end the adapter, or the model where all weights are trained."""

    def disk(size: preflight.Size) -> int:
        return preflight.checkpoints(config, size) + preflight.trained(config, size)

    return preflight.needs(config.model, Path(config.run), disk)


def plans_of(config: Config, run: RunFolder, steps: int, autocast: bool) -> tuple[Optimization, GrpoPlan]:
    """The numbers of the optimizer, and those of GRPO."""
    from rehearsal_trainer.backends.trl import GrpoPlan, Optimization

    optimization = Optimization(
        run=run.checkpoints, steps=steps, learning_rate=config.learning_rate, warmup_steps=config.warmup_steps,
        micro_batch=config.micro_batch, accumulation=rows_per_step(config) // config.micro_batch,
        save_every=config.save_every, keep_checkpoints=config.keep_checkpoints, seed=config.seed,
        gradient_checkpointing=config.gradient_checkpointing, lora_rank=config.lora_rank, bf16=autocast,
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
    from rehearsal_trainer.rollout_lines import SUMMARY, write_summary
    from rehearsal_trainer.rollouts import Idle, IntermediateRewards, RolloutRequest, is_dead
    from rehearsal_trainer.session import Sampling
    from rehearsal_trainer.task_sets import draw_order, labels_of

    gateway, sampling = worker.gateway, Sampling.of(config)
    of_label = {label: (each, task) for each in trained for label, task in labels_of(each, trained).items()}

    def play(prompts: Sequence[str], step: int) -> tuple[list[CompletionRow], list[float | None]]:
        started = time.monotonic()
        gateway.generator.refresh()
        before = gateway.generator.sampled_tokens
        folder = run.trajectories(step)
        members = Members()
        idle = Idle(config.alarms["idle_s"], lambda left: run.raise_alarm(alarms.stalled(step, left, config.alarms)))

        def groups_of(labels: Sequence[str]) -> list[list[PlayedRollout]]:
            requests = [
                RolloutRequest(
                    task=of_label[label][1],
                    member=member,
                    seed=f"{config.seed}/step-{step}/{label}/member-{member}",
                    sampling=sampling,
                    recording=str((folder / f"{label.replace('/', '.')}.{member}.traj.jsonl").resolve()),
                    settings=of_label[label][0].settings,
                    group=member // config.group_size,
                )
                for label, member in members.number(labels)
            ]
            played = worker.play(trained[0].settings, requests, idle=idle)
            return [played[at : at + config.group_size] for at in range(0, len(played), config.group_size)]

        groups = groups_of(prompts)
        every = list(groups)
        for number in range(config.refills):
            dead = [at for at, group in enumerate(groups) if is_dead(group)]
            if not dead:
                break
            others = draw_order(trained, len(dead), f"{config.seed}/step-{step}/refill-{number}")
            played = groups_of([label for label in others for _ in range(config.group_size)])
            every += played
            for at, group in zip(dead, played, strict=True):
                groups[at] = group
        measured.values |= measured_in(every, trained)
        write_summary(folder, [rollout for group in every for rollout in group])
        seconds = time.monotonic() - started
        sampled = gateway.generator.sampled_tokens - before
        measured.values |= {"rollout_seconds": seconds, "tokens_per_second": sampled / seconds}
        if config.user_prices:
            measured.values["cost"] = cost_of(measured.values, config.user_prices)
        used = [rollout for group in groups for rollout in group]
        if all(rollout.result.reward is None for rollout in used):
            failure = next((rollout.result.failure for rollout in used if rollout.result.failure), None)
            raise TrainingError(
                f"no rollout of optimizer step {step} could be scored: "
                f"{failure.message if failure else 'no reason given'}. {folder / SUMMARY} says it of each; mend it, "
                "then go on with --resume"
            )
        refuse_unlearnable(used, step, config.context)
        intermediate = IntermediateRewards(config.format_reward, config.tool_reward)
        rows, rewards = training_rows(used, gateway.chat.end_id, intermediate)
        if intermediate != IntermediateRewards():
            learned = [reward for reward in rewards if reward is not None]
            measured.values["trained_reward"] = sum(learned) / max(1, len(learned))
        return rows, rewards

    return play


def refuse_unlearnable(played: Sequence[PlayedRollout], step: int, context: int) -> None:
    """TrainingError, with the reason, where a step has scored rollouts and none of them has a row to learn from."""
    scored = [rollout for rollout in played if rollout.result.reward is not None]
    if any(map(is_learnable, scored)):
        return
    shortest = min(rollout.prompt_length for rollout in scored)
    if shortest >= context:
        raise TrainingError(
            f"no rollout of optimizer step {step} can be learned from: policy, tools and the user's first words need "
            f"{shortest} tokens, and context is {context}"
        )
    changed = sum(rollout.changed_histories > 0 for rollout in scored)
    raise TrainingError(
        f"no rollout of optimizer step {step} can be learned from: in {changed} of {len(scored)} the conversation was "
        "changed after the model's answer, and in the others it gave none"
    )


def is_learnable(rollout: PlayedRollout) -> bool:
    """Whether a rollout's tokens are one row: one that was never answered has none, a changed one has several."""
    return len(rollout.rows) == 1


def cost_of(used: Mapping[str, float], prices: Mapping[str, float]) -> float:
    """What the tokens of the model in the user's seat cost."""
    return sum(used.get(f"user_{kind}_tokens", 0.0) * price for kind, price in prices.items()) / 1e6


def measured_in(groups: Sequence[Sequence[PlayedRollout]], trained: Sequence[TaskSet]) -> dict[str, float]:
    """What the rollouts of a step came to, and those of each domain where there are several."""
    from rehearsal_trainer.rollouts import OF_A_DOMAIN, is_dead, measure

    played = [rollout for group in groups for rollout in group]
    values = measure(played) | {"dead_groups": sum(map(is_dead, groups)) / len(groups)}
    for each in trained if len(trained) > 1 else []:
        own = measure([rollout for rollout in played if rollout.request.settings is each.settings])
        values |= {f"domain/{each.name}/{name}": own[name] for name in OF_A_DOMAIN if name in own}
    return values


class Members:
    """Numbers each task's rollouts of a step from 0, also when a task stands in two of its groups."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def number(self, labels: Sequence[str]) -> list[tuple[str, int]]:
        """Each with a number that no earlier rollout of its task has."""
        numbered = []
        for label in labels:
            self._counts[label] = self._counts.get(label, -1) + 1
            numbered.append((label, self._counts[label]))
        return numbered


def training_rows(
    played: Sequence[Any], end_id: int, intermediate: IntermediateRewards
) -> tuple[list[Any], list[float | None]]:
    """One row and reward per rollout. What cannot train keeps its place with reward None, which TRL leaves out.

    The prompt is the system message alone, the same ids for the whole domain; the first user message stands in
    the completion with mask 0, like every later one.
    """
    from rehearsal_trainer.masks import split_at, without_tail

    rows, rewards = [], []
    for rollout in played:
        usable = is_learnable(rollout)
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
        rewards.append(intermediate.of(rollout) if usable else None)
    return rows, rewards
