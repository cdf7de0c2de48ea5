import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setUpTrainer } from '../../scripts/pythonTests.ts';
import { emptyFolder, partOf, run } from './parts.ts';

/** The trainer as pip installs it, with the engine as npm installs it, and packages that are there already. */
const folder = emptyFolder();
let python: string;
const trainer = (...args: readonly string[]) =>
  run(folder, python, ['-m', 'rehearsal_trainer', ...args], { ...process.env, PYTHONPATH: join(folder, 'packages') });

beforeAll(async () => {
  python = await setUpTrainer('dev');
  const pip = ['-m', 'pip', 'install', '--no-deps', '--no-index', '--disable-pip-version-check'];
  expect(run(folder, python, [...pip, '--target', 'packages', partOf('.whl')]).code).toBe(0);
  expect(run(folder, 'npm', ['install', '--offline', '--no-audit', '--no-fund', partOf('.tgz')]).code).toBe(0);
  expect(
    run(folder, join(folder, 'node_modules/.bin/rehearsal'), ['new', 'desk', '--template', 'support-desk']).code,
  ).toBe(0);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every module can be imported', () => {
  const code = [
    'import importlib, pkgutil, rehearsal_trainer',
    'names = [each.name for each in pkgutil.walk_packages(rehearsal_trainer.__path__, "rehearsal_trainer.")]',
    'names = [name for name in names if "verl" not in name and "vllm" not in name and "__main__" not in name]',
    '[importlib.import_module(name) for name in names]',
    'print(len(names), rehearsal_trainer.__file__)',
  ].join('\n');
  const { output } = run(folder, python, ['-c', code], { ...process.env, PYTHONPATH: join(folder, 'packages') });
  expect(output).toMatch(/^[5-9]\d .*packages.rehearsal_trainer.__init__\.py$/m);
});

test('GRPO takes an optimizer step on rollouts of the packed command line', () => {
  const engine = [process.execPath, join(folder, 'node_modules/rehearsal/bin/rehearsal.mjs'), 'serve', '--stdio'];
  const values = { domain: 'desk', run: 'run', model: 'tiny', profile: 'trial', steps: 1, skip_dead_groups: false };
  writeFileSync(join(folder, 'grpo.json'), JSON.stringify({ ...values, engine_command: engine, engine_cwd: folder }));
  const { code, output } = trainer('grpo', '--config', 'grpo.json');
  expect(output).not.toContain('Traceback');
  expect(code).toBe(0);
  expect(existsSync(join(folder, 'run', 'checkpoints', 'final'))).toBe(true);
});
