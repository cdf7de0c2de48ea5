import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { endpointSupport } from '../../src/cli/doctor/endpointSupport.ts';

type Request = Readonly<Record<string, unknown>>;
type Answer = { readonly status?: number; readonly type?: string; readonly message?: object; readonly usage?: object };

/** What an endpoint with these answers is found to support, by name. */
async function supports(answer: (request: Request) => Answer, headers: Readonly<Record<string, string>> = {}) {
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as Request;
    expect(body).toMatchObject({ top_k: 20 });
    const { status = 200, type = 'application/json', message = {}, usage } = answer(body);
    response.writeHead(status, { 'content-type': type, ...headers });
    const text = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Hello', ...message } }], usage });
    response.end(type === 'text/event-stream' ? 'data: {}\n\n' : text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const signal = new AbortController().signal;
  const seat = { type: 'openai', model: 'm', baseUrl, keyName: null, maxTokens: 64, extraBody: { top_k: 20 } } as const;
  const found = await endpointSupport({ seat, key: 'sk-planted', timeoutMs: 60_000, signal });
  expect(JSON.stringify(found)).not.toContain('sk-planted');
  return new Map(found.map(({ name, ...rest }) => [name, rest]));
}

const call = (id: string) => ({ id, type: 'function', function: { name: 'look_up', arguments: `{"id":"${id}"}` } });
const usage = { prompt_tokens: 1, completion_tokens: 1 };

test('an endpoint that supports everything', async () => {
  const found = await supports(
    ({ tools, response_format, stream }) => {
      if (stream) return { type: 'text/event-stream' };
      if (response_format) return { usage, message: { content: '{"holds":true}' } };
      return { usage, message: tools ? { tool_calls: [call('P1'), call('P2')] } : { reasoning: 'They greet me.' } };
    },
    { 'x-ratelimit-reset-requests': '1s' },
  );
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
