import type { RolloutEvent } from '../../engine/core/events/event.ts';
import type { Note } from '../messages/protocol.ts';
import { duration } from './duration.ts';
import type { Trajectory } from './entries.ts';
import type { Finding } from './findings.ts';

/** The parties to which the time of a step is attributed. */
export const parties = ['agent', 'user', 'tools', 'engine'] as const;
export type Party = (typeof parties)[number];

/** The time of one turn, or of several consecutive turns if there are too many to tell apart. */
export type Span = {
  readonly firstTurn: number;
  readonly lastTurn: number;
  /** Its first step. */
  readonly step: number;
  /** Milliseconds of each. */
  readonly ms: Readonly<Record<Party, number>>;
  readonly input: number;
  readonly output: number;
  /** Entries in which something went wrong. */
  readonly failures: number;
};

/** Returns what every turn took, in at most `most` spans. Empty where nothing was measured. */
export function timelineOf(
  { entries }: Pick<Trajectory, 'entries'>,
  notes: ReadonlyMap<number, Note>,
  findings: readonly (readonly Finding[])[],
  most: number,
): readonly Span[] {
  if (notes.size === 0 || entries.length === 0) return [];
  const turns = (entries.at(-1)?.turn ?? 0) + 1;
  const width = Math.ceil(turns / most);
  const spans: Span[] = [];
  for (const [index, { n, turn, steps }] of entries.entries()) {
    const place = Math.floor(turn / width);
    const before = spans[place] ?? { ...nothing, firstTurn: turn, step: n };
    const ms = { ...before.ms };
    let { input, output } = before;
    for (const step of steps) {
      const note = notes.get(step.n);
      ms[partyOf(step.event)] += note?.ms ?? 0;
      input += note?.input ?? 0;
      output += note?.output ?? 0;
    }
    const isBad = (findings[index] ?? []).some(({ reason }) => reason !== 'evidence');
    spans[place] = { ...before, lastTurn: turn, ms, input, output, failures: before.failures + Number(isBad) };
  }
  return spans.filter((span) => span !== undefined);
}

const nothing = { lastTurn: 0, ms: { agent: 0, user: 0, tools: 0, engine: 0 }, input: 0, output: 0, failures: 0 };

function partyOf({ type }: RolloutEvent): Party {
  if (type === 'agentReplied') return 'agent';
  if (type === 'userReplied') return 'user';
  const ofTools = ['toolCalled', 'toolReturned', 'databaseWritten', 'faultInjected', 'sourceSaved', 'worldSynced'];
  return ofTools.includes(type) ? 'tools' : 'engine';
}

/** All milliseconds of a span. */
export function totalOf({ ms }: Span): number {
  return parties.reduce((sum, party) => sum + ms[party], 0);
}

/**
 * Milliseconds of a bar of full height. A span that took far longer than nearly all others, such as the first answer
 * of a model that had to be loaded, would leave nothing of them: its bar is cut.
 */
export function fullHeight(spans: readonly Span[]): number {
  const sorted = spans.map(totalOf).sort((a, b) => a - b);
  const longest = sorted.at(-1) ?? 0;
  const usual = sorted[Math.floor(sorted.length * 0.9)] ?? longest;
  return Math.max(Math.min(longest, usual * 3), 0.001);
}

/** A span in a sentence. */
export function spanText(span: Span): string {
  const { firstTurn, lastTurn, ms, input, output, failures } = span;
  const took = parties.filter((party) => ms[party] > 0).map((party) => `${party} ${duration(ms[party])}`);
  const tokens = input + output > 0 ? [`${input} tokens in, ${output} out`] : [];
  const failed = failures > 0 ? [`${failures} with something that went wrong`] : [];
  return `${turnsText(firstTurn, lastTurn)}: ${[...took, ...tokens, ...failed].join(', ') || 'no time measured'}`;
}

/** The turns of a span in words; what comes before the first one has none. */
export function turnsText(first: number, last: number): string {
  if (last === 0) return 'Before the first turn';
  return first === last ? `Turn ${first}` : `Turns ${first} to ${last}`;
}
