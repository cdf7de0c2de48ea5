import { existsSync, readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../scripts/process.ts';
import { inRoot, listFiles, root } from '../../scripts/repository.ts';
import { steps, watchingProcesses, watchingPython } from '../../scripts/testSteps.ts';
import { temporaryFolder } from '../support/temporary.ts';

const stepOf = (name: string) => steps.find((each) => each.name === name);

test('every file that runs once more exists', () => {
  expect([...watchingProcesses, ...watchingPython].filter((path) => !existsSync(inRoot(path)))).toEqual([]);
});

test.each([
  ['unit', 'test/engine/core/rollout/rollout.test.ts', false],
  ['unit', 'test/cli/dap/scopes.test.ts', false],
  ['unit', 'test/cli/kills.test.ts', true],
  ['unit', 'test/cli/mcp.test.ts', true],
  ['python', 'test_grpo.py', false],
  ['python', 'test_verl_run.py', true],
  ['ray', 'test_rows.py', false],
  ['ray', 'test_job.py', true],
  ['targets', 'test/targets/ssh.targets.ts', true],
  ['recipe', 'test/e2e/recipe.e2e.ts', true],
  ['vllm', 'test_vllm.py', true],
])('step %s: %s runs once more where it fails: %s', (name, file, isExpected) => {
  expect(stepOf(name)?.secondRun?.isFor(file) ?? false).toBe(isExpected);
});

test.each([
  ['test', 'unit', /\.test\.tsx?$/, /\bkill\(.*'SIG[A-Z]+'|\bkillIfRunning\(/],
  ['trainer/tests', 'python', /\/test_\w+\.py$/, /\bos\.kill\(|\.kill\(\)|\.terminate\(\)|send_signal\(/],
  ['trainer/tests_verl', 'ray', /\/test_\w+\.py$/, /\bkill\(/],
])('every test file in %s that ends a process runs once more where it fails', (folder, step, isTest, ends) => {
  const files = listFiles(inRoot(folder)).filter((file) => isTest.test(file) && ends.test(readFileSync(file, 'utf8')));
  const names = files.map((file) => (step === 'unit' ? relative(root, file) : basename(file)));
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => !stepOf(step)?.secondRun?.isFor(name))).toEqual([]);
});

test('filters choose among all end-to-end tests, also when a file runs once more', () => {
  const environment = stepOf('e2e')?.environment;
  expect([environment?.([]), environment?.(['walk'])]).toEqual([{}, { REHEARSAL_SUITE: 'full' }]);
});

test.runIf(process.platform === 'linux').each([
  [[], true],
  [['typescriptPlugin'], true],
  [['rollout'], false],
])(
  'with an empty cache and the filters %j the unit tests fetch VS Code for the browser: %s',
  async (filters, fetches) => {
    const script = `import { steps } from ${JSON.stringify(inRoot('scripts', 'testSteps.ts'))};
    const { downloads } = steps.find(({ name }) => name === 'unit');
    console.log(JSON.stringify(await downloads(${JSON.stringify(filters)})));`;
    const env = { ...process.env, REHEARSAL_CACHE: temporaryFolder('cache') };
    const { output } = await runCommand(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(output.includes('for the browser')).toBe(fetches);
  },
);
