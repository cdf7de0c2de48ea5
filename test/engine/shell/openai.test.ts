import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { seatName } from '../../../src/engine/core/domain/seatSpec.ts';
import { askAgentModel } from '../../../src/engine/shell/models/openai.ts';
import { parseSeat } from '../../../src/engine/shell/models/parseSeat.ts';
import { listenAnew } from '../../support/endpoint.ts';
import { modelView } from '../../support/modelView.ts';
import { until } from '../../support/until.ts';

let server: Server | undefined;
afterEach(() => server?.closeAllConnections());
afterEach(() => server?.close());
afterEach(() => void vi.useRealTimers());
/** Stops the time, which then passes only when a test advances it. */
const stopTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function endpoint(handler: Handler): Promise<string> {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => handler(request, response, body));
  });
  await listenAnew(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** A time limit that no answer reaches, even on a slow machine. */
const longMs = 120_000;
/** The time limit for an endpoint that never answers. */
const shortMs = 200;
const seat = (baseUrl: string, timeoutMs = longMs) => ({
  type: 'openai' as const,
  model: 'm',
  baseUrl,
  keyName: 'TEST_KEY',
  timeoutMs,
});
const json =
  (status: number, value: unknown): Handler =>
  (_request, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' })
      .end(typeof value === 'string' ? value : JSON.stringify(value));
  };
const completion = (message: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 0,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
});
const never = new AbortController().signal;
/** The longest pause of the client before a retry, in milliseconds. */
const longestPauseMs = 8000;

test('the agent is sent the system prompt, the tools and its own identities back', async () => {
  let seen: { messages?: unknown[]; tools?: unknown[] } = {};
  const url = await endpoint((request, response, body) => {
    seen = JSON.parse(body);
    json(
      200,
      completion({
        content: null,
        rehearsal_id: 'm2',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
      }),
    )(request, response, body);
  });
  const { reply, call } = await askAgentModel(seat(url), 'k', modelView(), never);
  expect(reply).toEqual({
    content: null,
    toolCalls: [{ id: 'c1', name: 'look', arguments: { at: 1 } }],
    messageId: 'm2',
  });
  expect(call.usage).toEqual({ input: 7, output: 3 });
  expect(seen.messages).toMatchObject([
    { role: 'system' },
    { role: 'user' },
    { role: 'assistant', rehearsal_id: 'm1' },
    { role: 'user' },
  ]);
  expect(seen.tools).toHaveLength(1);
});

