import type { RolloutEvent } from '../../core/events/event.ts';
import type { Reads } from '../../core/events/reads.ts';
import type { SideNote } from '../files/sideNote.ts';
import { sideNotes } from './recording.ts';

/**
 * The notes on a step: what the guard of a model in the user's seat refused or withheld before its message or before
 * the end, and how a result differs from its output schema.
 */
export type GuardNote = Pick<SideNote, 'flaws' | 'withheld' | 'mismatch'>;

/** Returns the guard's note on a step, or undefined for a step without a note. */
export type GuardReader = (step: { readonly n: number; readonly event: RolloutEvent }) => GuardNote | undefined;

/** Reads the notes of a rollout's guard from the sidecar of its recording, also while that is being written. */
export function guardReader(recording: string): GuardReader {
  const noteOf = sideNotes(recording);
  return ({ n, event }) => {
    if (event.type !== 'userReplied' && event.type !== 'rolloutEnded' && event.type !== 'toolReturned')
      return undefined;
    const { flaws, withheld, mismatch } = noteOf(n) ?? {};
    if (!flaws && !withheld && !mismatch) return undefined;
    return { ...(flaws ? { flaws } : {}), ...(withheld ? { withheld } : {}), ...(mismatch ? { mismatch } : {}) };
  };
}

/** Returns what the call read whose result a step is, or undefined if nothing records it. */
export type ReadsAt = (step: number) => Reads | undefined;

/** Reads from the sidecar of a recording what its calls read, also while that is being written. */
export function readsReader(recording: string): ReadsAt {
  const noteOf = sideNotes(recording);
  return (step) => noteOf(step)?.reads;
}
