import { globSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot, root } from '../../scripts/repository.ts';

/** The package of the trainer. */
const trainer = 'trainer/rehearsal_trainer';
/** The folders of docs/architecture.md, those of `src` and of the trainer each from the bottom up. */
const folders = [
  ...readFileSync(inRoot('docs/architecture.md'), 'utf8').matchAll(/^\| `((?:src|trainer)\/[\w/]+)\/` +\|/gm),
].map(([, folder = '']) => folder);
/** The module that the code of a domain imports, and what is copied beside it. */
const isShipped = /^src\/engine\/(?:authoring\.ts|bridge\/|personas\/)/;
const sources = globSync(['src/**/*.{ts,tsx}', `${trainer}/*/**/*.py`], { cwd: root })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !isShipped.test(file));
/** The largest number of files in one folder. */
const mostFiles = 30;

/** Returns the place in the table of the folder that a file or a Python package belongs to; -1 for none. */
function folderIndex(file: string): number {
  const [longest] = folders.filter((each) => `${file}/`.startsWith(`${each}/`)).toSorted((a, b) => b.length - a.length);
  return longest === undefined ? -1 : folders.indexOf(longest);
}

/** Returns the imports of a file that lead to a folder below its own line of the table, types included. */
function upwardImports(file: string, text: string): string[] {
  const imported = file.endsWith('.py') ? importedInPython(text) : importedInTypeScript(file, text);
  return imported.filter((path) => folderIndex(path) > folderIndex(file)).map((path) => `${file} imports ${path}`);
}

function importedInTypeScript(file: string, text: string): string[] {
  const paths = text.matchAll(/(?:\bfrom|\bimport\()\s*'(\.[^']+)'/g);
  return [...paths].map(([, path = '']) => posix.join(dirname(file), path));
}

/** `from a.b import c` names a module or what is in a module; in either case, its folder is that of the path a/b/c. */
function importedInPython(text: string): string[] {
  const modules = text.matchAll(
    /^[ \t]*(?:from|import)[ \t]+rehearsal_trainer\.([\w.]+)(?:[ \t]+import[ \t]+(\w+))?/gm,
  );
  return [...modules].map(([, path = '', name = '']) => posix.join(trainer, path.replaceAll('.', '/'), name));
}

test('every folder has a line in docs/architecture.md', () => {
  expect(folders.length).toBeGreaterThan(40);
  expect(folders.filter((folder) => !sources.some((file) => dirname(file) === folder))).toEqual([]);
  expect(sources.filter((file) => folderIndex(file) < 0)).toEqual([]);
});

test('every file imports only from its own folder and from those above its line', () => {
  const found = sources.flatMap((file) => upwardImports(file, readFileSync(inRoot(file), 'utf8')));
  expect(found).toEqual([]);
});

test.each([
  ["import type { Task } from '../domain/task.ts';", 1],
  ["import { json } from '../values/json.ts';", 0],
  ["const late = await import('../../shell/rollout/driver.ts');", 1],
])('a planted import is found: %s', (line, count) => {
  expect(upwardImports('src/engine/core/world/planted.ts', line)).toHaveLength(count);
});

test.each([
  ['from rehearsal_trainer.values.messages import Json', 0],
  ['from rehearsal_trainer.sampler.answers import Sampling', 0],
  ['    from rehearsal_trainer.commands import sft', 1],
  ['from rehearsal_trainer.sampler.cpu_decoder.generation import Generator', 1],
  ['import rehearsal_trainer.gateway.session', 1],
])('a planted import of Python is found: %s', (line, count) => {
  expect(upwardImports(`${trainer}/sampler/planted.py`, line)).toHaveLength(count);
});

test('no folder holds many files', () => {
  const counts = Map.groupBy(sources, (file) => dirname(file));
  expect([...counts].filter(([, files]) => files.length > mostFiles).map(([folder]) => folder)).toEqual([]);
});
