import type { Gated } from '../../engine/shell/audit/draftGate.ts';
import { formatDiagnostic } from '../../engine/shell/files/diagnostic.ts';

/** A draft and what keeps it from being accepted, as data. */
export function gatedRow({ draft, findings, undecided, passes }: Gated): GatedRow {
  const { id } = draft.placed.value;
  return { kind: draft.kind, id, file: draft.placed.file, passes, undecided, findings };
}

export type GatedRow = Pick<Gated, 'findings' | 'undecided' | 'passes'> & {
  readonly kind: 'task' | 'persona';
  readonly id: string;
  readonly file: string;
};

/** The same as lines for people. */
export function gatedText(rows: readonly GatedRow[], cwd: string): string {
  return rows
    .map(({ kind, id, findings, undecided, passes }) => {
      const note = undecided === null ? '' : ` (${undecided})`;
      const isOpen = undecided !== null && findings.length === 0;
      // Only its persona has to be accepted first, or with it.
      const waits = findings.length > 0 && findings.every(({ code }) => code === 'task/draft-persona');
      const state = passes || waits ? 'sound' : isOpen ? 'not scored' : 'needs work';
      const head = `${state.padEnd(11)} ${kind} ${id}${note}`;
      return [head, ...findings.map((each) => `  ${formatDiagnostic(each, cwd)}`)].map((line) => `${line}\n`).join('');
    })
    .join('');
}
