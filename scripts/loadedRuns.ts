import { existsSync, readFileSync } from 'node:fs';

/** A run of `npm test` beside busy processes. */
export type LoadedRun = {
  readonly commit: string;
  readonly busy: number;
  /** Its number in the series of a commit, from 1. */
  readonly run: number;
  /** When it started, in ISO format. */
  readonly at: string;
  readonly minutes: number;
  /** The last line of its output. */
  readonly last: string;
  /** Its slowest tests, one line each. */
  readonly slowest: readonly string[];
};

/** Reads the runs of a commit beside so many busy processes. A line that was cut off is left out. */
export function readSeries(file: string, commit: string, busy: number): LoadedRun[] {
  if (!existsSync(file)) return [];
  const runs = readFileSync(file, 'utf8').split('\n').flatMap(parsed);
  return runs.filter((run) => run.commit === commit && run.busy === busy && run.run > 0);
}

function parsed(line: string): LoadedRun[] {
  try {
    return [JSON.parse(line) as LoadedRun];
  } catch {
    return [];
  }
}

/** Returns the lines of the list of slowest tests that `npm test -- --slowest` prints. */
export function slowestIn(output: string): string[] {
  const [, list = ''] = output.split(/━━ the \d+ slowest of \d+ tests.*\n/);
  const [lines = ''] = list.split('\n\n');
  return lines.split('\n').flatMap((line) => (/^ *[\d.]+ s {2}/.test(line) ? [line.trim()] : []));
}
