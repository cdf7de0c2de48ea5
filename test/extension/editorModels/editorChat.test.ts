import { expect, test } from 'vitest';
import { completionOf, editorMessages, parseRequest } from '../../../src/extension/editorModels/editorChat.ts';

const call = (id: string, args: string) => ({ id, function: { name: 'get_order', arguments: args } });

test('the system prompt begins the first message of the user', () => {
  expect(
    editorMessages([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'Hello!' },
      { role: 'user', content: [{ text: 'Where is ' }, { text: 'W1?' }] },
    ]),
  ).toEqual([
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'Be kind.' },
        { type: 'text', text: 'Hello.' },
      ],
    },
    { role: 'assistant', parts: [{ type: 'text', text: 'Hello!' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Where is W1?' }] },
  ]);
});

test('a line replaces each picture, which these models are not sent', () => {
  const url = 'data:image/png;base64,iVBORw0KGgo=';
  const content = [
    { type: 'text', text: 'The media of the results above:' },
    { type: 'image_url', image_url: { url } },
    { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
  ];
  const text = 'The media of the results above:\n[image/png, 1 kB]\n[audio/wav, 1 kB]';
  expect(editorMessages([{ role: 'user', content }])).toEqual([{ role: 'user', parts: [{ type: 'text', text }] }]);
});

test('where the agent greets first, the system prompt is a message of its own before it', () => {
  const roles = editorMessages([
    { role: 'system', content: 'Be kind.' },
    { role: 'assistant', content: 'Good day.' },
    { role: 'user', content: 'Hello.' },
  ]).map(({ role }) => role);
  expect(roles).toEqual(['user', 'assistant', 'user']);
});

test('calls and results keep their ids, and the results of one response are in one message', () => {
  expect(
    editorMessages([
      { role: 'user', content: 'Both?' },
      { role: 'assistant', content: null, tool_calls: [call('a', '{"id":"W1"}'), call('b', 'not json')] },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: '' },
    ]),
  ).toEqual([
    { role: 'user', parts: [{ type: 'text', text: 'Both?' }] },
    {
      role: 'assistant',
      parts: [
        { type: 'call', id: 'a', name: 'get_order', input: { id: 'W1' } },
        { type: 'call', id: 'b', name: 'get_order', input: { arguments: 'not json' } },
      ],
    },
    {
      role: 'user',
      parts: [
        { type: 'result', id: 'a', text: 'one' },
        { type: 'result', id: 'b', text: '' },
      ],
    },
  ]);
});

test('an answer is a chat completion', () => {
  const calls = [{ id: 'a', name: 'get_order', input: { id: 'W1' } }];
  expect(completionOf('m', { text: '', calls })).toMatchObject({
    model: 'm',
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'get_order', arguments: '{"id":"W1"}' } }],
        },
      },
    ],
  });
  expect(completionOf('m', { text: 'Done.', calls: [] })).toMatchObject({
    choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }],
  });
});

test.each([
  '',
  'null',
  '[]',
  '{"model":"m"}',
  '{"messages":[]}',
  '{"model":"m","messages":[null]}',
  '{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a"}]}]}',
  '{"model":"m","messages":[],"tools":[{}]}',
])('%j is not a request', (body) => {
  expect(parseRequest(body)).toMatch(/a chat completion request has the form/);
});

test('settings of the seat go to the model as its options', () => {
  const messages = [{ role: 'user', content: 'Hello.' }];
  const settings = { temperature: 0.2, max_tokens: 64, reasoning_effort: 'low', top_k: 20 };
  const asked = parseRequest(JSON.stringify({ model: 'm', messages, stream: false, ...settings }));
  expect(asked).toEqual({ model: 'm', messages: editorMessages(messages), tools: [], modelOptions: settings });
});
