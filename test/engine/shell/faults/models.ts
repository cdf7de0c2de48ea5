import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { breakOff, chatCompletion, sendJson } from '../../../support/chatResponse.ts';
import { type Affected, domain, type FaultRow, play, scored, unscored } from './scene.ts';

/** Answers the nth request of the affected rollout that comes after its first call. */
type Answer = (response: ServerResponse, nth: number) => void;

const completion = (message: object) => chatCompletion({ role: 'assistant', content: null, ...message });
const calling = (name: string, text: string) =>
  completion({ tool_calls: [{ id: 'c1', type: 'function', function: { name, arguments: text } }] });
const says = (response: ServerResponse, message: object) => sendJson(response, 200, completion(message));
const done = (response: ServerResponse) => says(response, { content: 'All is done.' });

let made: string | null = null;
const folder = () => {
  made ??= domain([]);
  return made;
};

/** A model at an endpoint plays the agent in both rollouts; the affected one calls a tool first, and then the answer fails. */
async function model(answer: Answer | null, timeoutMs = 120_000): Promise<Affected> {
  let asked = 0;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    const isAffected = body.includes('This is affected.');
    if (!isAffected) return done(response);
    if (asked === 0) {
      asked += 1;
      sendJson(response, 200, calling('look', '{}'));
      if (answer === null) {
        server.closeAllConnections();
        server.close();
      }
      return;
    }
    answer?.(response, asked++);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const at = { type: 'openai', model: 'm', baseUrl, keyName: 'TEST_KEY', timeoutMs, rateLimitMs: 2000 } as const;
  try {
    const order = answer === null ? { order: 'spared first' as const } : {};
    return await play(folder(), { agent: at, keep: true, ...order });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const status =
  (code: number, body: object): Answer =>
  (response) =>
    sendJson(response, code, body);

const row = (
  fault: string,
  injected: string,
  sees: RegExp,
  kept: FaultRow['kept'],
  answer: Answer | null,
  timeoutMs?: number,
): FaultRow => ({ fault, injected, sees, kept, inject: () => model(answer, timeoutMs) });

export const models: readonly FaultRow[] = [
  row('a bad key', 'the endpoint answers 401', /^ended: /, unscored, status(401, { error: { message: 'no' } })),
  row('a model that refuses the connection', 'the endpoint closes after its first answer', /^ended: /, unscored, null),
  row(
    'a rate limit that passes',
    'the endpoint answers 429 with retry-after, twice',
    /^agent +All is done/,
    scored,
    (response, nth) => (nth < 3 ? sendJson(response, 429, { error: { message: 'slow down' } }) : done(response)),
  ),
  row(
    'a rate limit that stays',
    'the endpoint answers 429 with retry-after, always',
    /^ended: /,
    unscored,
    status(429, { error: { message: 'slow down' } }),
  ),
  row('a server error that passes', 'the endpoint answers 503, once', /^agent +All is done/, scored, (response, nth) =>
    nth < 2 ? sendJson(response, 503, { error: { message: 'restarting' } }) : done(response),
  ),
  row(
    'a server error that stays',
    'the endpoint answers 500, always',
    /^ended: /,
    unscored,
    status(500, { error: { message: 'boom' } }),
  ),
  row(
    'an answer that breaks off, once',
    'the endpoint cuts the connection inside the body of one answer',
    /^agent +All is done/,
    scored,
    (response, nth) => (nth < 2 ? breakOff(response) : done(response)),
  ),
  row(
    'answers that break off',
    'the endpoint cuts the connection inside the body, always',
    /^ended: /,
    unscored,
    breakOff,
  ),
  row('an answer that is broken JSON', 'the endpoint answers half an object', /^ended: /, unscored, (response) =>
    sendJson(response, 200, '{"choices": [{'),
  ),
  row('an answer that is another thing', 'the endpoint answers with a web page', /^ended: /, unscored, (response) =>
    sendJson(response, 200, '<html>Welcome</html>', { 'content-type': 'text/html' }),
  ),
  row(
    'an answer without a message',
    'the endpoint answers with an empty list of choices',
    /^ended: /,
    unscored,
    (response) => sendJson(response, 200, { ...completion({}), choices: [] }),
  ),
  row('an empty message', 'the endpoint answers without text or call, always', /^ended: /, scored, (response) =>
    says(response, { content: '' }),
  ),
  row(
    'a model that never answers',
    'the endpoint keeps the connection open, and the time-out is 0.3 s',
    /^ended: /,
    unscored,
    () => undefined,
    300,
  ),
  row(
    'a conversation that no longer fits',
    'the endpoint answers 400 with context_length_exceeded',
    /^ended: /,
    scored,
    status(400, { error: { message: 'too long', code: 'context_length_exceeded' } }),
  ),
  row('a tool that does not exist', 'the model calls fly, once', /^error /, scored, (response, nth) =>
    nth === 1 ? sendJson(response, 200, calling('fly', '{}')) : done(response),
  ),
  row(
    'arguments that are not JSON',
    'the model calls look with half an object, once',
    /^error /,
    scored,
    (response, nth) => (nth === 1 ? sendJson(response, 200, calling('look', '{"at": ')) : done(response)),
  ),
  row(
    'arguments that do not fit',
    'the model calls look with an argument it does not have, once',
    /^error /,
    scored,
    (response, nth) => (nth === 1 ? sendJson(response, 200, calling('look', '{"at": 7}')) : done(response)),
  ),
  row('an endless loop of calls', 'the model calls look forever', /^ended: /, scored, (response) =>
    sendJson(response, 200, calling('look', '{}')),
  ),
  row('an endless loop of errors', 'the model calls fly forever', /^ended: /, scored, (response) =>
    sendJson(response, 200, calling('fly', '{}')),
  ),
];
