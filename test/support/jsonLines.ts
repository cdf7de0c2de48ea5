import { readFileSync } from 'node:fs';

type Values = Readonly<Record<string, unknown>>;

/** What each line of a file of JSON lines says; a last line without its end is still being written, and left out. */
export function linesOf<Line = Values>(path: string): Line[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}
