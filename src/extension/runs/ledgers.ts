import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The ledger of a run, by what the disk says about it. */
export type RunLedger = {
  /** The run's folder. */
  readonly folder: string;
  /** When it was written last, in milliseconds. */
  readonly time: number;
  /** In bytes. */
  readonly size: number;
};

/** The ledgers of the runs in some places, the one that was written last first. A place that is not there has none. */
export async function ledgersIn(places: readonly string[]): Promise<readonly RunLedger[]> {
  const found = await Promise.all([...new Set(places)].map(ledgersBelow));
  return found.flat().sort((one, other) => other.time - one.time);
}

async function ledgersBelow(place: string): Promise<readonly RunLedger[]> {
  const names = await readdir(place).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const folder = join(place, name);
      const ledger = await stat(join(folder, 'ledger.jsonl')).catch(() => null);
      return ledger ? [{ folder, time: ledger.mtimeMs, size: ledger.size }] : [];
    }),
  );
  return found.flat();
}
