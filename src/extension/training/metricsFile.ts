import { join } from 'node:path';
import * as z from 'zod';
import { tailLines } from '../../engine/shell/files/lineTail.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { isLifecycle, parseEvent, type RunEvent, valueOfLine } from '../../engine/shell/records/trainingRun.ts';
import type { Alarm, Point, RunStatus } from '../../webview/messages/protocol.ts';
import { runDataOf } from './runData.ts';
import { statusAfter } from './runStatus.ts';

/** The current contents of a training run's folder; see the run folder in docs/training-protocol.md. */
export type RunMetrics = {
  /** Ascending by optimizer step; of a step that was measured again, its highest attempt. */
  readonly points: () => readonly Point[];
  /**
   * Whether what was played in an optimizer step is void: the run continued from an earlier one and is not there yet.
   */
  readonly isSuperseded: (step: number) => boolean;
  readonly status: () => RunStatus;
  /** Returns a description of the training and evaluation data; null until the run has reported it. */
  readonly data: () => string | null;
  /** In the order in which they were raised; what a resumed run does again is void. */
  readonly alarms: () => readonly Alarm[];
  /** Sentences for people: lines that could not be read, and the trainer's own warnings. The newest few. */
  readonly problems: () => readonly string[];
  /** Reads what was added since the last call. */
  readonly refresh: () => Promise<MetricsChange>;
};

export type MetricsChange = {
  /** Points that are new, were measured again, or are superseded now. */
  readonly points: readonly Point[];
  /** Whether a file was started again, which makes everything shown before void. */
  readonly reset: boolean;
  readonly statusChanged: boolean;
  readonly alarmsChanged: boolean;
};

type Attempted = { readonly point: Point; readonly attempt: number };
/** From this attempt on, the run continues from this optimizer step. */
type Resumption = { readonly attempt: number; readonly step: number };

const mostProblems = 3;

/** Reads `metrics.jsonl`, `events.jsonl` and `pid` of a run folder, incrementally. Files may come later. */
export function readMetrics(folder: string): RunMetrics {
  const metrics = tailLines(join(folder, runFiles.metrics));
  const events = tailLines(join(folder, runFiles.events));
  const connection = tailLines(join(folder, runFiles.connection));
  const byStep = new Map<number, Attempted>();
  let last: RunEvent | null = null;
  let status: RunStatus = { type: 'waiting' };
  let data: string | null = null;
  let problems: string[] = [];
  /** Why nothing comes at the moment of a run on another machine. */
  let cut: string[] = [];
  let alarms: readonly Alarm[] = [];
  let resumptions: readonly Resumption[] = [];
  const complain = (problem: string): void => {
    if (!problems.includes(problem)) problems = [...problems, problem].slice(-mostProblems);
  };

  const readPoints = async () => {
    const { lines, reset } = await metrics.read();
    if (reset) byStep.clear();
    const changed = new Set<number>();
    for (const { number, text } of lines) {
      if (text.trim() === '') continue;
      const parsed = parseMetrics(text);
      if (typeof parsed === 'string') complain(`metrics.jsonl, line ${number}: ${parsed}`);
      else if (parsed.attempt >= (byStep.get(parsed.point.step)?.attempt ?? 0)) {
        byStep.set(parsed.point.step, parsed);
        changed.add(parsed.point.step);
      }
    }
    return { changed, reset };
  };

  const readEvents = async () => {
    const { lines, reset } = await events.read();
    if (reset) [last, data, alarms, resumptions] = [null, null, [], []];
    for (const { number, text } of lines) {
      if (text.trim() === '') continue;
      const parsed = parseEvent(text);
      if (typeof parsed === 'string') complain(`events.jsonl, line ${number}: ${parsed}`);
      else if (parsed.type === 'alarm') alarms = withAlarm(alarms, parsed);
      else if (parsed.type === 'warning')
        complain(parsed.message ?? 'The trainer reported a warning without a message.');
      else if (isLifecycle(parsed.type)) last = parsed;
      else data = runDataOf(parsed) ?? data;
      const resumption = typeof parsed === 'string' ? null : resumptionOf(parsed);
      if (resumption === null) continue;
      resumptions = [...resumptions, resumption];
      alarms = alarms.filter(({ step }) => step <= resumption.step);
    }
    return reset;
  };

  const readConnection = async () => {
    for (const { text } of (await connection.read()).lines) {
      const parsed = parseEvent(text);
      if (typeof parsed !== 'string') cut = parsed.type === 'disconnected' && parsed.message ? [parsed.message] : [];
    }
  };

  const isVoid = (measured: Attempted): boolean => resumptions.some((resumption) => voids(resumption, measured));
  const points = () =>
    [...byStep.values()]
      .map((measured): Point => (isVoid(measured) ? { ...measured.point, superseded: true } : measured.point))
      .sort((a, b) => a.step - b.step);

  return {
    points,
    isSuperseded: (step) => {
      const measured = byStep.get(step);
      if (measured) return isVoid(measured);
      const resumed = resumptions.at(-1);
      const counted = points().findLast(({ superseded }) => !superseded)?.step ?? 0;
      // The step after the last one is being played.
      return resumed !== undefined && step > Math.max(resumed.step, counted) + 1;
    },
    status: () => status,
    data: () => data,
    problems: () => [...problems, ...cut],
    alarms: () => alarms,
    refresh: async () => {
      const before = JSON.stringify([status, data, problems, cut]);
      const alarmsBefore = alarms;
      const resumptionsBefore = resumptions.length;
      const eventsReset = await readEvents();
      await readConnection();
      const { changed, reset } = await readPoints();
      const later = resumptions.slice(resumptionsBefore);
      for (const [step, measured] of byStep)
        if (later.some((resumption) => voids(resumption, measured))) changed.add(step);
      status = await statusAfter(last, byStep.size > 0, folder);
      return {
        points: changed.size === 0 ? [] : points().filter(({ step }) => changed.has(step)),
        reset: reset || eventsReset,
        statusChanged: JSON.stringify([status, data, problems, cut]) !== before,
        alarmsChanged: alarms !== alarmsBefore,
      };
    },
  };
}

