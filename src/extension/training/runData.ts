import * as z from 'zod';
import type { RunEvent } from '../../engine/shell/records/trainingRun.ts';

const part = z.looseObject({ domain: z.string(), tasks: z.int(), user: z.string() });
const dataSchema = z.looseObject({
  type: z.literal('data'),
  train: z.array(part),
  evaluate: z.array(part),
  shared_simulators: z.array(z.string()).catch([]),
});
type Part = z.infer<typeof part>;

/**
 * Returns what a run learns from, what it is evaluated on, and who plays the users, in a sentence or two; null of other
 * events.
 */
export function runDataOf(event: RunEvent): string | null {
  const { data } = dataSchema.safeParse(event);
  if (!data) return null;
  const { train, evaluate, shared_simulators: shared } = data;
  const learned = train.length === 0 ? '' : `Learns from ${tasksOf(train)}, with ${usersOf(train)} as the user.`;
  if (evaluate.length === 0) return `${learned} Nothing is evaluated while it trains.`.trim();
  const evaluated = `Evaluated on ${tasksOf(evaluate)}, none of which it learns from, with ${usersOf(evaluate)} as the user.`;
  const both = shared.length === 0 ? '' : `The same simulator, ${list(shared)}, plays the user in both.`;
  return [learned, evaluated, both].filter(Boolean).join(' ');
}

const list = (words: readonly string[]): string => new Intl.ListFormat('en').format([...new Set(words)]);
const tasksOf = (parts: readonly Part[]): string =>
  list(parts.map(({ tasks, domain }) => `${tasks} ${tasks === 1 ? 'task' : 'tasks'} of ${domain}`));
const usersOf = (parts: readonly Part[]): string => list(parts.map(({ user }) => user));
