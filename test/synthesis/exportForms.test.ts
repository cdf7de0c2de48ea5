import { expect, test } from 'vitest';
import type { ChatLine } from '../../src/synthesis/chatLine.ts';
import { exportForms } from '../../src/synthesis/exportForms.ts';

test('a row for OpenAI of an agent without tools has no list of tools', () => {
  const messages = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello!', weight: 1 },
    { role: 'user', content: 'Bye' },
  ];
  const line = { messages, tools: [] } as unknown as ChatLine;
  expect(exportForms.openai(line)).toEqual({ messages: messages.slice(0, 2) });
});
