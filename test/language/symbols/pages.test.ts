import { expect, it } from 'vitest';
import { pagesOf } from '../../../src/language/symbols/pages.ts';

const page = (files: Readonly<Record<string, number>>) =>
  pagesOf(
    Object.entries(files).flatMap(([name, count]) => Array.from({ length: count }, () => `/d/tasks/${name}.task.yaml`)),
    (file) => file,
  ).map(({ name, from, to }) => [name, from, to]);

it.each([
  ['nothing', {}, []],
  ['one file', { a: 500 }, [['a', 0, 500]]],
  [
    'small files share a page',
    { a: 200, b: 200, c: 100, d: 1 },
    [
      ['a – c', 0, 500],
      ['d', 500, 501],
    ],
  ],
  [
    'a large file has several',
    { a: 1, b: 1001, c: 2 },
    [
      ['a', 0, 1],
      ['b 1–500', 1, 501],
      ['b 501–1000', 501, 1001],
      ['b 1001–1001', 1001, 1002],
      ['c', 1002, 1004],
    ],
  ],
])('pages of a list: %s', (_what, files, pages) => {
  expect(page(files)).toEqual(pages);
});
