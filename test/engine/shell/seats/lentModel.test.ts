import { expect, test } from 'vitest';
import { readCompletion } from '../../../../src/engine/shell/seats/chatAnswer.ts';
import { LentModel, streamed } from '../../../../src/engine/shell/seats/lentModel.ts';
import { completion, endpoint } from '../../../support/endpoint.ts';

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

test('an answer that a filter withheld is streamed too', () => {
  const answer = readCompletion({ id: 'c', choices: [{ finish_reason: 'content_filter' }] });
  if ('problem' in answer) throw new Error(answer.problem);
  expect(streamed(answer.raw)).toContain('"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]');
});
