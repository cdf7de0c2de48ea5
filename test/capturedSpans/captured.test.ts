import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConversations } from '../../src/engine/shell/import/readConversations.ts';
import { shown } from '../support/conversationLines.ts';
import { expected } from './expected.ts';
import { libraries } from './libraries.ts';

test.each(libraries)('spans of $label are the conversation that it had, once and in order', ({ name }) => {
  const file = join(import.meta.dirname, 'captured', `${name}.jsonl`);
  expect(existsSync(file), 'npm run test:spans -- --write captures it').toBe(true);
  const { conversations, problems } = readConversations([file], 'spans');
  expect([...problems, ...conversations.flatMap(({ lost }) => lost)]).toEqual([]);
  expect(conversations.map(shown)).toEqual([expected]);
});
