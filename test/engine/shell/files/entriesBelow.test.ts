import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { entriesBelow, listingLimits } from '../../../../src/engine/shell/files/entriesBelow.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** Makes a folder with empty files, and with links by their names. Returns its path. */
function folderWith(files: readonly string[], links: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder('rehearsal-entries');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), '');
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, name));
  return folder;
}

const namesOf = (folder: string, within?: string) => entriesBelow(folder, within).names.toSorted();

test('links to the folder itself are listed and not followed', () => {
  const folder = folderWith(['one', 'in/two'], { a: '.', b: '.', 'in/c': '..' });
  expect(namesOf(folder)).toEqual(['a', 'b', 'in', 'in/c', 'in/two', 'one']);
});

test('a folder that links lead to is listed once, and under its own name where it has one', () => {
  const folder = folderWith(['tasks/z/one', 'shared/two'], {
    'tasks/a': 'z',
    'tasks/b': '../shared',
    'tasks/c': '../shared',
  });
  expect(namesOf(join(folder, 'tasks'), folder)).toEqual(['a', 'b', 'b/two', 'c', 'z', 'z/one']);
});

test('links to files, to nothing and to themselves are listed', () => {
  const folder = folderWith(['one'], { a: 'one', b: 'nothing', c: 'c' });
  expect(namesOf(folder)).toEqual(['a', 'b', 'c', 'one']);
});

test('a link to a folder outside is named and not followed', () => {
  const folder = folderWith(['tasks/one', 'else/two'], { 'tasks/away': '../else', 'tasks/root': '/' });
  const { names, outside } = entriesBelow(join(folder, 'tasks'));
  expect([names.toSorted(), outside.toSorted()]).toEqual([
    ['away', 'one', 'root'],
    ['away', 'root'],
  ]);
});

test('a folder that is itself a link out of its bounds is refused', () => {
  const folder = folderWith(['domain/one'], { 'domain/tasks': '/usr' });
  expect(() => entriesBelow(join(folder, 'domain', 'tasks'), join(folder, 'domain'))).toThrow(
    /^is a link to \/usr, outside of .*domain$/,
  );
});

test('more levels than the limit are refused, and the folder is named', () => {
  const deep = (levels: number) => Array.from({ length: levels }, () => 'd').join('/');
  expect(namesOf(folderWith([`${deep(listingLimits.levels)}/one`]))).toHaveLength(listingLimits.levels + 1);
  const folder = folderWith([`${deep(listingLimits.levels + 1)}/one`]);
  expect(() => entriesBelow(folder)).toThrow(`has more than 32 levels of folders: ${deep(33)}`);
});

test('more entries than the limit are refused', () => {
  const folder = folderWith(['a/one', 'b/two', 'c/three']);
  expect(() => entriesBelow(folder, folder, 5)).toThrow('has more than 5 files and folders');
  expect(entriesBelow(folder, folder, 6).names).toHaveLength(6);
});
