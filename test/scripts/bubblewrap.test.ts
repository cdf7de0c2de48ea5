import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { putBubblewrapOnPath } from '../../scripts/bubblewrap.ts';
import { runCommand } from '../../scripts/process.ts';
import { inRoot } from '../../scripts/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

const isLinux = process.platform === 'linux';

afterEach(() => {
  vi.unstubAllEnvs();
});

test.runIf(isLinux).each([
  ['that does not exist', () => '/nonexistent/bwrap'],
  ['that is a folder', () => temporaryFolder('bubblewrap')],
])('a path in REHEARSAL_BUBBLEWRAP %s is refused', async (_, pathOf) => {
  const path = pathOf();
  vi.stubEnv('REHEARSAL_BUBBLEWRAP', path);
  await expect(putBubblewrapOnPath()).rejects.toThrow(
    `REHEARSAL_BUBBLEWRAP is ${path}, which is not an executable file. Set it to the path of bubblewrap, or unset it.`,
  );
});

test.runIf(isLinux)('a download that fails is a warning, and there is no bubblewrap then', async () => {
  const folder = temporaryFolder('bubblewrap');
  for (const name of ['apt-get', 'dpkg-deb']) {
    writeFileSync(join(folder, name), '#!/bin/sh\necho "no network"; exit 1\n', { mode: 0o755 });
  }
  const script = `import { putBubblewrapOnPath } from ${JSON.stringify(inRoot('scripts', 'bubblewrap.ts'))};
    await putBubblewrapOnPath();
    console.log(JSON.stringify(process.env.REHEARSAL_BUBBLEWRAP));`;
  const env = { ...process.env, PATH: folder, REHEARSAL_CACHE: folder, REHEARSAL_BUBBLEWRAP: '' };
  const { code, output } = await runCommand(process.execPath, ['--input-type=module', '-e', script], { env });
  expect([code, output.trim().split('\n').slice(-2)]).toEqual([
    0,
    ['! bubblewrap: apt-get update failed: no network', '""'],
  ]);
});
