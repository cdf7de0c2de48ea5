import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives the workers a temporary folder of their own. It is removed once they have ended, with all that is left in it. */
export default function setUp(): void {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-e2e-'));
  process.env['TMPDIR'] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
}
