import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { findLeftovers } from '../../scripts/leftovers.ts';
import { inRoot } from '../../scripts/repository.ts';
import config from '../e2e/vitest.config.ts';
import { temporaryFolder } from '../support/temporary.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('what an end-to-end test leaves in the temporary folder of the run is still there for the check', async () => {
  const folder = temporaryFolder('e2e');
  vi.stubEnv('TMPDIR', folder);
  vi.stubEnv('REHEARSAL_VSIX', 'packed');
  vi.stubEnv('REHEARSAL_TEST_FOLDER', undefined);
  const ends: (() => void)[] = [];
  for (const setUp of [config.test?.globalSetup ?? []].flat()) {
    const { default: begin } = (await import(/* @vite-ignore */ pathToFileURL(inRoot(setUp)).href)) as {
      default: () => unknown;
    };
    const end = await begin();
    if (typeof end === 'function') ends.push(end as () => void);
  }
  const own = temporaryFolder('own');
  const left = mkdtempSync(join(tmpdir(), 'left-'));
  for (const end of ends) end();
  expect(await findLeftovers(folder, 0)).toEqual([`${basename(left)} in the temporary folder`]);
  expect(own).toContain(folder);
  rmSync(left, { recursive: true });
});
