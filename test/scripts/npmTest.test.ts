import { expect, test } from 'vitest';
import { runCommand } from '../../scripts/process.ts';
import { inRoot } from '../../scripts/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Runs `npm test` without a sandbox. */
function npmTest(args: readonly string[]) {
  const env = { ...process.env, REHEARSAL_SANDBOX: 'off', REHEARSAL_SUITE: '', TMPDIR: temporaryFolder('b') };
  return runCommand(process.execPath, [inRoot('scripts', 'test.ts'), ...args], { env });
}

/** One file that runs without a sandbox, and two that need one. */
const filters = [
  'test/scripts/testSelection',
  'test/engine/shell/workers/workerMarker',
  'test/engine/shell/workers/sync',
];

// One after the other: the runs write the same reports.
test.each([
  ['npm test', [], 0],
  ['npm test --strict', ['--strict'], 1],
  ['npm test --strict --without-sandbox', ['--strict', '--without-sandbox'], 0],
] as const)('%s names the files that do not run without a sandbox', async (_, flags, code) => {
  const { code: exitCode, output } = await npmTest(['--only', 'unit', ...flags, ...filters]);
  const reason = '2 files not run: no sandbox: REHEARSAL_SANDBOX=off switches it off';
  const lines = output.trim().split('\n');
  expect(lines.filter((line) => line.startsWith('SKIPPED: '))).toEqual([expect.stringContaining(`unit: ${reason}`)]);
  expect(lines).toContainEqual(expect.stringMatching(/^skipped {2}unit +\d+ passed, 0 failed, 2 files not run: /));
  const failed = code === 0 ? 0 : 2;
  expect(lines.at(-1)).toMatch(new RegExp(`^\\d+ passed, ${failed} failed$`));
  expect(exitCode).toBe(code);
});

test.each([
  ['a unit test only', 'test/scripts/testSelection', 0, ['passed unit', 'not run host'], /^[1-9]\d* passed, 0 failed$/],
  ['nothing', 'no-such-name', 1, ['not run unit', 'not run host'], /^0 passed, 0 failed$/],
])('a filter that matches %s', async (_, filter, code, statuses, total) => {
  const { code: exitCode, output } = await npmTest(['--only', 'unit,host', filter]);
  const lines = output.trim().split('\n');
  const summary = lines.slice(-3, -1).map((line) => [line.slice(0, 8).trim(), line.slice(9, 13)].join(' '));
  expect([exitCode, summary]).toEqual([code, statuses]);
  expect(lines.at(-1)).toMatch(total);
  expect(lines.includes('FAILED: no test matches no-such-name')).toBe(code === 1);
});
