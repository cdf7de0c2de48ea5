import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildInputs } from '../../scripts/build.ts';
import { packageInputs } from '../../scripts/package.ts';
import { inRoot } from '../../scripts/repository.ts';

test('a change of anything that is packaged, or that builds or packs it, makes a new package', () => {
  const lines = readFileSync(inRoot('.vscodeignore'), 'utf8').split('\n');
  const packaged = lines
    .filter((line) => line.startsWith('!') && !line.startsWith('!dist/'))
    .map((line) => line.slice(1));
  const isInput = (path: string) => packageInputs.some((input) => path === input || path.startsWith(`${input}/`));
  expect(packaged.length).toBeGreaterThan(10);
  const others = ['.vscodeignore', 'README.md', 'scripts/package.ts'];
  expect([...packaged, ...buildInputs, ...others].filter((path) => !isInput(path))).toEqual([]);
});
