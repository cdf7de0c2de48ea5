import * as z from 'zod';
import { type TrainingKind, trainingKinds } from '../domain/trainingKind.ts';
import { contentHash } from '../values/hash.ts';
import type { JsonObject } from '../values/json.ts';
import { type Estimate, mean, wilson } from '../values/statistics.ts';
import { type Comparison, compareRuns } from './comparison.ts';
import { rewardsByTask } from './metrics.ts';

const keys = z.record(z.string(), z.json());

const stageKeys = {
  sft: keys
    .optional()
    .describe(
      'Keys of SFT, as `npx rehearsal train sft --explain` has them; trials: rollouts of the gold seat for each task.',
    ),
  grpo: keys.optional().describe('Keys of GRPO, as `npx rehearsal train grpo --explain` has them.'),
  evaluate: keys.optional().describe('Keys of the evaluation, as `npx rehearsal train evaluate --explain` has them.'),
};

/** `*.experiment.yaml`: what is the same in all arms, the arms, and what is compared. */
export const experimentFileSchema = z.strictObject({
  domain: z.string().default('.').describe('The default domain of every stage, relative to this file.'),
  model: z
    .string()
    .default('smollm2')
    .describe('The model that every arm starts from, as in `npx rehearsal train --model`.'),
  seeds: z
    .array(z.int())
    .min(1)
    .refine((seeds) => new Set(seeds).size === seeds.length, 'a seed appears twice')
    .default([1])
    .describe('Every arm is run once for each of these seeds.'),
  ...stageKeys,
  arms: z
    .record(
      z.string(),
      z.strictObject({
        ...stageKeys,
        sft: stageKeys.sft.describe(
          'Keys of SFT in this arm, on top of those of all arms; {} adds none. Without it, there is no SFT.',
        ),
        grpo: stageKeys.grpo.describe(
          'Keys of GRPO in this arm, on top of those of all arms; {} adds none. It runs after SFT.',
        ),
        evaluate: stageKeys.evaluate.describe('Keys of the evaluation in this arm, on top of those of all arms.'),
      }),
    )
    .refine((arms) => Object.keys(arms).length > 0, 'an experiment has one arm at least')
    // Folders are named after the arms.
    .refine((arms) => Object.keys(arms).every((name) => /^[\w+.-]+$/.test(name)), {
      error: 'the name of an arm has letters, digits and + . _ - only',
    })
    .describe('The arms to compare, by name. Each is trained with SFT, GRPO, both or neither, and then evaluated.'),
  compare: z
    .array(
      z
        .array(z.string())
        .refine(
          (pair) => pair.length === 2 && pair[0] !== pair[1],
          'a pair of two arms is expected, such as [sft, grpo]',
        ),
    )
    .default([])
    .describe('Pairs of arms: how far the second is above the first.'),
});

export type Experiment = z.infer<typeof experimentFileSchema>;

/** One run of the trainer. */
export type Stage = {
  /** Of its folder: the kind, the seed, and a hash of all that it depends on, whatever else the experiment has. */
  readonly name: string;
  readonly kind: TrainingKind;
  readonly seed: number;
  readonly keys: JsonObject;
  /** The stage whose checkpoint it begins with; null: the experiment's model. */
  readonly after: string | null;
  /** The arms that it is a part of. */
  readonly arms: readonly string[];
};

/** The stages of an experiment, and which of them measure an arm. */
export type Plan = {
  /** In an order in which they can be run. Stages that arms have in common are one. */
  readonly stages: readonly Stage[];
  /** The evaluation of each arm and seed. */
  readonly measured: readonly { readonly arm: string; readonly seed: number; readonly stage: string }[];
};

/** Returns what an experiment runs: seed by seed, so that one seed of all arms can be looked at early. */
export function planOf(experiment: Experiment): Plan {
  const stages = new Map<string, Stage>();
  const measured = experiment.seeds.flatMap((seed) =>
    Object.entries(experiment.arms).map(([arm, own]) => {
      let after: string | null = null;
      for (const kind of trainingKinds) {
        if (kind !== 'evaluate' && own[kind] === undefined) continue;
        const keys: JsonObject = { domain: experiment.domain, ...experiment[kind], ...own[kind], seed };
        const name: string = `${kind}-seed${seed}-${contentHash([experiment.model, after, kind, keys]).slice(0, 12)}`;
        const arms: readonly string[] = [...(stages.get(name)?.arms ?? []), arm];
        stages.set(name, { name, kind, seed, keys, after, arms });
        after = name;
      }
      return { arm, seed, stage: after ?? '' };
    }),
  );
  return { stages: [...stages.values()], measured };
}

/** A rollout of an evaluation. */
type Rollout = {
  readonly task: string;
  /** Null where nothing can be said about the model. */
  readonly reward: number | null;
  /** The tools that were called, with the number of calls; equal texts are one route. */
  readonly route: string;
};

/** The rollouts of the evaluation of an arm and a seed. */
export type Measured = { readonly arm: string; readonly seed: number; readonly rollouts: readonly Rollout[] };

export type ExperimentResult = {
  readonly arms: readonly {
    readonly arm: string;
    /** Of the mean rewards of the tasks, each over all its trials and seeds. */
    readonly reward: Estimate;
    readonly tasks: number;
    /** The mean over tasks with each seed alone. */
    readonly bySeed: readonly { readonly seed: number; readonly reward: number; readonly rollouts: number }[];
    /** Different routes that the trials of a task took with one seed, mean over tasks and seeds. */
    readonly routes: number;
    readonly notScored: number;
  }[];
  readonly comparisons: readonly (Comparison & { readonly from: string; readonly to: string })[];
};

/** The result of the arms that are measured so far, in the order of the experiment. */
export function resultOf(experiment: Experiment, measured: readonly Measured[]): ExperimentResult {
  const of = (arm: string) => measured.filter((each) => each.arm === arm && each.rollouts.length > 0);
  const rolloutsOf = (arm: string) => of(arm).flatMap(({ rollouts }) => rollouts);
  const known = Object.keys(experiment.arms).filter((arm) => of(arm).length > 0);
  return {
    arms: known.map((arm) => {
      const rewards = rewardsByTask(rolloutsOf(arm));
      return {
        arm,
        reward: wilson(rewards),
        tasks: rewards.length,
        bySeed: of(arm).map(({ seed, rollouts }) => ({
          seed,
          reward: mean(rewardsByTask(rollouts)),
          rollouts: rollouts.length,
        })),
        routes: mean(of(arm).flatMap(({ rollouts }) => routesByTask(rollouts))),
        notScored: rolloutsOf(arm).filter(({ reward }) => reward === null).length,
      };
    }),
    comparisons: experiment.compare
      .filter((pair) => pair.every((arm) => known.includes(arm)))
      .map(([from = '', to = '']) => ({ from, to, ...compareRuns(rolloutsOf(from), rolloutsOf(to)) })),
  };
}

function routesByTask(rollouts: readonly Rollout[]): readonly number[] {
  const tasks = Map.groupBy(rollouts, ({ task }) => task).values();
  return [...tasks].map((rows) => new Set(rows.map(({ route }) => route)).size);
}
