import { expect, test } from 'vitest';
import { plain } from '../../../../src/engine/core/text/text.ts';

test.each(['\u2018', '\u2019', '\u00b4'])('%s is an apostrophe', (sign) => {
  expect(plain(`I don${sign}t know`)).toBe(plain("I don't know"));
});
