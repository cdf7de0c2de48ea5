import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { endpointSupport } from '../../src/cli/doctor/endpointSupport.ts';
import { listenAnew } from '../support/endpoint.ts';

type Request = Readonly<Record<string, unknown>>;
type Answer = {
  readonly status?: number;
  readonly type?: string;
  readonly message?: object;
  readonly usage?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of an error. */
  readonly error?: object;
};

/** Returns the features that an endpoint with these answers is found to support, by name. */
async function supports(answer: (request: Request) => Answer, topK: ReadonlySet<unknown> = new Set([20])) {
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as Request;
    const { status = 200, type = 'application/json', message = {}, usage, headers = {}, error } = answer(body);
    expect(topK.has(body['top_k'])).toBe(true);
    response.writeHead(status, { 'content-type': type, ...headers });
    const said = { role: 'assistant', content: 'Hello', ...message };
    const isStream = type === 'text/event-stream';
    const choice = isStream ? { delta: said, finish_reason: 'stop' } : { message: said };
    const text = JSON.stringify(error ?? { choices: [choice], usage });
    response.end(isStream ? `data: ${text}\n\n` : text);
  });
  await listenAnew(server);
  onTestFinished(() => {
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const signal = new AbortController().signal;
  const asked = { maxTokens: 64, extraBody: { top_k: 20 }, rateLimitMs: 60_000 };
  const seat = { type: 'openai', model: 'm', baseUrl, keyName: null, ...asked } as const;
  const found = await endpointSupport({ seat, key: 'sk-planted', timeoutMs: 60_000, signal });
  expect(JSON.stringify(found)).not.toContain('sk-planted');
  return new Map(found.map(({ name, ...rest }) => [name, rest]));
}

const call = (id: string) => ({ id, type: 'function', function: { name: 'look_up', arguments: `{"id":"${id}"}` } });
const usage = { prompt_tokens: 1, completion_tokens: 1 };

test('an endpoint that supports everything', async () => {
  const found = await supports(({ tools, response_format, stream }) => {
    const headers = { 'x-ratelimit-reset-requests': '1s' };
    if (stream) return { headers, type: 'text/event-stream' };
    if (response_format) return { headers, usage, message: { content: '{"holds":true}' } };
    const message = tools ? { tool_calls: [call('P1'), call('P2')] } : { reasoning: 'They greet me.' };
    return { headers, usage, message };
  });
  expect([...found].filter(([, { status }]) => status !== 'ok')).toEqual([]);
  expect(found.get('rate limits')?.found).toBe('x-ratelimit-reset-requests');
});

test('an endpoint that supports little gets a next step for each gap', async () => {
  const found = await supports(({ tools, temperature }) => {
    if (tools) return { status: 400 };
    return temperature === undefined ? {} : { status: 422 };
  });
  for (const name of ['calls', 'parallel calls', 'structured output', 'streaming', 'reasoning', 'token counts'])
    expect(found.get(name), name).toMatchObject({ status: 'warning', advice: expect.stringMatching(/./) });
  expect(found.get('calls')?.advice).toContain('answered 400');
  expect(found.get('parameters')?.found).toBe('does not accept temperature');
});

test('a setting that the endpoint refuses is left out of the requests', async () => {
  const known = ['model', 'messages', 'tools', 'max_tokens', 'temperature', 'stream'];
  const found = await supports(
    (request) => {
      const detail = Object.keys(request)
        .filter((name) => !known.includes(name))
        .map((name) => ({ type: 'extra_forbidden', loc: ['body', name], msg: 'Extra inputs are not permitted' }));
      if (detail.length > 0) return { status: 422, error: { detail } };
      if (request['stream']) return { type: 'text/event-stream' };
      return request['tools'] ? { message: { tool_calls: [call('P1'), call('P2')] } } : {};
    },
    new Set([20, undefined]),
  );
  for (const name of ['calls', 'parallel calls', 'streaming'])
    expect(found.get(name), name).toMatchObject({ status: 'ok' });
  expect(found.get('structured output')?.status).toBe('warning');
  expect(found.get('parameters')?.found).toBe(
    'does not accept top_k, max_completion_tokens, seed, parallel_tool_calls, reasoning_effort',
  );
});

test.each([
  ["'text' or 'json_object'", 'with response_format json_object in place of json_schema'],
  ["'text'", 'without response_format'],
])('an endpoint that takes only answers in the form %s', async (forms, asked) => {
  const message = `[{'loc': ('body', 'response_format', 'type'), 'msg': "Input should be ${forms}"}]`;
  const found = await supports(({ response_format: format }) =>
    format ? { status: 500, headers: { 'x-should-retry': 'false' }, error: { error: { message } } } : {},
  );
  expect(found.get('structured output')).toMatchObject({
    status: 'warning',
    found: `does not accept a JSON schema, and is asked ${asked}`,
  });
});

test('an endpoint that refuses temperature 0 alone', async () => {
  const found = await supports(({ temperature }) =>
    temperature === 0 ? { status: 422, error: { error: '`temperature` must be strictly positive' } } : {},
  );
  expect(found.get('parameters')?.found).toBe('does not accept temperature 0');
});

test('an endpoint that asks to wait too long says how long, and what allows that', async () => {
  const found = await supports(() => ({ status: 429, headers: { 'retry-after': '900' } }));
  expect(found.get('endpoint')?.advice).toMatch(/asks to wait 900 s\. .*--rate-limit-wait 900$/);
});

test('an endpoint that does not answer is asked once', async () => {
  let requests = 0;
  const found = await supports(() => {
    requests += 1;
    return { status: 401 };
  });
  expect([...found.keys()]).toEqual(['endpoint']);
  expect(found.get('endpoint')?.found).toContain('it answered 401');
  expect(requests).toBe(1);
});

test('every request has the limit of tokens, unless the endpoint refuses it', async () => {
  const limits: unknown[] = [];
  await supports(({ max_tokens, max_completion_tokens }) => {
    limits.push(max_tokens ?? max_completion_tokens);
    return {};
  });
  expect(limits).not.toContain(undefined);
  const found = await supports(({ max_tokens, tools }) => {
    if (max_tokens !== undefined) return { status: 400 };
    return tools ? { message: { tool_calls: [call('P1'), call('P2')] } } : {};
  });
  expect(found.get('calls')).toMatchObject({ status: 'ok' });
  expect(found.get('parameters')?.found).toBe('does not accept max_tokens');
});

/** Returns the field that identifies the request: each probe has one that no other has. */
const fieldOf = (request: Request) =>
  ['temperature', 'seed', 'stream', 'response_format', 'tools', 'reasoning_effort'].find((name) => name in request);

test.each([429, 503, 500])('a request that is answered %d once is sent again', async (status) => {
  const seen = new Set<string | undefined>();
  const found = await supports((request) => {
    const field = fieldOf(request);
    if (seen.has(field)) return field === 'stream' ? { type: 'text/event-stream' } : {};
    seen.add(field);
    return { status, headers: { 'retry-after-ms': '1' } };
  });
  expect(found.get('parameters')).toMatchObject({ status: 'ok' });
  expect(found.get('streaming')).toMatchObject({ status: 'ok' });
});

test.each([
  ['endpoint', undefined, 'not tried (429)'],
  ['calls', 'tools', 'not tried (429)'],
  ['structured output', 'response_format', 'not tried (429)'],
  ['streaming', 'stream', 'not tried (429)'],
  ['parameters', 'stream', /^not tried: temperature \(429\), max_tokens \(429\),/],
  ['parameters', 'seed', /^accepts temperature, max_tokens, max_completion_tokens; not tried: seed \(429\), /],
])('%s, where requests with %s stay limited', async (name, field, words) => {
  let limited = 0;
  const found = await supports((request) => {
    if (fieldOf(request) !== field) return {};
    limited += 1;
    return { status: 429, headers: { 'retry-after': '3600' } };
  });
  const what = typeof words === 'string' ? words : expect.stringMatching(words);
  expect(found.get(name)).toMatchObject({ status: 'warning', found: what });
  expect(limited).toBe(1);
});

test.each([
  [500, /not tried: seed \(500\)/],
  [404, /^does not accept seed$/],
])('a parameter that is answered with %d', async (status, words) => {
  const headers = { 'x-should-retry': 'false' };
  const found = await supports(({ seed }) => (seed === undefined ? {} : { status, headers }));
  expect(found.get('parameters')?.found).toMatch(words);
});

test('an endpoint that answers with a page is quoted', async () => {
  const found = await supports(() => ({ message: { content: 7 }, headers: { 'x-should-retry': 'false' } }));
  expect(found.get('endpoint')?.found).toMatch(/the content of the message is neither/);
});
