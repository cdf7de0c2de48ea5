import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeHashOf } from '../../../../src/engine/shell/approvals/codeHash.ts';
import { folderOf } from '../load/domainFolder.ts';

// Law: the hash covers code that a domain starts, but not files that people edit every day.

const files = [
  'tools.ts',
  '.t.py',
  '.lib/server.mjs',
  'server.txt',
  'package.json',
  'compose.yaml',
  'notes.md',
  'fixtures/policy.txt',
  '.rehearsal/x.mjs',
  '.git/hooks/post',
  'policy.md',
  'database.json',
  'tasks/a.task.yaml',
  'personas/a.persona.yaml',
  'my file.task.yaml',
  'run/run.json',
  'run/ledger.jsonl',
  'run/a.0.traj.jsonl',
  'run/.lock',
];

const hashWith = (changed: string, texts: readonly string[]) => {
  const folder = folderOf(Object.fromEntries(files.map((file) => [file, 'before'])));
  const before = codeHashOf(folder, texts);
  appendFileSync(join(folder, changed), 'after');
  return [before, codeHashOf(folder, texts)];
};

test.each([
  ['tools.ts', []],
  ['.t.py', []],
  ['.lib/server.mjs', []],
  ['server.txt', []],
  ['package.json', []],
  ['compose.yaml', []],
  ['notes.md', []],
  ['fixtures/policy.txt', []],
  ['policy.md', ['policy.md']],
  ['policy.md', ['node ${domainFolder}/Policy.MD']],
  ['policy.md', ['sh -c "cat policy.md|sh"']],
  ['tasks/a.task.yaml', ['sh', 'tasks/*']],
  ['my file.task.yaml', ["sh 'my file.task.yaml'"]],
  ['policy.md', ['sh', '-c', 'sh pol*']],
  ['policy.md', ['sh', '-c', 'sh $(ls | head -1)']],
  ['.rehearsal/x.mjs', ['.rehearsal/x.mjs']],
  ['run/run.json', ['node', 'run/run.json']],
  ['.git/hooks/post', ['./.git/hooks/post']],
])('a change of %s changes the hash of a domain that starts %j', (file, texts) => {
  const [before, after] = hashWith(file, texts);
  expect(before).not.toBeNull();
  expect(after).not.toBe(before);
});

test.each([
  ['policy.md', ['node', 'server.txt']],
  ['database.json', []],
  ['tasks/a.task.yaml', []],
  ['personas/a.persona.yaml', []],
  ['.rehearsal/x.mjs', []],
  ['.git/hooks/post', ['https://x.github.com']],
  ['run/run.json', []],
  ['run/ledger.jsonl', ['node', 'server.txt']],
  ['run/a.0.traj.jsonl', []],
  ['run/.lock', []],
])('a change of %s does not change the hash of a domain that starts %j', (file, texts) => {
  const [before, after] = hashWith(file, texts);
  expect(before).not.toBeNull();
  expect(after).toBe(before);
});

test('the hash of a copy leaves out files that are not copied', () => {
  const copied = { 'tools.ts': 'code' };
  const own = folderOf({ ...copied, '.venv/bin/x': '', '__pycache__/x.pyc': '' });
  const absent = new Set(['.venv', '__pycache__']);
  expect(codeHashOf(own, ['.venv/bin/x'], absent)).toBe(codeHashOf(folderOf(copied), ['.venv/bin/x']));
  expect(codeHashOf(own, [], absent)).not.toBe(codeHashOf(own, []));
});
