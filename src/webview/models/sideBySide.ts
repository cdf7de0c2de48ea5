import { endedByPerson, endReasonText, forkText, isEndedByPerson } from '../../engine/core/events/displayText.ts';
import type { AlignedRow, ComparedRecording, RecordingsCompared } from '../messages/compared.ts';
import { duration } from './duration.ts';
import { nameOf } from './recordingName.ts';

/** Rows before the first difference that are shown for their context. */
const context = 3;
export const rowsPerPage = 60;

/** A part of the rows, with how many lie before and after it. */
export type Window = {
  readonly rows: readonly AlignedRow[];
  readonly start: number;
  readonly before: number;
  readonly after: number;
  /** The index of the first row that differs; -1 if none does. */
  readonly parting: number;
};

/** Returns where the rows that are shown first begin: a little before the two part, else at the beginning. */
export function firstStart(rows: readonly AlignedRow[]): number {
  return Math.max(0, partingOf(rows) - context);
}

/** The rows from a place on. A place that does not exist becomes the nearest one. */
export function windowOf(rows: readonly AlignedRow[], start: number): Window {
  const from = Math.min(Math.max(0, start), Math.max(0, rows.length - 1));
  const shown = rows.slice(from, from + rowsPerPage);
  const after = rows.length - from - shown.length;
  return { rows: shown, start: from, before: from, after, parting: partingOf(rows) };
}

function partingOf(rows: readonly AlignedRow[]): number {
  return rows.findIndex(({ isAlike }) => !isAlike);
}

/** Returns a sentence about where the two diverge: by their parents if they are related, else by their messages. */
export function partingText(
  { fork, divergence, recordings }: RecordingsCompared,
  [one, other]: readonly [string, string] = ['A', 'B'],
): string {
  const [first, second] = recordings;
  if (first.path === second.path) return 'Both sides show the same recording.';
  const names = [nameOf(first.path), nameOf(second.path)] as const;
  const related = fork ? `${forkText(named(fork), names, [one, other])} ` : '';
  if (!divergence) return `${related}The conversations and calls are identical.`;
  const [left = '', right = ''] = divergence.steps.map((step) => (step === null ? 'the end' : `step ${step}`));
  const what = { user: 'the user speaks', agent: 'the agent acts', result: 'a tool answers', end: 'the rollout ends' };
  const at = left === right ? left : `${left} of ${one} and ${right} of ${other}`;
  return `${related}They diverge at ${at}, where ${what[divergence.what]} differently.`;
}

type Fork = NonNullable<RecordingsCompared['fork']>;

/** Returns how two recordings are related, by the names of recordings and not of their files. */
function named({ origin, between: [before, behind], ...fork }: Fork): Fork {
  const between: Fork['between'] = [before.map(nameOf), behind.map(nameOf)];
  return { ...fork, origin: nameOf(origin), between };
}

/** Whether a recording has no end: its rollout was stopped or is still running. */
const isOpen = ({ measure }: ComparedRecording): boolean => measure.endReason === 'cancelled';

/** Returns why recordings without an end have no reward; null if both came to their end. */
export function stoppedText(
  { recordings }: Pick<RecordingsCompared, 'recordings'>,
  letters: readonly [string, string],
): string | null {
  const texts = letters.flatMap((letter, index) => {
    const recording = recordings[index === 0 ? 0 : 1];
    if (!isOpen(recording)) return [];
    return recording.isRunning
      ? [`${letter} is still running, so it has no reward yet.`]
      : [`${letter} was stopped before it ended, so it has no reward.`];
  });
  return texts.join(' ') || null;
}

/** Returns where a recording without an end stops, below its last message; null for one that came to its end. */
export function lastNote(recording: ComparedRecording): string | null {
  if (!isOpen(recording)) return null;
  if (recording.isRunning) return 'The rollout is still running.';
  return `The recording ends here${recording.stoppedCalls.length === 0 ? '' : ', before the call ran'}.`;
}

/** The names of two recordings; where they have one name, as a task has at two optimizer steps, with their folders. */
export function namesOf(paths: readonly [string, string]): readonly [string, string] {
  const [first, second] = paths;
  const isOneName = nameOf(first) === nameOf(second) && first !== second;
  const shown = (path: string) => (isOneName ? `${runOf(path)}/${nameOf(path)}` : nameOf(path));
  return [shown(first), shown(second)];
}

