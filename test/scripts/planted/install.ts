/** Installs into a folder once, as two commands at the same time do, and prints the result. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { installOnce } from '../../../scripts/vscode/cacheFolder.ts';

const [, , folder = ''] = process.argv;
await installOnce(folder, async () => {
  process.stdout.write('installed');
  writeFileSync(join(folder, 'part'), '', { flag: 'wx' });
  await setTimeout(20);
});
