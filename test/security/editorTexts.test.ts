import { expect, test } from 'vitest';
import { markdown } from '../../src/cli/lsp/translation.ts';

// Invariant: an editor that shows a description of a domain loads nothing from an address that the domain names.

test.each([
  ['a picture', '![a](https://example.com/a.png)', '\\![a](https://example.com/a.png)'],
  [
    'a picture by reference',
    '![a][b]\n\n[b]: https://example.com/a.png',
    '\\![a][b]\n\n[b]: https://example.com/a.png',
  ],
  ['a link', 'See [a](https://example.com)!', 'See [a](https://example.com)!'],
])('a description with %s', (_, text, shown) => {
  expect(markdown(text).value).toBe(shown);
});
