import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeRunFolder } from '../../../../src/engine/shell/files/disk.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

function scratch(): string {
  const folder = temporaryFolder('rehearsal-disk');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('the first run of a workspace makes git ignore all runs', () => {
  const folder = scratch();
  const run = join(folder, '.rehearsal', 'runs', '20260102-one');
  makeRunFolder(run);
  expect(existsSync(run)).toBe(true);
  expect(readFileSync(join(folder, '.rehearsal', '.gitignore'), 'utf8')).toBe('*\n');
});

test('a .gitignore that a person changed is kept', () => {
  const folder = scratch();
  mkdirSync(join(folder, '.rehearsal'));
  writeFileSync(join(folder, '.rehearsal', '.gitignore'), '');
  makeRunFolder(join(folder, '.rehearsal', 'training', 'one'));
  expect(readFileSync(join(folder, '.rehearsal', '.gitignore'), 'utf8')).toBe('');
});

test('a folder that a person named elsewhere gets no .gitignore', () => {
  const folder = scratch();
  makeRunFolder(join(folder, 'results', 'one'));
  expect([existsSync(join(folder, 'results', '.gitignore')), existsSync(join(folder, '.gitignore'))]).toEqual([
    false,
    false,
  ]);
});

test('a folder that cannot be created is one clear fault', () => {
  const folder = scratch();
  writeFileSync(join(folder, 'runs'), 'a file in its place');
  expect(() => makeRunFolder(join(folder, 'runs', 'one'))).toThrow(/runs\/one: can't be written \(ENOTDIR/);
});

test('a place that takes no new folders is reported and not tried forever', {
  skip: process.platform !== 'linux',
}, () => {
  expect(() => makeRunFolder('/proc/rehearsal/runs')).toThrow(
    "/proc/rehearsal: can't be made, /proc takes no new folders",
  );
});
