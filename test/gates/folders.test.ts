import { globSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { expect, test } from 'vitest';
import { inRoot, root } from '../../scripts/repository.ts';

/** The folders of docs/architecture.md, from the bottom up. */
const folders = [...readFileSync(inRoot('docs/architecture.md'), 'utf8').matchAll(/^\| `(src\/[\w/]+)\/` +\|/gm)].map(
  ([, folder = '']) => folder,
);
/** The module that the code of a domain imports, and what is copied beside it. */
const isShipped = /^src\/engine\/(?:authoring\.ts|bridge\/|personas\/)/;
const sources = globSync('src/{engine,authoring,benchmarks,synthesis,training,language,cli}/**/*.ts', { cwd: root })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !isShipped.test(file));
/** The largest number of files in one folder. */
const mostFiles = 30;

/** Returns the place in the table of the folder that a file belongs to; -1 for none. */
function placeOf(file: string): number {
  const [longest] = folders.filter((each) => file.startsWith(`${each}/`)).toSorted((a, b) => b.length - a.length);
  return longest === undefined ? -1 : folders.indexOf(longest);
}

/** Returns the imports of a file that lead to a folder below its own line of the table, types included. */
function upwardImports(file: string, text: string): string[] {
  const imported = [...text.matchAll(/(?:\bfrom|\bimport\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    posix.join(dirname(file), path),
  );
  return imported.filter((path) => placeOf(path) > placeOf(file)).map((path) => `${file} imports ${path}`);
}

test('every folder has a line in docs/architecture.md', () => {
  expect(folders.length).toBeGreaterThan(40);
  expect(folders.filter((folder) => !sources.some((file) => dirname(file) === folder))).toEqual([]);
  expect(sources.filter((file) => placeOf(file) < 0)).toEqual([]);
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

test('no folder holds many files', () => {
  const counts = Map.groupBy(sources, (file) => dirname(file));
  expect([...counts].filter(([, files]) => files.length > mostFiles).map(([folder]) => folder)).toEqual([]);
});
