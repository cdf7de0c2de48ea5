import type { JSX } from 'preact';
import './code.css';

/** Lines that a folded block shows. */
const foldedLines = 5;
const foldedCharacters = 400;

/** Code or JSON; a long one is cut until its entry is opened. */
export function Code({
  label,
  text,
  whole,
  lines = foldedLines,
}: {
  readonly label: string;
  readonly text: string;
  readonly whole: boolean;
  /** Lines that it shows while it is folded. */
  readonly lines?: number;
}): JSX.Element {
  const cut = whole ? text : folded(text, lines);
  return (
    <div class="code">
      <span class="label muted">{label}</span>
      <pre>
        {cut}
        {cut.length < text.length && <span class="muted"> …</span>}
      </pre>
    </div>
  );
}

function folded(text: string, lines: number): string {
  return text.split('\n', lines).join('\n').slice(0, foldedCharacters);
}