const timeSchema = z.union([z.number(), z.string()]).optional().catch(undefined);
const metricsLineSchema = z.looseObject({
  step: z.int().nonnegative(),
  time: timeSchema,
  attempt: z.int().optional().catch(undefined),
});

/** Parses one line of `metrics.jsonl`, or returns a sentence about what is wrong with it. */
export function parseMetrics(text: string): Attempted | string {
  const value = valueOfLine(text);
  if (value === undefined) return 'is not JSON and was left out';
  const parsed = metricsLineSchema.safeParse(value);
  if (!parsed.success) return 'expected an object with a whole number "step"; the line was left out';
  const { step, time, attempt = 0, ...rest } = parsed.data;
  const metrics: Record<string, number> = {};
  for (const [name, metric] of Object.entries(rest)) {
    if (typeof metric === 'number' && Number.isFinite(metric)) metrics[name] = metric;
  }
  return { attempt, point: { step, time: epochMilliseconds(time), metrics } };
}

const alarmLineSchema = z.looseObject({
  alarm: z.string(),
  step: z.int(),
  message: z.string(),
  evidence: z.record(z.string(), z.number()).catch({}),
  recordings: z.array(z.string()).catch([]),
  advice: z.string().catch(''),
  pauses: z.boolean().catch(false),
});

/** The alarms with one more; an event that lacks what an alarm needs is not one. */
function withAlarm(alarms: readonly Alarm[], event: RunEvent): readonly Alarm[] {
  const parsed = alarmLineSchema.safeParse(event);
  if (!parsed.success) return alarms;
  const { alarm: name, step, message, evidence, recordings, advice, pauses } = parsed.data;
  return [...alarms, { name, step, message, evidence, recordings, advice, pauses }];
}

const resumedSchema = z.looseObject({ type: z.literal('resumed'), step: z.int(), attempt: z.int() });

/** Returns where an event says that a run continues; null of any other event, and of one that names no step. */
function resumptionOf(event: RunEvent): Resumption | null {
  return resumedSchema.safeParse(event).data ?? null;
}

/** A resumed run does what came after its checkpoint again. */
function voids(resumption: Resumption, { attempt, point }: Attempted): boolean {
  return attempt < resumption.attempt && point.step > resumption.step;
}

function epochMilliseconds(time: number | string | undefined): number | null {
  if (time === undefined) return null;
  const milliseconds = typeof time === 'number' ? time * 1000 : Date.parse(time);
  return Number.isFinite(milliseconds) ? milliseconds : null;
}
