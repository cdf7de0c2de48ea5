import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageExtension } from '../../../scripts/package.ts';

/**
 * Packs the extension once for all workers, and gives them a temporary folder. The folder is removed once they have
 * ended, with all that is left in it.
 */
export default async function setUp(): Promise<void> {
  process.env['REHEARSAL_VSIX'] ??= await packageExtension();
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-e2e-'));
  process.env['TMPDIR'] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
}
