import { describe, expect, test } from 'vitest';
import {
  callArguments,
  type Message,
  offeredNow,
  parsedCalls,
  responsesInARow,
} from '../../../../src/engine/core/events/message.ts';

describe('whole numbers that were written as floats', () => {
  const cases: readonly (readonly [text: string, places: readonly string[]])[] = [
    ['{}', []],
    ['{"a": 5}', []],
    ['{"a": 5.0}', ['/a']],
    ['{"a": 5e1, "b": 0.5, "c": "5.0"}', ['/a']],
    ['{"list": [1, 2.0, {"x/y": -3.0}]}', ['/list/1', '/list/2/x~1y']],
    ['[4.0]', ['/0']],
    ['{"a": 5.0', []],
  ];
  test.each(cases)('%s', (text, places) => {
    expect(callArguments(text).floats ?? []).toEqual(places);
  });
});

test('a call has floats only if some were written, and keeps a text that is not an object', () => {
  expect(callArguments('{"a": 5}')).toEqual({ arguments: { a: 5 } });
  expect(callArguments('{"a": 5.0}')).toEqual({ arguments: { a: 5 }, floats: ['/a'] });
  expect(callArguments('{"a": 5.0')).toEqual({ arguments: '{"a": 5.0' });
  expect(callArguments('')).toEqual({ arguments: {} });
});

test('a call keeps the text of arguments that a recording cannot hold', () => {
  const deep = `{"a": ${'['.repeat(5000)}${']'.repeat(5000)}}`;
  for (const text of ['{"a": 1e400}', '{"a": [-1e400]}', deep]) expect(callArguments(text).arguments).toBe(text);
});

const user = (content: string, tools: string[] = []): Message => ({
  role: 'user',
  step: 0,
  content,
  ...(tools.length > 0 ? { tools: tools.map(tool) } : {}),
});
const tool = (name: string) => ({ name, description: '', parameters: {} });
const response: Message = { role: 'agent', step: 0, content: null, toolCalls: [] };

test('tools that a message of the user adds are offered from then on', () => {
  const names = (messages: readonly Message[]) => offeredNow([tool('look')], messages).map(({ name }) => name);
  expect(names([user('Hello.')])).toEqual(['look']);
  expect(names([user('Hello.'), response, user('And now?', ['paint']), response])).toEqual(['look', 'paint']);
});

test('responses count since the last message of the user', () => {
  expect(responsesInARow([user('Hello.'), response, response, user('Well?'), response])).toBe(1);
  expect(responsesInARow([user('Hello.'), response, response])).toBe(2);
  expect(responsesInARow([])).toBe(0);
});

test.each<[string, string, unknown]>([
  ['a call', '{"arguments": {"a": 5.0, "b": [1, 2e0]}}', { arguments: { a: 5, b: [1, 2] }, floats: ['/a', '/b/1'] }],
  [
    'calls in a list',
    '[{"x/y": {"arguments": {"a": 1.0}}}, {"arguments": {"a": 1}}]',
    [{ 'x/y': { arguments: { a: 1 }, floats: ['/a'] } }, { arguments: { a: 1 } }],
  ],
  [
    'arguments in arguments',
    '{"arguments": {"arguments": {"a": 1.0}}}',
    { arguments: { arguments: { a: 1 } }, floats: ['/arguments/a'] },
  ],
  [
    'floats elsewhere, and arguments that are a text',
    '{"cost": 0.0, "arguments": "{\\"a\\": 1.0}"}',
    { cost: 0, arguments: '{"a": 1.0}' },
  ],
])('parsedCalls finds the floats of %s', (_, text, value) => {
  expect(parsedCalls(text)).toEqual(value);
});

test('parsedCalls throws for a text that is not JSON', () => {
  expect(() => parsedCalls('{')).toThrow(SyntaxError);
});
