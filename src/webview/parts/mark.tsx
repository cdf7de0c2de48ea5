import type { JSX } from 'preact';
import type { VerdictLine } from '../models/trajectory.ts';
import './mark.css';

const marks: Readonly<Record<VerdictLine['verdict'], string>> = { held: '✓', violated: '✕', unknown: '?' };

/** A verdict as a symbol and a word, or another text that contains it, so that it does not depend on colour. */
export function Mark({
  verdict,
  text = verdict,
}: {
  readonly verdict: VerdictLine['verdict'];
  readonly text?: string;
}): JSX.Element {
  return (
    <span class={`mark ${verdict}`}>
      <span aria-hidden="true">{marks[verdict]}</span> {text}
    </span>
  );
}
