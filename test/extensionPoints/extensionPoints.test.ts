import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { typescriptPlugin } from '../../scripts/typescriptPlugin.ts';
import { desk, folderOf } from '../engine/shell/load/domainFolder.ts';
import { approveDomain } from '../support/approval.ts';
import { isFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { recipes } from './recipes.ts';

// Invariant: what a row of the table "Extend" in CONTRIBUTING.md adds works.

/** The rows of the table: what is added, where it is written, and where it is registered. */
const rows = [
  ...readFileSync(inRoot('CONTRIBUTING.md'), 'utf8')
    .split('## Extend')[1]!
    .split('## Release')[0]!
    .matchAll(/^\| (a [^|]+?) +\| ([^|]+?) +\| ([^|]+?) +\|$/gm),
].map(([, what = '', written = '', registered = '']) => ({ what, written, registered }));

/** A source of tools needs a key of domain.yaml, too, so its parts are more than a recipe. */
const without = ['a source of tools'];

test('every row of the table has a recipe', () => {
  expect(
    rows
      .map(({ what }) => what)
      .filter((what) => !without.includes(what))
      .sort(),
  ).toEqual(recipes.map(({ row }) => row).sort());
});

test.each(recipes)('the row "$row" names all files of its recipe', ({ row, file, edits }) => {
  const { written, registered } = rows.find(({ what }) => what === row)!;
  const folders = [...written.matchAll(/`(src\/[^`]*)\/`/g)].map(([, folder = '']) => folder);
  expect(folders.some((folder) => file.startsWith(`${folder}/`))).toBe(true);
  const named = [...registered.matchAll(/`([^`]*\.tsx?)`/g)].map(([, path = '']) => basename(path));
  expect(named.sort()).toEqual(
    Object.keys(edits)
      .map((path) => basename(path))
      .sort(),
  );
});

let copy = '';

/** Follows all recipes in a copy of the repository. */
beforeAll(() => {
  if (!isFullSuite) return;
  copy = temporaryFolder('extended');
  for (const each of ['src', 'scripts', 'tsconfig.json', 'package.json'])
    cpSync(inRoot(each), join(copy, each), { recursive: true });
  for (const each of ['domains', 'templates', 'trainer']) symlinkSync(inRoot(each), join(copy, each));
  // The build writes its plugin of the TypeScript server into this folder, so only what it holds is linked.
  mkdirSync(join(copy, 'node_modules'));
  for (const each of readdirSync(inRoot('node_modules')))
    if (each !== basename(typescriptPlugin))
      symlinkSync(inRoot('node_modules', each), join(copy, 'node_modules', each));
  for (const { file, text, edits } of recipes) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    expect(existsSync(join(copy, file))).toBe(false);
    writeFileSync(join(copy, file), text);
    for (const [path, changes] of Object.entries(edits)) {
      let whole = readFileSync(join(copy, path), 'utf8');
      for (const [before, after] of changes) {
        expect(whole.split(before), `${path}: ${before}`).toHaveLength(2);
        whole = whole.replace(before, () => after);
      }
      writeFileSync(join(copy, path), whole);
    }
  }
  expect(run(join(copy, 'scripts', 'build.ts'))).toContain('Built');
}, 120_000);

const run = (...args: string[]) => {
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
  return `${stdout}${stderr}`;
};
const rehearsal = (...args: string[]) => run(join(copy, 'dist', 'rehearsal.mjs'), ...args);

const polite = {
  ...desk,
  'domain.yaml': 'name: my-desk\n',
  'rules.yaml': '- { rule: confirm, check: greets, word: Hello }\n',
  'tasks/first.task.yaml': `id: greet
persona: plain
user: { goal: Say hello. }
evaluate: [brief]
script: [Good morning.]
`,
};

test.runIf(isFullSuite)(
  'the types of a repository with all recipes are right',
  () => {
    expect(run(inRoot('node_modules/typescript/bin/tsc'), '-p', copy, '--noEmit')).toBe('');
  },
  120_000,
);

test.runIf(isFullSuite)('a rule check and a verifier decide, and a seat plays', () => {
  const folder = approveDomain(folderOf(polite));
  const said = rehearsal('run', folder, 'greet', '--agent', 'scripted', '--json');
  expect(said).toContain('it does not say Hello');
  expect(said).toContain('"name":"brief"');
  expect(rehearsal('run', folder, 'greet', '--agent', 'parrot', '--json')).toContain('it greets');
});

test.runIf(isFullSuite)('a diagnostic is reported', () => {
  expect(rehearsal('check', folderOf(polite))).toContain('info domain/my-name');
});

test.runIf(isFullSuite)('a format of conversations is read', () => {
  const folder = approveDomain(folderOf({ ...polite, 'log.json': '{"pairs": [["Hi there", "Hello you"]]}' }));
  const text = rehearsal('import', 'chats', join(folder, 'log.json'), '--domain', folder, '--keep-personal-data');
  expect(text).toContain('read as pairs');
});

test.runIf(isFullSuite).each([
  ['a benchmark is imported', ['import', 'quiz', '--from', 'here', '--out', '.'], 'quiz 1.0'],
  ['a command runs', ['hello', '--name', 'Ada'], 'Hello Ada'],
  ['the help lists a command', ['--help'], 'greet'],
])('%s', (_name, args, expected) => {
  expect(rehearsal(...args)).toContain(expected);
});

test.runIf(isFullSuite)('a training target is used', () => {
  expect(rehearsal('train', 'sft', folderOf(desk), '--target', 'nowhere://x')).toContain('nowhere has no machine');
});
