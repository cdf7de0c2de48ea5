import * as z from 'zod';
import { jsonObjectSchema } from '../engine/core/values/jsonObjectSchema.ts';

/** The categories of BFCL that are imported, each a domain. */
export const categories = ['base', 'miss_func', 'miss_param', 'long_context'] as const;

const message = z.strictObject({ role: z.string(), content: z.string() });

/** An entry of BFCL's multi-turn files, as every version that is known lays it out. */
export const bfclEntrySchema = z.strictObject({
  id: z.string(),
  question: z.array(z.array(message)).min(1),
  initial_config: z.record(z.string(), z.json()).default({}),
  path: z.array(z.string()).nullish(),
  involved_classes: z.array(z.string()).min(1),
  excluded_function: z.array(z.string()).nullish(),
  missed_function: z.record(z.string().regex(/^\d+$/), z.array(z.string())).nullish(),
});
export type BfclEntry = z.infer<typeof bfclEntrySchema>;

export const answerSchema = z.strictObject({ id: z.string(), ground_truth: z.array(z.array(z.string())) });

/** A gold call as the adapter read it. */
const goldCallSchema = z.object({
  tool: z.string(),
  arguments: jsonObjectSchema,
  floats: z.array(z.string()).optional(),
});
export type GoldCall = z.infer<typeof goldCallSchema>;

/** The adapter's data about a category, apart from its tools. */
export const bfclAboutSchema = z.object({
  /** The start of each entry, with the places of whole numbers in it that are floats. */
  starts: z.record(z.string(), z.object({ config: jsonObjectSchema, floats: z.array(z.string()).optional() })),
  gold: z.record(z.string(), z.array(z.array(goldCallSchema))),
  unreadable: z.record(z.string(), z.string()),
  /** Names of the functions of each class. */
  tools: z.record(z.string(), z.array(z.string())),
  /** The user's message when it brings functions. */
  broughtBy: z.string(),
  /** Steps of a turn after which BFCL ends the conversation. */
  stepLimit: z.int(),
});
export type BfclAbout = z.infer<typeof bfclAboutSchema>;

/** Why an entry can't be a task, or null. */
export function obstacleOf(entry: BfclEntry, { gold, unreadable, tools }: BfclAbout): string | null {
  const problem = unreadable[entry.id];
  if (problem !== undefined) return `its ground truth can't be read: ${problem}`;
  const turns = gold[entry.id];
  if (!turns) return 'it has no ground truth';
  if (turns.length !== entry.question.length)
    return `its ground truth has ${turns.length} turns, and the user has ${entry.question.length}`;
  const spoken = entry.question.find((turn) => turn.some(({ role }) => role !== 'user'));
  if (spoken) return `a turn of it holds a message by the ${spoken.find(({ role }) => role !== 'user')?.role}`;
  const brought = Object.keys(entry.missed_function ?? {});
  const silent = entry.question.findIndex((turn, at) => turn.length === 0 && !brought.includes(String(at)));
  if (silent >= 0) return `the user says nothing in turn ${silent}, and brings no function`;
  if (brought.some((at) => Number(at) === 0 || Number(at) >= turns.length))
    return `missed_function names a turn that does not exist: ${brought.join(', ')}`;
  const offered = new Set(entry.involved_classes.flatMap((name) => tools[name] ?? []));
  const strange = Object.values(entry.missed_function ?? {})
    .flat()
    .filter((name) => !offered.has(name));
  return strange.length > 0 ? `missed_function names ${strange.join(', ')}, which no class of it has` : null;
}

/** Returns what of an entry counts for nothing. */
export function notCarriedIn({
  excluded_function: excluded,
  initial_config: config,
  ...entry
}: BfclEntry): readonly string[] {
  const unused = Object.keys(config).filter((name) => !entry.involved_classes.includes(name));
  return [
    ...(excluded?.length ? ["excluded_function: BFCL's own code does not look at it, so the function is offered"] : []),
    ...(entry.path?.length ? ['path: BFCL does not score it'] : []),
    ...unused.map((name) => `initial_config of ${name}, which is not a class of the entry`),
  ];
}

/** The entry in this engine's words. */
export function taskFrom(entry: BfclEntry, isLong: boolean, about: BfclAbout): Record<string, unknown> {
  const turns = about.gold[entry.id] ?? [];
  const missed = Object.entries(entry.missed_function ?? {});
  const said = entry.question.map((turn) =>
    turn.length === 0 ? about.broughtBy : turn.map(({ content }) => content).join('\n'),
  );
  return {
    split: 'test',
    persona: 'user',
    user: { goal: said.join('\n'), script: said },
    tools: entry.involved_classes.flatMap((name) => about.tools[name] ?? []),
    ...(missed.length > 0 ? { laterTools: missed.map(([turn, tools]) => ({ turn: Number(turn), tools })) } : {}),
    setUp: {
      bfcl: {
        classes: entry.involved_classes,
        ...about.starts[entry.id],
        ...(isLong ? { longContext: true } : {}),
      },
    },
    actions: turns.flatMap((calls, turn) => calls.map((call) => ({ ...call, turn }))),
    script: turns.flatMap((calls) => [...stepsOf(calls, about.stepLimit), 'That is done.']),
    evaluate: ['turns'],
    train: ['turns'],
  };
}

/** A response for each call; more calls than BFCL gives steps to a turn are made in one. */
function stepsOf(calls: readonly GoldCall[], limit: number): readonly (readonly GoldCall[])[] {
  return calls.length < limit ? calls.map((call) => [call]) : [calls];
}
