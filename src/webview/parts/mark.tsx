import type { JSX } from 'preact';
import type { VerdictLine } from '../models/trajectory.ts';
import './mark.css';

const marks: Readonly<Record<VerdictLine['verdict'], string>> = { held: '✓', violated: '✕', unknown: '?' };

/** A verdict as a symbol and a word, so that it does not depend on colour. */
export function Mark({ verdict }: { readonly verdict: VerdictLine['verdict'] }): JSX.Element {
  return (
    <span class={`mark ${verdict}`}>
      <span aria-hidden="true">{marks[verdict]}</span> {verdict}
    </span>
  );
}