/** The run that a recording is in: the name of its folder. */
export function runOf(path: string): string {
  return path.split(/[\\/]/).at(-2) ?? '';
}

/** The heading over two recordings: their task, where it is one. */
export function headingOf({ recordings: [first, second] }: RecordingsCompared): string {
  const { task } = first.started;
  return task === second.started.task
    ? `Two recordings of ${task}`
    : `Two recordings: ${task} and ${second.started.task}`;
}

/** A measured value of two recordings. */
export type ComparisonRow = { readonly label: string; readonly cells: readonly [string, string] };

/** The numbers of both, in rows. */
export function comparisonRows({ recordings }: RecordingsCompared): readonly ComparisonRow[] {
  const row = (label: string, text: (recording: ComparedRecording) => string): ComparisonRow => ({
    label,
    cells: [text(recordings[0]), text(recordings[1])],
  });
  return [
    row('Reward', ({ measure }) => String(measure.reward ?? 'none')),
    row('Why', ({ measure }) => measure.failure?.message || measure.reason || 'the rollout has not ended'),
    row('Who failed', ({ measure, started }) =>
      isEndedByPerson({ user: started.user, ...measure }) ? endedByPerson : (measure.failedBy ?? 'none'),
    ),
    row('How it ended', ({ measure, isRunning }) =>
      isRunning ? 'it is still running' : endReasonText(measure.endReason),
    ),
    row('Task and trial', ({ started }) => `${started.task}, trial ${started.trial}`),
    row('Seats', ({ started }) => `agent: ${started.agent}, user: ${started.user}`),
    row('Steps and turns', ({ events, measure }) => `${events} steps, ${measure.turns} turns`),
    row('Tool calls', callsText),
    row('Waiting time', ({ measure: { latency } }) => waitedFor([...latency.agent, ...latency.user, ...latency.tools])),
    row('Tokens', ({ measure }) => tokensText(measure.tokens)),
  ].filter(({ cells }) => cells.some((cell) => cell !== 'none'));
}

function callsText({ isRunning, measure, stoppedCalls }: ComparedRecording): string {
  const open = isRunning ? 'not run yet' : 'stopped before it ran';
  const made = measure.calls.map(({ tool, calls, errors }) => `${tool} ${calls}${errors ? ` (${errors} failed)` : ''}`);
  return [...made, ...stoppedCalls.map((tool) => `${tool} (${open})`)].join(', ') || 'none';
}

function waitedFor(times: readonly number[]): string {
  const ms = times.reduce((all, time) => all + time, 0);
  return ms === 0 ? 'none' : duration(ms);
}

function tokensText(tokens: ComparedRecording['measure']['tokens']): string {
  const total = Object.values(tokens).reduce((all, { input, output }) => all + input + output, 0);
  return total === 0 ? 'none' : total.toLocaleString('en');
}

/** A verifier or rule and its verdict in each recording; null if it has none there. */
export type VerdictPair = {
  readonly name: string;
  readonly cells: readonly [VerdictCell | null, VerdictCell | null];
};
export type VerdictCell = { readonly verdict: 'held' | 'violated' | 'unknown'; readonly detail: string };

/** Verdicts side by side, those that differ first. A rule that was violated often is listed once, by its first. */
export function verdictPairs({ recordings }: RecordingsCompared): readonly VerdictPair[] {
  const [first, second] = recordings.map(({ verdicts }) => {
    const found = new Map<string, VerdictCell>();
    for (const { name, verdict, detail, step } of verdicts)
      if (!found.has(name)) found.set(name, { verdict, detail: `step ${step}: ${detail}` });
    return found;
  });
  const names = [...new Set([...(first?.keys() ?? []), ...(second?.keys() ?? [])])];
  const pairs = names.map(
    (name): VerdictPair => ({ name, cells: [first?.get(name) ?? null, second?.get(name) ?? null] }),
  );
  const differs = ({ cells: [one, two] }: VerdictPair): number => Number(one?.verdict !== two?.verdict);
  return pairs.sort((one, other) => differs(other) - differs(one));
}
