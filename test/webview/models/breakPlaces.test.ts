import { expect, test } from 'vitest';
import { breakPlaces } from '../../../src/webview/models/breakPlaces.ts';

test.each([
  ['{"product":"desk lamp","variant":"brass"}', '{"product":|"desk lamp",|"variant":|"brass"}'],
  ['orders.W1138.items[0].variant', 'orders.|W1138.|items|[0].|variant'],
  ['settled_with', 'settled_|with'],
  ['One moment, please. It is 9:30.', 'One moment, please. It is 9:30.'],
])('a line of %j may break at the marks of %j', (text, marked) => {
  expect(breakPlaces(text).join('|')).toBe(marked);
  expect(breakPlaces(text).join('')).toBe(text);
});
