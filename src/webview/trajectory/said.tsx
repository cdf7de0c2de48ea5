import type { JSX } from 'preact';

/** Shows the text of a message. */
export function Said({ text, whole }: { readonly text: string; readonly whole: boolean }): JSX.Element {
  const cut = whole || text.length <= 2000 ? text : text.slice(0, 2000);
  return (
    <p class="said">
      {cut}
      {cut.length < text.length && <span class="muted"> … (Enter shows all of it)</span>}
    </p>
  );
}
