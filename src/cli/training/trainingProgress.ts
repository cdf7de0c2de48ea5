import { join } from 'node:path';
import * as z from 'zod';
import { counted } from '../../engine/core/text/counted.ts';
import { tailLines } from '../../engine/shell/files/lineTail.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { parseEvent, type RunEvent, valueOfLine } from '../../engine/shell/records/trainingRun.ts';
import type { Io } from '../terminal/io.ts';

const measured = z.number().optional().catch(undefined);
const metricsSchema = z.looseObject({ step: z.int(), loss: measured, reward: measured, step_seconds: measured });

const evaluatedSchema = z.looseObject({
  domain: z.string(),
  step: z.int(),
  right: z.int(),
  rollouts: z.int(),
  success: z.number().nullable(),
});

const playedSchema = z.object({ part: z.string(), rollouts: z.int(), planned: z.int(), right: z.int() });

const pollMs = 500;

export type TrainingProgress = {
  /** Prints what the run writes while `act` runs, and the rest of it at the end. */
  readonly during: <Result>(io: Pick<Io, 'err'>, act: () => Promise<Result>) => Promise<Result>;
};

/** Opens the metrics and events of a run. What they have already is not printed. */
export async function laterProgress(run: string): Promise<TrainingProgress> {
  const progress = progressOf(run);
  await progress.read();
  return progress;
}

/** Returns the progress of a run from its first line. */
export function progressOf(run: string): TrainingProgress & { readonly read: () => Promise<readonly string[]> } {
  const events = tailLines(join(run, runFiles.events));
  const metrics = tailLines(join(run, runFiles.metrics));
  let steps: number | undefined;
  const read = async () => {
    const said = (await events.read()).lines.flatMap(({ text }) => {
      const event = parseEvent(text);
      if (typeof event === 'string') return [];
      const total = event['steps'];
      if (typeof total === 'number') steps = total;
      return eventLine(event) ?? [];
    });
    const done = (await metrics.read()).lines.flatMap(({ text }) => stepLine(text, steps) ?? []);
    return [...said, ...done];
  };
  return {
    read,
    during: async (io, act) => {
      const show = async () => {
        for (const line of await read()) io.err(`${line}\n`);
      };
      let showing = Promise.resolve();
      // What cannot be read is reported by the readers of the whole run.
      const next = () => {
        showing = showing.then(show).catch(() => undefined);
      };
      const timer = setInterval(next, pollMs);
      try {
        return await act();
      } finally {
        clearInterval(timer);
        next();
        await showing;
      }
    },
  };
}

/** Returns a line of `metrics.jsonl` as text; null for one without an optimizer step. */
function stepLine(line: string, steps: number | undefined): string | null {
  const { data } = metricsSchema.safeParse(valueOfLine(line));
  if (data === undefined || data.step === 0) return null;
  const { step, step_seconds: seconds } = data;
  const facts = [valuesOf(data), ...(seconds === undefined ? [] : [`${seconds.toFixed(1)} s`])].filter(Boolean);
  const of = steps === undefined ? '' : ` of ${steps}`;
  return `optimizer step ${step}${of}${facts.length === 0 ? '' : `: ${facts.join(', ')}`}`;
}

/** Returns the loss and the reward that a line of `metrics.jsonl` has, as text. */
export function valuesOf(line: unknown): string {
  const { loss, reward } = metricsSchema.safeParse(line).data ?? {};
  return [
    ...(reward === undefined ? [] : [`reward ${reward.toFixed(3)}`]),
    ...(loss === undefined ? [] : [`loss ${loss.toFixed(4)}`]),
  ].join(', ');
}

const resumedSchema = z.looseObject({ step: z.int(), incomplete: z.array(z.int()).optional().catch(undefined) });

function eventLine(event: RunEvent): string | null {
  const { type, message = '', step } = event;
  if (type === 'warning') return `warning: ${message}`;
  if (type === 'alarm') return `alarm ${event['alarm']} at optimizer step ${step}: ${message}`;
  if (type === 'played') return playedLine(event);
  if (type === 'resumed') return resumedLine(event);
  const { data } = evaluatedSchema.safeParse(event);
  if (type !== 'evaluated' || data === undefined) return null;
  const { domain, success, right, rollouts } = data;
  const when = data.step === 0 ? 'before training' : `after optimizer step ${data.step}`;
  const share =
    success === null ? 'nothing could be scored' : `${(100 * success).toFixed(1)} % (${right} of ${rollouts})`;
  return `evaluation on ${domain} ${when}: ${share}`;
}

/** Returns where a run continues; null for an evaluation, which has no checkpoints. */
function resumedLine(event: RunEvent): string | null {
  const { data } = resumedSchema.safeParse(event);
  if (data === undefined || event['kind'] === 'evaluate') return null;
  const { step, incomplete = [] } = data;
  const from = step === 0 ? 'restarted before optimizer step 1' : `resumed from optimizer step ${step}`;
  if (incomplete.length === 0) return from;
  const left = incomplete.length === 1 ? 'checkpoint of step' : 'checkpoints of steps';
  const was = incomplete.length === 1 ? 'was' : 'were';
  return `${from}; the ${left} ${incomplete.join(', ')} ${was} not complete`;
}

function playedLine(event: RunEvent): string | null {
  const { data } = playedSchema.safeParse(event);
  return data ? `${data.part}: ${data.rollouts} of ${counted(data.planned, 'rollout')}, ${data.right} right` : null;
}
