import { readFileSync } from 'node:fs';

type Values = Readonly<Record<string, unknown>>;

/** Parses each line of a JSON Lines file. Leaves out a last line without a line break, which is still being written. */
export function linesOf<Line = Values>(path: string): Line[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}
