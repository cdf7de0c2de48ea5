import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectedOf, readCapture } from './expected.ts';
import { libraries } from './libraries.ts';

test.each(libraries)('spans of $label are the conversation that it had, once and in order', async (library) => {
  const file = join(import.meta.dirname, 'captured', `${library.name}.jsonl`);
  expect(existsSync(file), 'npm run test:spans -- --write captures it').toBe(true);
  const { read, lost } = await readCapture(file);
  expect(lost).toEqual([]);
  expect(read).toEqual([expectedOf(library)]);
});
