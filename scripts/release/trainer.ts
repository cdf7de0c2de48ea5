import { cpSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runCommand } from '../process.ts';
import { setUpTrainer } from '../pythonTests.ts';
import { inRoot } from '../repository.ts';
import { Failure } from '../terminal.ts';
import type { Release } from './release.ts';

/** Packs the trainer for PyPI. Returns the path of the wheel. */
export async function packTrainer(release: Release): Promise<string> {
  const staging = join(release.staging, 'trainer');
  rmSync(staging, { recursive: true, force: true });
  const isSource = (path: string) => !/(?:^|\/)(?:__pycache__|tests\w*|\.\w+)$/.test(path.replaceAll('\\', '/'));
  cpSync(inRoot('trainer'), staging, { recursive: true, filter: (path) => isSource(basename(path)) });
  cpSync(inRoot('LICENSE'), join(staging, 'LICENSE'));
  const pip = ['-m', 'pip', 'wheel', '--disable-pip-version-check', '--no-deps', '--no-build-isolation', '--no-index'];
  const { code, output } = await runCommand(await setUpTrainer(), [...pip, '--wheel-dir', release.out, staging], {
    // The time of files in the archive: the same sources give the same wheel.
    env: { ...process.env, SOURCE_DATE_EPOCH: '315532800' },
  });
  if (code !== 0) throw new Failure(`pip could not pack the trainer:\n${output.trim()}`);
  return join(release.out, `rehearsal_trainer-${release.version}-py3-none-any.whl`);
}
