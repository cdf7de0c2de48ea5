import { expect, test } from 'vitest';
import { LentModel, streamed } from '../../../../src/engine/shell/models/lentModel.ts';
import { completion, endpoint } from '../../../support/endpoint.ts';
import { answerOf } from '../../../support/readAnswer.ts';

const never = new AbortController().signal;

test.each([
  { name: 'a message without content', message: { role: 'user', content: null }, status: 200 },
  { name: 'a part of another form', message: { role: 'user', content: [{ type: 'input_audio' }] }, status: 200 },
  { name: 'a call of another form', message: { role: 'assistant', tool_calls: [{ id: 1 }] }, status: 200 },
  { name: 'content that is a number', message: { role: 'user', content: 7 }, status: 400 },
  { name: 'a part that is null', message: { role: 'user', content: [null] }, status: 400 },
  { name: 'calls that are not a list', message: { role: 'assistant', tool_calls: 'look' }, status: 400 },
])('a custom agent sends $name: $status', async ({ message, status }) => {
  const sent: unknown[] = [];
  const url = await endpoint((_, body) => {
    sent.push(...JSON.parse(body).messages);
    return completion({ content: 'Yes.' });
  });
  const lent = new LentModel(
    { type: 'openai', model: 'm', baseUrl: url, keyName: null },
    (make) => make('', () => undefined),
    () => undefined,
  );
  const answer = await lent.answer({ messages: [message] }, never);
  expect(answer.status).toBe(status);
  expect(sent).toEqual(status === 200 ? [message] : []);
  if (status === 400) expect(JSON.stringify(answer.body)).toContain('messages.0.');
});

test('a custom agent gets numbers beyond 2^53 as they came', async () => {
  const state = '{"seed":9007199254740993}';
  const url = await endpoint(() => ({
    status: 200,
    body: `{"choices":[{"finish_reason":"stop","message":{"content":"Yes.","vendor_state":${state}}}]}`,
  }));
  const lent = new LentModel(
    { type: 'openai', model: 'm', baseUrl: url, keyName: null },
    (make) => make('', () => undefined),
    () => undefined,
  );
  const answer = await lent.answer({ messages: [{ role: 'user', content: 'Hi' }] }, never);
  expect(JSON.stringify(answer.body)).toContain(`"vendor_state":${state}`);
  expect(streamed(answer.body as never)).toContain(`"vendor_state":${state}`);
});

test('other fields of a choice are streamed too', () => {
  const { raw } = answerOf({
    choices: [{ finish_reason: 'stop', native_finish_reason: 'END', message: { content: 'x' } }],
  });
  expect(streamed(raw)).toContain('"native_finish_reason":"END"');
});

test('an answer that a filter withheld is streamed too', () => {
  const { raw } = answerOf({ id: 'c', choices: [{ finish_reason: 'content_filter' }] });
  expect(streamed(raw)).toContain('"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]');
});

test('a custom agent gets an answer of another form in the form of OpenAI', async () => {
  const tool_calls = [null, { id: 'c', name: 'look', arguments: '{}' }];
  const delta = { role: 'assistant', content: null, tool_calls, annotations: [] };
  const url = await endpoint(() => ({
    status: 200,
    body: { data: { id: 'x', choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] } },
  }));
  const lent = new LentModel(
    { type: 'openai', model: 'm', baseUrl: url, keyName: null },
    (make) => make('', () => undefined),
    () => undefined,
  );
  const calls = [{ id: 'c', function: { name: 'look', arguments: '{}' } }];
  const message = { role: 'assistant', content: null, tool_calls: calls, annotations: [] };
  expect(await lent.answer({ messages: [{ role: 'user', content: 'Hi' }] }, never)).toMatchObject({
    body: { id: 'x', choices: [{ index: 0, message }] },
  });
});

test('a custom agent gets a call in both forms once, and arguments as a text', async () => {
  const named = { name: 'look', arguments: { at: 1 } };
  const message = {
    role: 'assistant',
    content: null,
    function_call: named,
    tool_calls: [{ id: 'c', function: named }],
  };
  const url = await endpoint(() => ({
    status: 200,
    body: { id: 'x', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
  }));
  const lent = new LentModel(
    { type: 'openai', model: 'm', baseUrl: url, keyName: null },
    (make) => make('', () => undefined),
    () => undefined,
  );
  const answer = await lent.answer({ messages: [{ role: 'user', content: 'Hi' }] }, never);
  const tool_calls = [{ id: 'c', function: { name: 'look', arguments: '{"at":1}' } }];
  const made = { role: 'assistant', content: null, function_call: null, tool_calls };
  expect(answer.body).toMatchObject({ choices: [{ message: made }] });
  expect(streamed(answer.body as never)).toContain('"function_call":null');
});
