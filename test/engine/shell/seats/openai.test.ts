import type { ChatCompletion } from 'openai/resources/chat/completions';
import { expect, test } from 'vitest';
import { callsOf } from '../../../../src/engine/shell/seats/chatCalls.ts';
import { chatOf } from '../../../../src/engine/shell/seats/chatRequest.ts';
import { started } from '../../../support/desk.ts';

test('a call keeps which of its whole numbers are floats', () => {
  const made = (text: string) => ({ id: 'c', type: 'function' as const, function: { name: 'pay', arguments: text } });
  const message = { tool_calls: [made('{"amount": 5.0}'), made('{"amount": 5}')] };
  expect(callsOf(message as unknown as ChatCompletion['choices'][0]['message'], 'call')).toEqual([
    { id: 'c', name: 'pay', arguments: { amount: 5 }, floats: ['/amount'] },
    { id: 'c', name: 'pay', arguments: { amount: 5 } },
  ]);
});

test('an empty policy is no system message', () => {
  const messages = [{ role: 'user' as const, step: 1, content: 'Hello.' }];
  const roles = (system: string) => chatOf({ started: { ...started('1'), system }, messages }).map(({ role }) => role);
  expect(roles('Be kind.')).toEqual(['system', 'user']);
  expect(roles('')).toEqual(['user']);
});
