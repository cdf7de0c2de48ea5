import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { inRoot, listFiles } from '../../scripts/repository.ts';
import { typescriptPlugin } from '../../scripts/typescriptPlugin.ts';
import { desk, folderOf } from '../engine/shell/load/domainFolder.ts';
import { approveDomain } from '../support/approval.ts';
import { isFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { recipes } from './recipes.ts';

// Invariant: what a row of the table "Extend" in CONTRIBUTING.md adds works.

/** The rows of the table: what is added, where it is written, and in how many places it is registered. */
const rows = [
  ...readFileSync(inRoot('CONTRIBUTING.md'), 'utf8')
    .split('## Extend')[1]!
    .split('## Release')[0]!
    .matchAll(/^\| (a [^|]+?) +\| ([^|]+?) +\| +(\d+) \| ([^|]+?) +\|$/gm),
].map(([, what = '', written = '', places = '', registered = '']) => ({ what, written, places, registered }));

test('every row of the table has a recipe', () => {
  expect(rows.map(({ what }) => what).sort()).toEqual(recipes.map(({ row }) => row).sort());
});

test.each(recipes)('the row "$row" names all files of its recipe', ({ row, file, more = {}, edits }) => {
  const { written, places, registered } = rows.find(({ what }) => what === row)!;
  const folders = [...written.matchAll(/`(src\/[^`]*)\/`/g)].map(([, folder = '']) => folder);
  const isBelow = (path: string, folder: string) => path.startsWith(`${folder}/`);
  const files = [file, ...Object.keys(more)];
  expect(files.filter((path) => !folders.some((folder) => isBelow(path, folder)))).toEqual([]);
  expect(folders.filter((folder) => !files.some((path) => isBelow(path, folder)))).toEqual([]);
  const named = [...registered.matchAll(/`([^`]*\.(?:tsx?|md))`/g)].map(([, path = '']) => basename(path));
  expect(named).toHaveLength(Number(places));
  expect(named.filter((path) => !path.endsWith('.md')).sort()).toEqual(
    Object.keys(edits)
      .map((path) => basename(path))
      .sort(),
  );
});

test('only the kinds of tool sources compare their type', () => {
  const kinds = inRoot('src/engine/core/domain/sources');
  const files = listFiles(inRoot('src')).filter((path) => /\.tsx?$/.test(path) && !path.startsWith(kinds));
  const compares = (path: string) =>
    /\bsource\)?\??\.type\b *[!=]==|switch \((?:\w+\.)*source\.type\)/.test(readFileSync(path, 'utf8'));
  expect(files.filter(compares)).toEqual([]);
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
  for (const { file, text, more, edits } of recipes) {
    for (const [path, content] of Object.entries({ [file]: text, ...more })) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      expect(existsSync(join(copy, path))).toBe(false);
      writeFileSync(join(copy, path), content);
    }
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

const checkTypes = () => run(inRoot('node_modules/typescript/bin/tsc'), '-p', copy, '--noEmit');

test.runIf(isFullSuite)(
  'the types of a repository with all recipes are right',
  () => {
    expect(checkTypes()).toBe('');
  },
  120_000,
);

test.runIf(isFullSuite)(
  'the types name every registration that is missing',
  () => {
    const missing = recipes.flatMap(({ named = [] }) => named);
    const written = missing.map((path) => [path, readFileSync(join(copy, path))] as const);
    for (const path of missing) cpSync(inRoot(path), join(copy, path));
    const found = checkTypes();
    for (const [path, text] of written) writeFileSync(join(copy, path), text);
    expect(missing.filter((path) => !found.includes(`${path}(`))).toEqual([]);
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
  [
    'a benchmark is imported',
    ['import', 'quiz', '--from', '.', '--out', 'quizzes'],
    'capitals: 1 task (0 train, 1 test)',
  ],
  ['a command runs', ['hello', '--name', 'Ada'], 'Hello Ada'],
  ['the help lists a command', ['--help'], 'greet'],
])('%s', (_name, args, expected) => {
  expect(rehearsal(...args)).toContain(expected);
});

test.runIf(isFullSuite)('a source of tools is approved, answers, and has a state that assertions read', () => {
  const folder = folderOf({
    ...desk,
    'domain.yaml': 'name: my-desk\nclocks: { wall: { shows: noon } }\n',
    'tasks/first.task.yaml': `id: tell
persona: plain
user: { goal: Ask for the time. }
assertions: [{ in: wall, path: asked, equals: 1 }]
evaluate: [assertions]
train: [assertions]
script: [[{ tool: ask_wall, arguments: {} }], It is noon.]
`,
  });
  const command = ['run', folder, 'tell', '--agent', 'scripted', '--json'];
  const asked = rehearsal(...command);
  expect(asked).toContain('uses http://clock');
  const [, hash = ''] = /--approve ([0-9a-f]{64})/.exec(asked) ?? [];
  const said = JSON.parse(rehearsal(...command, '--approve', hash)) as { card: unknown; recording: string };
  expect(JSON.stringify(said.card)).toContain('"name":"assertions","verdict":"held"');
  expect(readFileSync(said.recording, 'utf8')).toContain('it is noon');
});

test.runIf(isFullSuite)('a training target is used', () => {
  expect(rehearsal('train', 'sft', folderOf(desk), '--target', 'nowhere://x')).toContain('nowhere has no machine');
});
