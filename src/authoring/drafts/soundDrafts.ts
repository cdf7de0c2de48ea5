import { join } from 'node:path';
import { type Gated, gate } from '../../engine/shell/audit/draftGate.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { inside } from '../../engine/shell/source/source.ts';
import { draftText } from '../draftText.ts';

type Candidate = Readonly<Record<string, unknown>> & { readonly id: string };

/** The candidates that passed the gate, and those refused with the reason. */
export type Sifted<T extends Candidate> = {
  readonly sound: readonly T[];
  readonly refused: readonly { readonly candidate: T; readonly why: string }[];
};

/** Puts drafts that are not written yet through the gate. */
export async function sift<T extends Candidate>(
  { folder, domain }: LoadedDomain,
  kind: 'task' | 'persona',
  candidates: readonly T[],
  signal: AbortSignal,
): Promise<Sifted<T>> {
  if (candidates.length === 0) return { sound: [], refused: [] };
  const place = inside(folder, domain.file[kind === 'task' ? 'tasks' : 'personas']) ?? folder;
  const overlay = new Map([[join(place, `drafts-${process.pid}.${kind}.yaml`), draftText(candidates, [])]]);
  const ids = candidates.map(({ id }) => id);
  const gated = await gate(folder, { ids, overlay, signal });
  const verdicts = candidates.map((candidate) => ({
    candidate,
    gated: gated.find(({ draft }) => draft.placed.value.id === candidate.id),
  }));
  return {
    sound: verdicts.flatMap(({ candidate, gated: each }) => (each?.passes ? [candidate] : [])),
    refused: verdicts.flatMap(({ candidate, gated: each }) =>
      each?.passes ? [] : [{ candidate, why: each ? reasonOf(each) : 'it does not fit the schema' }],
    ),
  };
}

function reasonOf({ findings }: Gated): string {
  const [first] = findings;
  return first?.message.replace(/\.+$/, '') ?? 'it was cancelled';
}
