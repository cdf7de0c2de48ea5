import { expect, test } from 'vitest';
import { KnownNumbers } from '../../../src/authoring/masking/knownNumbers.ts';
import { Replacements } from '../../../src/authoring/masking/replacements.ts';

test('each of many names has its own replacement', () => {
  const replacements = new Replacements('test', new KnownNumbers());
  const names = Array.from(
    { length: 4000 },
    (_, at) => `N${at.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')}`,
  );
  expect(new Set(names).size).toBe(4000);
  expect(new Set(names.map((name) => replacements.of('name', name))).size).toBe(4000);
});
