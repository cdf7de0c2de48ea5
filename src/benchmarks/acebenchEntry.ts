import * as z from 'zod';
import { jsonObjectSchema } from '../engine/core/values/jsonObjectSchema.ts';

/** An entry of ACEBench's agent files, as the version that is known lays it out. */
export const acebenchEntrySchema = z.strictObject({
  id: z.string(),
  question: z.string(),
  initial_config: z.record(z.string(), z.json()).default({}),
  path: z.array(z.string()).nullish(),
  function: z.array(z.looseObject({ name: z.string() })).min(1),
  involved_classes: z.array(z.string()).min(1),
});
export type AcebenchEntry = z.infer<typeof acebenchEntrySchema>;

const gold = z.record(z.string(), z.record(z.string(), z.json()));

export const acebenchAnswerSchema = z.strictObject({
  id: z.string(),
  ground_truth: z.union([z.array(gold), gold]),
  mile_stone: z.union([z.array(z.string()).min(1), z.array(z.array(z.string())).min(1)]),
});
export type AcebenchAnswer = z.infer<typeof acebenchAnswerSchema>;

const calls = z.array(
  z.object({
    tool: z.string(),
    arguments: jsonObjectSchema,
    floats: z.array(z.string()).optional(),
  }),
);

/** The milestones of an entry as the adapter read them. */
const waySchema = z.object({
  milestones: z.array(z.array(z.union([z.string(), calls]))),
  unreadable: z.array(z.string()),
  /** The first list as calls that can be made; null without such a list. */
  script: z.array(calls).nullable(),
});

/** The adapter's data about a domain, apart from its tools. */
export const acebenchAboutSchema = z.object({
  ways: z.record(z.string(), waySchema),
  /** Attributes that are compared, by class. */
  saved: z.record(z.string(), z.array(z.string())),
  classes: z.array(z.string()),
  /** The reply to an agent of multi_step that makes no call. */
  nudge: z.string().nullable(),
});
export type AcebenchAbout = z.infer<typeof acebenchAboutSchema>;

/** The words with which a conversation of ACEBench ends. */
export const closing = 'finish conversation';

/** The class whose start is merged with that of every other class. */
const baseClass = 'BaseApi';

/** Why an entry can't be a task, or null. */
export function obstacleOf(
  { id, involved_classes: classes }: AcebenchEntry,
  { ways, saved, classes: known }: AcebenchAbout,
): string | null {
  if (!ways[id]) return 'it has no milestones';
  const strange = classes.filter((name) => !known.includes(name) || !saved[name]);
  return strange.length > 0 ? `it involves ${strange.join(', ')}, which is not a class of the copy` : null;
}

/** Returns what of an entry counts for nothing. */
export function notCarriedIn(entry: AcebenchEntry, { ways }: AcebenchAbout): readonly string[] {
  const { id, path, initial_config: config, involved_classes: classes } = entry;
  const unused = Object.keys(config).filter((name) => name !== baseClass && !classes.includes(name));
  const { unreadable = [], script } = ways[id] ?? {};
  return [
    ...(path?.length ? ['path: ACEBench does not score it'] : []),
    ...unused.map((name) => `initial_config of ${name}, which is not a class of the entry`),
    ...(unreadable.length > 0
      ? [
          'mile_stone: some are not written as Python prints calls, so no tool call equals them; the script makes the calls that were meant',
        ]
      : []),
    ...(script ? [] : ['mile_stone: none of its lists can be replayed, so the script makes no calls']),
  ];
}

/** The entry in this engine's words. */
export function taskFrom(
  entry: AcebenchEntry,
  answer: AcebenchAnswer,
  { ways, saved, nudge }: AcebenchAbout,
): Record<string, unknown> {
  const { question, function: functions, initial_config: config, involved_classes: classes } = entry;
  const way = ways[entry.id];
  const isStep = nudge !== null;
  const kinds = ['Travel', baseClass].filter((name) => classes.includes(name)).join(' ');
  const used = Object.fromEntries(
    Object.entries(config).filter(([name]) => name === baseClass || classes.includes(name)),
  );
  const truth = answer.ground_truth;
  return {
    split: 'test',
    persona: 'user',
    user: { goal: question, script: [question], ...(isStep ? { otherwise: nudge } : {}) },
    tools: functions.map(({ name }) => name),
    ...(isStep || kinds === '' ? {} : { prompt: kinds }),
    setUp: { acebench: { classes, config: used } },
    endState: {
      gold: Array.isArray(truth) ? truth : [truth],
      compared: Object.fromEntries(classes.map((name) => [name, saved[name] ?? []])),
      since: isStep ? 'call' : 'success',
    },
    milestones: way?.milestones ?? [],
    script: [...(way?.script ?? []), isStep ? closing : 'That is done.'],
    evaluate: ['endState'],
    train: ['endState'],
  };
}
