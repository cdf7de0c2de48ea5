import { terminalText } from '../../engine/core/text/terminalText.ts';

/** The last line of a terminal, which rewrites itself: how far the work is, and what is waited for. */
export type StatusLine = {
  readonly show: (part: 'progress' | 'wait', text: string) => void;
  /** Prints a line of its own above it. */
  readonly print: (text: string) => void;
  /** Leaves it as it is, and continues below. */
  readonly end: () => void;
};

const clear = '\r\u001b[K';

/** Draws on the error output, so that what a command prints stays free of it. */
export function statusLine(io: { readonly err: (text: string) => void }): StatusLine {
  const parts = { progress: '', wait: '' };
  let drawn = '';
  const draw = () => {
    const text = [parts.progress, parts.wait].filter(Boolean).join('  ');
    if (text !== drawn) io.err(`${clear}${text}`);
    drawn = text;
  };
  return {
    show: (part, text) => {
      parts[part] = terminalText(text);
      draw();
    },
    print: (text) => {
      io.err(`${drawn === '' ? '' : clear}${text}\n${drawn}`);
    },
    end: () => {
      if (drawn !== '') io.err('\n');
      drawn = '';
      parts.progress = '';
      parts.wait = '';
    },
  };
}
