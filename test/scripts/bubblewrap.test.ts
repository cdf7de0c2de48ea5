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

/** One file that runs without a sandbox, and two that need one. */
const filters = ['test/scripts/testSelection', 'test/engine/shell/lane/laneMarker', 'test/engine/shell/lane/sync'];

// One after the other: the runs write the same reports.
test.each([
  ['npm test', [], 0],
  ['npm test --strict', ['--strict'], 1],
  ['npm test --strict --without-sandbox', ['--strict', '--without-sandbox'], 0],
] as const)('%s names the files that do not run without a sandbox', async (_, flags, code) => {
  const args = [inRoot('scripts', 'test.ts'), '--only', 'unit', ...flags, ...filters];
  const env = { ...process.env, REHEARSAL_SANDBOX: 'off', REHEARSAL_SUITE: '', TMPDIR: temporaryFolder('b') };
  const { code: exitCode, output } = await runCommand(process.execPath, args, { env });
  const reason = '2 files not run: no sandbox: REHEARSAL_SANDBOX=off switches it off';
  const lines = output.trim().split('\n');
  expect(lines.filter((line) => line.startsWith('SKIPPED: '))).toEqual([expect.stringContaining(`unit: ${reason}`)]);
  expect(lines).toContainEqual(expect.stringMatching(/^skipped {2}unit +\d+ passed, 0 failed, 2 files not run: /));
  const failed = code === 0 ? 0 : 2;
  expect(lines.at(-1)).toMatch(new RegExp(`^\\d+ passed, ${failed} failed$`));
  expect(exitCode).toBe(code);
});