test('a call whose arguments are not a JSON object is kept as the raw text', async () => {
  const url = await endpoint(
    json(
      200,
      completion({ tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at": ' } }] }),
    ),
  );
  const { reply } = await askAgentModel(seat(url), '', modelView(), never);
  expect(reply.toolCalls).toEqual([{ id: 'c1', name: 'look', arguments: '{"at": ' }]);
});

test('a request to OpenAI without a key is not sent', async () => {
  const send = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => send.mockRestore());
  await expect(askAgentModel(seat('https://api.openai.com/v1'), '', modelView(), never)).rejects.toThrow(
    'https://api.openai.com/v1 requires a key, and TEST_KEY is not set. Set it',
  );
  expect(send).not.toHaveBeenCalled();
});

const failures: readonly {
  readonly name: string;
  readonly handler?: Handler;
  readonly message: RegExp;
  readonly who?: string;
  readonly timeoutMs?: number;
  readonly key?: string;
}[] = [
  { name: 'an unreachable endpoint without a key', key: '', message: /base URL right\?$/ },
  {
    name: 'a key that is not set',
    key: '',
    handler: json(401, { error: { message: 'no' } }),
    message: /requires a key \(401\), and TEST_KEY is not set\. Set it$/,
  },
  { name: 'an unreachable endpoint', message: /can't be reached. Is the server running/ },
  {
    name: 'a bad key',
    handler: json(401, { error: { message: 'no' } }),
    message: /refused the key in TEST_KEY \(401\)/,
  },
  {
    name: 'an error page of a proxy',
    handler: json(500, '<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>'),
    message: /answered 500: an HTML page \("502 Bad Gateway"\)$/,
  },
  { name: 'a server error', handler: json(500, { error: { message: 'boom' } }), message: /answered 500/ },
  {
    name: 'a model that answers with broken JSON',
    handler: json(200, '{"choices": [{'),
    message: /the answer is not JSON/,
  },
  { name: 'an answer that is something else', handler: json(200, { hello: 1 }), message: /the answer has no choices/ },
  {
    name: 'an answer whose message is not a text',
    handler: json(200, { choices: [{ message: { role: 'assistant', content: 7 } }] }),
    message: /content of the message is neither a text nor a list of parts/,
  },
  {
    name: 'a model that never answers',
    handler: () => undefined,
    message: /did not answer within 0.2 s/,
    timeoutMs: shortMs,
  },
  {
    name: 'a conversation that is too long',
    handler: json(400, { error: { message: 'long', code: 'context_length_exceeded' } }),
    message: /no longer fits/,
    who: 'agent',
  },
  ...[
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    'the request exceeds the available context size (4096 tokens), try increasing it',
    'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
    'prompt is too long: 210000 tokens > 200000 maximum',
    "You passed 4000 input tokens and requested 512 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3584 tokens.",
    'input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000',
    'max_tokens must be at least 1, got -186.',
    'Invalid request: Your request exceeded model token limit: 8192',
    'Range of input length should be [1, 30720]',
    'Prompt exceeds max length',
    'Input is too long for requested model.',
    'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
    '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 512 `max_new_tokens`',
    'Input validation error: `inputs` must have less than 1024 tokens. Given: 2000',
    'The prompt (total length 5000) is too long to fit into the model (context length 4096).',
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
    'The engine prompt length 5000 exceeds the max_model_len 4096. Please reduce prompt.',
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    'Input length (5000 tokens) exceeds the maximum allowed length (4090 tokens).',
    'invalid params, context window exceeds limit',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.',
    'litellm.BadRequestError: litellm.ContextWindowExceededError: the prompt does not fit',
    'Requested tokens (600) exceed context window of 512',
  ].map((words) => ({
    name: `a conversation that is too long, in the words "${words.slice(0, 40)}"`,
    handler: json(400, { error: { message: words, code: 400 } }),
    message: /no longer fits/,
    who: 'agent',
  })),
  ...['model_max_prompt_tokens_exceeded', 'tokens_limit_reached'].map((code) => ({
    name: `a conversation that is too long, by the code ${code}`,
    handler: json(413, { error: { message: 'Max size: 8000', code } }),
    message: /no longer fits/,
    who: 'agent',
  })),
  ...[
    [400, 'Bad request.', 'Bad request.'],
    [400, '400 Bad request.', 'Bad request.'],
    [400, '<400> Bad request.', 'Bad request.'],
    [404, "Error code: 404 - {'detail': 'Not found'}", "{'detail': 'Not found'}"],
    [500, '', 'status code (no body)'],
  ].map(([status, words, shown]) => ({
    name: `the status ${status} and the words "${words}"`,
    handler: json(Number(status), words === '' ? '' : { error: { message: words } }),
    message: new RegExp(`answered ${status}: ${String(shown).replaceAll(/[.(){}]/g, '\\$&')}$`),
  })),
  {
    name: 'a limit of the rate',
    handler: json(429, { error: { message: '429 Too Many Requests' } }),
    message: /requests \(429\): Too Many Requests\. Lower/,
  },
  {
    name: 'an error in an answer with status 200',
    handler: json(200, { error: { message: 'Provider returned error: overloaded', code: 529 } }),
    message: /answered 200 with an error: Provider returned error: overloaded$/,
  },
  {
    name: 'an answer without choices',
    handler: json(200, { ...completion({}), choices: [] }),
    message: /the answer has no choices/,
  },
  {
    name: 'an error in the choice of an answer with status 200',
    handler: json(200, {
      choices: [{ message: { content: 'It arr' }, error: { message: 'upstream failed', code: 502 } }],
    }),
    message: /upstream failed/,
  },
  ...['error', 'abort', 'network_error', 'insufficient_system_resource'].map((reason) => ({
    name: `an answer that ends with ${reason}`,
    handler: json(200, { choices: [{ message: { content: 'It arr' }, finish_reason: reason }] }),
    message: new RegExp(`finish_reason "${reason}"`),
  })),
];

test.each(failures)(
  '$name is one clear fault without the key',
  async ({ handler, message, who = 'infrastructure', timeoutMs, key = 'sk-secret' }) => {
    const url = handler ? await endpoint(handler) : 'http://127.0.0.1:9/v1';
    // Skip the pauses between attempts to connect.
    if (!handler) stopTime();
    let isOver = false;
    const asked = askAgentModel(seat(url, timeoutMs), key, modelView(), never).finally(() => {
      isOver = true;
    });
    const failed = asked.then(
      () => null,
      (error: unknown) => error,
    );
    for (; !handler && !isOver; await nextTurn()) vi.advanceTimersByTime(longestPauseMs);
    const fault = await failed;
    expect(fault).toMatchObject({ name: 'Fault', message: expect.stringMatching(message), failure: { who } });
    expect(String(fault)).not.toContain('sk-secret');
  },
);

test('a silent model is asked once more and reported after its time limit', async () => {
  const url = await endpoint(() => undefined);
  const retries: unknown[] = [];
  const asked = askAgentModel(seat(url, shortMs), '', modelView(), never, (retry) => retries.push(retry));
  await expect(asked).rejects.toThrow(/did not answer within 0.2 s, also when it was asked again/);
  expect(retries).toEqual([{ attempt: 1, of: 1, reason: 'it did not answer within 0.2 s' }]);
});

test('attempts after a silent one that fail for another reason are counted up to the usual number', async () => {
  let requests = 0;
  const url = await endpoint((_request, response) => {
    requests += 1;
    if (requests === 1) return;
    response.writeHead(500, { 'content-type': 'application/json', 'retry-after-ms': '1' }).end('{}');
  });
  const retries: unknown[] = [];
  const asked = askAgentModel(seat(url, shortMs), '', modelView(), never, (retry) => retries.push(retry));
  await expect(asked).rejects.toThrow(/answered 500/);
  expect(retries).toEqual([
    { attempt: 1, of: 1, reason: 'it did not answer within 0.2 s' },
    { attempt: 2, of: 3, reason: 'it answered 500' },
    { attempt: 3, of: 3, reason: 'it answered 500' },
  ]);
});

test('a model that was silent or broke off once answers when it is asked again', async () => {
  stopTime();
  for (const begins of [false, true]) {
    let requests = 0;
    const url = await endpoint((_request, response) => {
      requests += 1;
      if (requests > 1) return json(200, completion({ content: 'Here I am.' }))(_request, response, '');
      if (begins) response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices": [');
      vi.advanceTimersByTime(longMs);
    });
    let retries = 0;
    const asked = askAgentModel(seat(url), '', modelView(), never, () => {
      retries += 1;
    });
    for (; retries === 0; await nextTurn()) if (requests > 0) vi.advanceTimersByTime(longestPauseMs);
    const { reply, call } = await asked;
    expect([reply.content, call.retries]).toEqual(['Here I am.', 1]);
  }
});

test('a model that begins an answer and never ends it counts as silent', async () => {
  const url = await endpoint((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"choices": [');
  });
  await expect(askAgentModel(seat(url, shortMs), '', modelView(), never)).rejects.toThrow(
    /did not answer within 0.2 s/,
  );
});

test('a temporary failure is retried, and each retry reports its reason', async () => {
  let requests = 0;
  const url = await endpoint((_request, response) => {
    requests += 1;
    const [status, body] = requests < 3 ? [503, {}] : [200, completion({ content: 'Here I am.' })];
    const headers = { 'content-type': 'application/json', 'retry-after-ms': '10' };
    response.writeHead(Number(status), headers).end(JSON.stringify(body));
  });
  const retries: unknown[] = [];
  const { reply, call } = await askAgentModel(seat(url), '', modelView(), never, (retry) => retries.push(retry));
  expect(reply.content).toBe('Here I am.');
  expect(retries).toEqual([
    { attempt: 1, of: 3, reason: 'it answered 503' },
    { attempt: 2, of: 3, reason: 'it answered 503' },
  ]);
  expect(call.retries).toBe(2);
});

test('an endpoint that limits the rate is asked again as often as needed, by one loop alone', async () => {
  let requests = 0;
  const url = await endpoint((request, response, body) => {
    requests += 1;
    if (requests > 6) return json(200, completion({ content: 'Here I am.' }))(request, response, body);
    const status = requests > 4 ? 500 : 429;
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '5' }).end('{}');
  });
  const retries: unknown[] = [];
  const { call } = await askAgentModel(seat(url), '', modelView(), never, (retry) => retries.push(retry));
  expect([requests, call.retries]).toEqual([7, 6]);
  expect(retries).toHaveLength(6);
  expect(retries[0]).toEqual({ attempt: 1, of: 1, reason: 'it answered 429', waitMs: 5 });
  expect(retries.at(-1)).toEqual({ attempt: 2, of: 3, reason: 'it answered 500' });
});

/** A pause belongs to an origin and a key. A later test may use the same port, and must not wait. */
const ownKey = 'key-of-a-long-pause';

test.each([
  [
    429,
    1,
    /limits the rate of requests \(429\) and asks to wait 3600 s: quota .* wait so long with --rate-limit-wait 3600$/,
  ],
  [503, 1, /answered 503 and asks to wait 3600 s: quota for today is used up\. .*--rate-limit-wait 3600$/],
  [500, 3, /answered 500 and asks to wait 3600 s: quota for today is used up/],
])(
  "status %d with a wait that is longer than the seat's limit ends every request at once",
  async (status, sent, words) => {
    let requests = 0;
    const url = await endpoint((_request, response) => {
      requests += 1;
      const headers = { 'content-type': 'application/json', 'retry-after': '3600' };
      response.writeHead(status, headers).end('{"error":{"message":"quota for today is used up"}}');
    });
    for (const _ of [1, 2, 3])
      await expect(askAgentModel({ ...seat(url), rateLimitMs: 60_000 }, ownKey, modelView(), never)).rejects.toThrow(
        words,
      );
    expect(requests).toBe(sent);
  },
);

test('a limit that stays names how long the request waited', async () => {
  const url = await endpoint((_request, response) => {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after-ms': '700' }).end('{}');
  });
  await expect(askAgentModel({ ...seat(url), rateLimitMs: 1500 }, ownKey, modelView(), never)).rejects.toThrow(
    /limits the rate of requests \(429\), also after waiting 1 s: .* or wait longer with --rate-limit-wait$/,
  );
});

test('an answer without choices is asked for again', async () => {
  let requests = 0;
  const url = await endpoint((_request, response) => {
    requests += 1;
    const body = requests < 2 ? { ...completion({}), choices: [] } : completion({ content: 'Here I am.' });
    const headers = { 'content-type': 'application/json', 'retry-after-ms': '10' };
    response.writeHead(200, headers).end(JSON.stringify(body));
  });
  const { reply, call } = await askAgentModel(seat(url), '', modelView(), never);
  expect([reply.content, call.retries]).toEqual(['Here I am.', 1]);
});

test('cancelling while the model thinks ends the call', async () => {
  stopTime();
  const cancel = new AbortController();
  const url = await endpoint(() => cancel.abort());
  await expect(askAgentModel(seat(url), '', modelView(), cancel.signal)).rejects.toMatchObject({ reason: 'cancelled' });
});

test('cancelling in the pause before a retry ends the call', async () => {
  const timers = vi.fn(globalThis.setTimeout);
  vi.stubGlobal('setTimeout', timers);
  onTestFinished(() => void vi.unstubAllGlobals());
  const cancel = new AbortController();
  const url = await endpoint((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after-ms': '59999' }).end('{}');
  });
  const asked = askAgentModel(seat(url), ownKey, modelView(), cancel.signal);
  await until('the pause', () => timers.mock.calls.some(([, ms = 0]) => ms > 50_000 && ms < 60_000));
  cancel.abort();
  await expect(asked).rejects.toMatchObject({ reason: 'cancelled' });
});

test.each([
  [
    'openai:gpt@http://127.0.0.1:8000/v1',
    { type: 'openai', model: 'gpt', baseUrl: 'http://127.0.0.1:8000/v1', keyName: 'OPENAI_API_KEY' },
  ],
  ['gold', { type: 'gold' }],
  [
    'agenda',
    '"agenda" is not a seat for the agent: expected gold, scripted, human, openai:MODEL[@BASE_URL], checkpoint:FOLDER or agent:FILE',
  ],
  [
    'checkpoint:runs/sft/checkpoints/final',
    '"checkpoint:runs/sft/checkpoints/final" is a checkpoint, and this command serves none. Start "npx rehearsal serve-model" and name openai:MODEL@BASE_URL',
  ],
  ['openai:x@host.example', '"host.example" is not a URL: expected something like http://127.0.0.1:8000/v1'],
  ['openai:x@gpuhost', '"gpuhost" is not a URL: expected something like http://127.0.0.1:8000/v1'],
  ['openai:x@localhost', '"localhost" is not a URL: expected something like http://127.0.0.1:8000/v1'],
  ...['openai:', 'openai:@', 'openai:x@', 'openai:@http://127.0.0.1:8000/v1'].map((text): [string, object] => [
    text,
    expect.stringMatching(/is not a seat for the agent/),
  ]),
  [
    'openai:x@https://user:secret@host.example/v1',
    'the address of the model at host.example has a user name or a password, which cannot be sent. Set the header Authorization to "Basic ${env:NAME}" for this model, where the variable NAME holds both in base64',
  ],
  ...(['@cf/meta/llama-3.1-8b-instruct', 'claude-sonnet-4@20250514'].flatMap((model) => [
    [`openai:${model}`, { type: 'openai', model, baseUrl: 'https://api.openai.com/v1', keyName: 'OPENAI_API_KEY' }],
    [
      `openai:${model}@http://[::1]:1/v1`,
      { type: 'openai', model, baseUrl: 'http://[::1]:1/v1', keyName: 'OPENAI_API_KEY' },
    ],
  ]) as [string, object][]),
])('the seat "%s"', (text, expected) => {
  expect(parseSeat(text, 'agent', 'person', {})).toEqual(expected);
});

test('a served checkpoint is a model that keeps its name, and a domain cannot ask for one', () => {
  const served = { REHEARSAL_CHECKPOINT_URL: 'http://127.0.0.1:9/v1', REHEARSAL_CHECKPOINT_TOKEN: 'token' };
  const parsed = parseSeat('checkpoint:runs/final', 'agent', 'person', served);
  expect(parsed).toEqual({
    type: 'openai',
    model: 'runs/final',
    baseUrl: 'http://127.0.0.1:9/v1',
    keyName: 'REHEARSAL_CHECKPOINT_TOKEN',
    isCheckpoint: true,
  });
  expect(typeof parsed === 'string' ? parsed : seatName(parsed)).toBe('checkpoint:runs/final');
  expect(parseSeat('checkpoint:runs/final', 'agent', 'domain', served)).toMatch(/which only a person can put into/);
});

test.each([
  ['person', {}, 'OPENAI_API_KEY'],
  ['domain', {}, null],
  ['domain', { OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1' }, 'OPENAI_API_KEY'],
] as const)(
  'an address that the %s chose, with %j in the environment, is sent the key %s',
  (from, environment, keyName) => {
    expect(parseSeat('openai:gpt@http://127.0.0.1:8000/v1', 'agent', from, environment)).toMatchObject({ keyName });
  },
);

test('a domain may name a model at the default address', () => {
  expect(parseSeat('openai:gpt', 'agent', 'domain', {})).toMatchObject({ keyName: 'OPENAI_API_KEY' });
});
