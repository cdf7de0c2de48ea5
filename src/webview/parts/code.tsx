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
}: {
  readonly label: string;
  readonly text: string;
  readonly whole: boolean;
}): JSX.Element {
  const cut = whole ? text : folded(text);
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

function folded(text: string): string {
  return text.split('\n', foldedLines).join('\n').slice(0, foldedCharacters);
}
