import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import JSZip from 'jszip';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setUpTrainer } from '../../scripts/pythonTests.ts';
import { inRoot } from '../../scripts/repository.ts';
import { packTrainerWheel } from '../../src/cli/targets/trainerWheel.ts';
import { emptyFolder, partOf, run, targetsIn } from './parts.ts';

/** The trainer as pip installs it, with the engine as npm installs it, and packages that are there already. */
const folder = emptyFolder();
let python: string;
const trainer = (...args: readonly string[]) =>
  run(folder, python, ['-m', 'rehearsal_trainer', ...args], {
    ...process.env,
    PYTHONPATH: join(folder, 'packages'),
    PATH: [join(folder, 'node_modules', '.bin'), process.env['PATH']].join(delimiter),
  });

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

test('its page on PyPI has links, and none that works only in a clone', async () => {
  const wheel = await JSZip.loadAsync(readFileSync(partOf('.whl')));
  const [metadata] = wheel.file(/\.dist-info\/METADATA$/);
  const page = (await metadata?.async('text')) ?? '';
  expect(page).toMatch(/^Project-URL: Homepage, https:\/\/\S+$/m);
  expect(page).toContain('pip install rehearsal-trainer');
  expect(targetsIn(page).relative).toEqual([]);
});

test('a target gets the same wheel from the packed command line and from the packed extension', async () => {
  const extension = await JSZip.loadAsync(readFileSync(partOf('.vsix')));
  for (const file of Object.values(extension.files)) {
    if (file.dir || !/^extension\/(?:trainer\/|LICENSE)/.test(file.name)) continue;
    mkdirSync(dirname(join(folder, file.name)), { recursive: true });
    writeFileSync(join(folder, file.name), await file.async('nodebuffer'));
  }
  const released = createHash('sha256')
    .update(readFileSync(partOf('.whl')))
    .digest('hex');
  for (const from of ['node_modules/rehearsal', 'extension'])
    expect((await packTrainerWheel(join(folder, from, 'trainer'))).sha256, from).toBe(released);
  const sums = readFileSync(join(dirname(partOf('.whl')), 'SHA256SUMS'), 'utf8');
  expect(sums).toContain(`${released}  rehearsal_trainer-`);
});

test('the wheel is the one that setuptools packs', async () => {
  cpSync(inRoot('trainer'), join(folder, 'source'), {
    recursive: true,
    filter: (path) => !/__pycache__|tests(?:_verl)?$/.test(path),
  });
  cpSync(inRoot('LICENSE'), join(folder, 'source', 'LICENSE'));
  const released = join(folder, 'node_modules', 'rehearsal', 'trainer', 'pyproject.toml');
  cpSync(released, join(folder, 'source', 'pyproject.toml'));
  const pip = ['-m', 'pip', 'wheel', '--disable-pip-version-check', '--no-deps', '--no-build-isolation', '--no-index'];
  expect(run(folder, python, [...pip, '--wheel-dir', 'packed', './source'])).toMatchObject({ code: 0 });
  const [name = ''] = readdirSync(join(folder, 'packed'));
  const read = async (path: string) => {
    const { files } = await JSZip.loadAsync(readFileSync(path));
    return new Map(
      await Promise.all(Object.values(files).map(async (file) => [file.name, await textOf(file)] as const)),
    );
  };
  expect(await read(partOf('.whl'))).toEqual(await read(join(folder, 'packed', name)));
});

/** Returns the text of a file, without what depends on the program that packs it. */
async function textOf(file: JSZip.JSZipObject): Promise<string> {
  const text = await file.async('text');
  if (/\/(?:RECORD|WHEEL)$/.test(file.name)) return '';
  if (!file.name.endsWith('/METADATA')) return text;
  const sorted = (limits: string) => limits.split(',').toSorted().join();
  return text
    .replace('Dynamic: license-file\n', '')
    .replaceAll(/^(Requires-Dist: [\w.-]+)(.*)$/gm, (_, start: string, limits: string) => start + sorted(limits));
}

test('GRPO takes an optimizer step on rollouts of the packed command line', () => {
  const values = { domain: 'desk', run: 'run', model: 'tiny', profile: 'trial', steps: 1, skip_dead_groups: false };
  writeFileSync(join(folder, 'grpo.json'), JSON.stringify(values));
  const { code, output } = trainer('grpo', '--config', 'grpo.json');
  expect(output).not.toContain('Traceback');
  expect(code).toBe(0);
  expect(existsSync(join(folder, 'run', 'checkpoints', 'final'))).toBe(true);
});
