import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, makeRunFolder } from '../../../../src/engine/shell/files/disk.ts';
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

test('the fault for a folder outside of the work folders names no option', () => {
  const folder = scratch();
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file', 'desk'))).toThrow(/Choose a folder that you can write to$/);
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
    '/proc/rehearsal: cannot be created, because /proc accepts no new folders',
  );
});

/** Makes two folders next to each other, the first with a link that leads to the target. */
function linked(link: string, target: string): { readonly folder: string; readonly outside: string } {
  const root = scratch();
  const [folder, outside] = [join(root, 'domain'), join(root, 'outside')];
  for (const each of [outside, join(folder, '.rehearsal')]) mkdirSync(each, { recursive: true });
  rmSync(join(folder, link), { recursive: true, force: true });
  symlinkSync(target, join(folder, link));
  return { folder, outside };
}

test.each([
  ['.rehearsal', '../outside'],
  ['.rehearsal/runs', '../../outside'],
  ['.rehearsal/runs', '/'],
])('a run is not written through %s, a link to %s', (link, target) => {
  const { folder, outside } = linked(link, target);
  expect(() => makeRunFolder(join(folder, '.rehearsal', 'runs', 'one'))).toThrow(
    /: is a symbolic link to .*, outside of .*domain, and nothing is written through it\. Remove the link, or name the folder to write to with --out$/,
  );
  expect(readdirSync(outside)).toEqual([]);
});

test('a run is not written through a link to nothing', () => {
  const { folder, outside } = linked('.rehearsal', '../outside/none');
  expect(() => makeRunFolder(join(folder, '.rehearsal', 'runs', 'one'))).toThrow(/is a symbolic link to nothing/);
  expect(readdirSync(outside)).toEqual([]);
});

test('a run is written through a link that stays in the folder, and where the folder itself is a link', () => {
  const { folder } = linked('.rehearsal', 'work');
  mkdirSync(join(folder, 'work'));
  const same = join(folder, '..', 'same');
  symlinkSync(folder, same);
  makeRunFolder(join(same, '.rehearsal', 'runs', 'one'));
  expect(existsSync(join(folder, 'work', 'runs', 'one'))).toBe(true);
});

test('a folder of a domain is not made through a link out of the domain', () => {
  const { folder, outside } = linked('tasks', '../outside');
  expect(() => makeFolder(join(folder, 'tasks', 'drafts'), { within: folder })).toThrow(
    /tasks: is a symbolic link to .*outside, outside of .*domain, and nothing is written through it\. Put a folder in its place$/,
  );
  expect(readdirSync(outside)).toEqual([]);
});
