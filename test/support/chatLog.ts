import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary.ts';
import { type Printed, rehearsal } from './terminal.ts';

/** Formats values as JSON lines. */
export const jsonl = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

/**
 * Imports a text as a file of chats or spans, with a fixed seed.
 * @returns the output, the report as JSON, and the folder of the run
 */
export async function importChats(
  domain: string,
  text: string,
  from: 'chats' | 'spans' = 'chats',
): Promise<Printed & { readonly run: string }> {
  const folder = temporaryFolder('chats');
  const file = join(folder, 'log.jsonl');
  writeFileSync(file, text);
  const run = join(folder, 'run');
  const options = ['--domain', domain, '--out', run, '--seed', 'x', '--yes', '--json'];
  return { ...(await rehearsal('import', from, file, ...options)), run };
}
