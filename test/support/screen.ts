import { stripVTControlCharacters } from 'node:util';

/** Returns the lines that a terminal shows after an output. A line that is written again replaces its former text. */
export function shownBy(written: string): string[] {
  const lines = [''];
  for (const part of written.split(/(\r?\n|\r)/)) {
    if (/\n$/.test(part)) lines.push('');
    else if (part === '\r') lines[lines.length - 1] = lines.at(-1) ?? '';
    else if (part.startsWith('\u001b[K')) lines[lines.length - 1] = stripVTControlCharacters(part);
    else lines[lines.length - 1] += stripVTControlCharacters(part);
  }
  return lines;
}
