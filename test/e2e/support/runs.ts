import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type RecordedEvent = { readonly type: string; readonly content?: string; readonly reward?: number };

/** Returns the newest of the runs in a folder. */
export function newestRun(runs: string): string {
  const name = readdirSync(runs).sort().at(-1);
  if (!name) throw new Error(`${runs} holds no run`);
  return join(runs, name);
}

/** The recordings of the newest run in a folder, read from the disk on each request. */
export function recordingsIn(runs: string) {
  const bytes = (name: string) => readFileSync(join(newestRun(runs), name));
  return {
    names: () =>
      readdirSync(newestRun(runs))
        .filter((name) => name.endsWith('.traj.jsonl'))
        .sort(),
    bytes,
    events: (name: string) => {
      const lines = bytes(name).toString('utf8').trim().split('\n');
      return lines.map((line) => (JSON.parse(line) as { readonly event: RecordedEvent }).event);
    },
  };
}
