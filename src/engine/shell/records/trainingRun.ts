import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { readBoundedText } from '../files/boundedFile.ts';
import { runFiles } from './runFiles.ts';

/** The events of a training run that say how far it is: its beginnings and its ends (`docs/training-protocol.md`). */
export const lifecycle = ['started', 'resumed', 'paused', 'stopped', 'finished', 'error'] as const;
export type Lifecycle = (typeof lifecycle)[number];

export function isLifecycle(type: string | undefined): type is Lifecycle {
  return (lifecycle as readonly (string | undefined)[]).includes(type);
}

/**
 * The value of a line that a trainer wrote, undefined for a torn one. Python writes NaN and Infinity, which JSON does
 * not know; such a value was not measured, and is null.
 */
export function valueOfLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const repaired = text.replace(/([:[,]\s*)-?(?:NaN|Infinity)(?=\s*[,}\]])/g, '$1null');
    try {
      return JSON.parse(repaired);
    } catch {
      return undefined;
    }
  }
}

const eventSchema = z.looseObject({
  type: z.string(),
  message: z.string().optional().catch(undefined),
  step: z.int().optional().catch(undefined),
});
export type RunEvent = z.infer<typeof eventSchema>;

/** One line of `events.jsonl`, or a sentence that says what is wrong with it. */
export function parseEvent(text: string): RunEvent | string {
  const value = valueOfLine(text);
  if (value === undefined) return 'is not JSON and was left out';
  const parsed = eventSchema.safeParse(value);
  return parsed.success ? parsed.data : 'expected an object with a "type"; the line was left out';
}

type LastWord = {
  readonly type: Lifecycle | null;
  readonly message: string;
  /** The optimizer step, where the event has one. */
  readonly step?: number | undefined;
};

/**
 * Returns how far a run has come by its own words: `type` is the last of its beginnings and ends, null where it said
 * none.
 */
export function lastWordOf(run: string): LastWord {
  const path = join(run, runFiles.events);
  const lines = existsSync(path) ? readBoundedText(path).split('\n') : [];
  for (const line of lines.reverse()) {
    const event = parseEvent(line);
    if (typeof event !== 'string' && isLifecycle(event.type))
      return { type: event.type, message: event.message ?? '', step: event.step };
  }
  return { type: null, message: '' };
}

const rolloutSchema = z.looseObject({
  task: z.string(),
  /** Never guessed: a line with something else in its place is not a line. */
  reward: z.number().nullable().default(null),
  member: z.int().nullable().catch(null),
  turns: z.number().nullable().catch(null),
  end_reason: z.string().nullable().catch(null),
  failure: z.looseObject({ who: z.string(), message: z.string() }).nullable().catch(null),
  /** The agent's calls by tool. */
  calls: z.record(z.string(), z.number()).catch({}),
  recording: z.string().nullable().catch(null),
});
export type RolloutLine = z.infer<typeof rolloutSchema>;

/** One line of a `rollouts.jsonl`; undefined for an empty or torn one, and for one that says no task. */
export function rolloutOfLine(text: string): RolloutLine | undefined {
  return rolloutSchema.safeParse(valueOfLine(text)).data;
}

/** Returns the model that the runs behind a checkpoint began with: `tiny`, or any other model as it is named. */
export function firstModelOf(checkpoint: string): string {
  const seen = new Set<string>();
  let model = checkpoint;
  // A configuration that was edited can lead back to a checkpoint of its own run.
  while (!seen.has(model) && basename(dirname(model)) === runFiles.checkpoints) {
    seen.add(model);
    const config = join(dirname(dirname(model)), runFiles.config);
    model =
      modelSchema.safeParse(existsSync(config) ? valueOfLine(readBoundedText(config)) : undefined).data?.model ?? model;
  }
  return model;
}

const modelSchema = z.looseObject({ model: z.string() });

/** The names of the checkpoints that lie in a run's folder on this machine, ascending by step. */
export function checkpointsOf(run: string): readonly string[] {
  const folder = join(run, runFiles.checkpoints);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => /^(final|checkpoint-\d+)$/.test(name)).sort(byStep);
}

/** Ascending by step; `final` is the last one. */
export function byStep(one: string, other: string): number {
  const step = (name: string) => (name === 'final' ? Number.MAX_SAFE_INTEGER : Number(name.split('-').at(-1)) || 0);
  return step(one) - step(other);
}
