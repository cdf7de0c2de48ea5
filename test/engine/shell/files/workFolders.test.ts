import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPlacesAround, runsOf } from '../../../../src/engine/shell/files/workFolders.ts';

const at = (...path: readonly string[]) => join('/', ...path);
const runs = (...path: readonly string[]) => at(...path, '.rehearsal', 'runs');

test.each([
  [
    'a folder that has the domain',
    at('work', 'domains', 'desk'),
    [at('work')],
    [['work', 'domains', 'desk'], ['work', 'domains'], ['work']],
  ],
  [
    'the innermost of several',
    at('work', 'a', 'desk'),
    [at('work'), at('work', 'a')],
    [
      ['work', 'a', 'desk'],
      ['work', 'a'],
    ],
  ],
  ['the domain itself as a folder', at('work', 'desk'), [at('work', 'desk')], [['work', 'desk']]],
  ['no folder that has it', at('else', 'desk'), [at('work')], [['else', 'desk']]],
  ['a folder whose name only begins alike', at('workshop', 'desk'), [at('work')], [['workshop', 'desk']]],
  ['the root of the file system', at('desk'), [at()], [['desk'], []]],
])('runs of a domain with %s', (_which, domain, roots, places) => {
  const expected = places.map((place) => runs(...place));
  expect(runPlacesAround(domain, roots)).toEqual(expected);
  expect(runsOf(domain, roots)).toBe(expected.at(-1));
});
