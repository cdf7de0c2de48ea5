import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ModelSeat } from '../../../../src/engine/core/domain/seatSpec.ts';
import { askAgentModel } from '../../../../src/engine/shell/models/openai.ts';
import { setDispatcher } from '../../../support/dispatcher.ts';
import { type Answer, askedAtOnce, completion, endpoint } from '../../../support/endpoint.ts';
import { modelView } from '../../../support/modelView.ts';

const never = new AbortController().signal;
const whole = (message: object, choice: object = {}, more: object = {}) => ({
  choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: null, ...message }, ...choice }],
  ...more,
});
const said = { content: 'Good day.' };
const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"chair":"A1"}' } };
const called = { content: null, toolCalls: [{ name: 'look', arguments: { chair: 'A1' } }] };
const page = '<!DOCTYPE html><html><head><title>Sign in</title></head><body></body></html>';
const delta = (given: object, more: object = {}) => ({ choices: [{ index: 0, delta: given, ...more }] });
const stop = delta({}, { finish_reason: 'stop' });
const ofOllama = '{"message":{"content":"Hi"},"done":false}\n{"message":{"content":""},"done":true}\n';
const streamOf = (events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

/** Asks the agent's seat. Returns its result and the number of requests to its endpoint. */
async function asked(answers: (nth: number) => Answer, settings: Partial<ModelSeat> = {}) {
  let requests = 0;
  const baseUrl = await endpoint((nth) => {
    requests += 1;
    return answers(nth);
  });
  const seat = { type: 'openai' as const, model: 'm', baseUrl, keyName: null, ...settings };
  const answered = await askAgentModel(seat, '', modelView(), never).then(
    ({ reply }) => ({ reply }),
    (fault: unknown) => ({ fault }),
  );
  return { ...answered, requests };
}

test.each(['headers', 'body'])(
  'the %s of an answer may take longer than the time limits of the runtime',
  async (late) => {
    const server = createServer((_, response) => {
      if (late === 'body') response.flushHeaders();
      setTimeout(() => response.end(JSON.stringify(whole(said))), 1200);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => {
      server.close();
    });
    setDispatcher((Usual) => new Usual({ headersTimeout: 100, bodyTimeout: 100 }));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const seat = { type: 'openai' as const, model: 'm', baseUrl, keyName: null };
    const { reply, call: made } = await askAgentModel(seat, '', modelView(), never);
    expect({ ...reply, retries: made.retries ?? 0 }).toMatchObject({ ...said, retries: 0 });
  },
);

test('a request that does not fit is the first one also where the agent greets', async () => {
  const baseUrl = await endpoint(() => ({
    status: 400,
    body: { error: { code: 'context_length_exceeded', message: 'too long' } },
  }));
  const seat = { type: 'openai' as const, model: 'm', baseUrl, keyName: null };
  const [question, greeting] = modelView().messages;
  const ask = async (...messages: readonly unknown[]) =>
    askAgentModel(seat, '', { ...modelView(), messages } as never, never).catch(({ failure }) => failure);
  expect(await ask(greeting, question)).toMatchObject({ who: 'infrastructure' });
  expect(await ask(question, greeting, question)).toMatchObject({ who: 'agent' });
});

describe('an answer that cannot be read is asked for again, and quoted', () => {
  const rows: readonly (readonly [name: string, status: number, body: unknown, words: RegExp])[] = [
    ['no choices', 200, { id: 'c', note: 'the pool is empty' }, /no choices.*the pool is empty/],
    ['null choices', 200, { choices: null, note: 'the pool is empty' }, /no choices.*the pool is empty/],
    ['null choices, and an error', 200, { choices: null, error: { message: 'no pool' } }, /no pool/],
    ['a null message', 200, whole({}, { message: null, note: 'no pool' }), /no message.*no pool/],
    ['a part of a stream', 200, { choices: [{ delta: { content: 'It ' }, finish_reason: null }] }, /no message/],
    ['a detail', 200, { detail: 'no pool' }, /no pool/],
    ['a list of details', 200, { detail: [{ loc: ['body', 'seed'], msg: 'no pool' }] }, /body\.seed: no pool/],
    ['a list of errors', 200, { success: false, errors: [{ code: 7003, message: 'no pool' }] }, /no pool/],
    ['a base_resp', 200, { choices: null, base_resp: { status_code: 1004, status_msg: 'no pool' } }, /no pool/],
    ['a msg', 200, { status: '449', msg: 'no pool', body: null }, /no pool/],
    ['an HTML page', 200, page, /not JSON: an HTML page \("Sign in"\)/],
    ['a text', 200, 'upstream timed out', /not JSON: upstream timed out/],
    ['broken JSON', 200, '{"choices": [{', /not JSON: \{"choices"/],
    ['no content', 204, '', /the answer is empty/],
    ['an empty body', 200, '', /the answer is empty/],
    ['an error in a separate event', 200, 'error: {"code": 500, "message": "no pool"}\n\n', /no pool/],
    ['lines of JSON', 200, '{"note": "no pool"}\n{"note": 2}\n', /is lines of JSON, not one JSON object: .*no pool/],
    ['lines of JSON with an error', 200, '{"note": 1}\n{"error": "no pool"}\n', /with an error: no pool/],
    ['an answer of Ollama', 200, { message: { role: 'assistant', content: 'Hi' }, done: true }, /end with \/v1/],
    ['a stream of Ollama', 200, ofOllama, /form of Ollama's own API/],
    ['a text of Ollama', 200, { response: 'Hi', done: true }, /form of Ollama's own API/],
    ['a content that is a number', 200, whole({ content: 7 }), /content of the message/],
    ['a call without a name', 200, whole({ tool_calls: [{ id: 'c', function: {} }] }), /function\.name.*"tool_calls"/],
    ['an error with a large code', 200, '{"error": {"code": 9007199254740993, "message": "no pool"}}', /no pool/],
    ['an error that is a large number', 200, '{"error": 9007199254740993}', /9007199254740993/],
    ['an error in a list', 200, [{ error: { code: 500, message: 'no pool' } }], /no pool/],
    ['an error that is very deep', 200, `{"error":${'['.repeat(9000)}${']'.repeat(9000)}}`, /no choices/],
    ['an error under the content type of a stream', 200, { error: 'no pool' }, /no pool/],
  ];
  test.each(rows)('%s', async (name, status, body, words) => {
    const type = { 'content-type': name.includes('of a stream') ? 'text/event-stream' : 'application/json' };
    const bad = { status, body, headers: { ...askedAtOnce, ...type } };
    const passing = await asked((nth) => (nth === 0 ? bad : completion(said)));
    expect(passing).toMatchObject({ reply: said, requests: 2 });
    const lasting = await asked(() => bad);
    expect(lasting).toMatchObject({ fault: { failure: { who: 'infrastructure' } }, requests: 4 });
    expect(String('fault' in lasting && lasting.fault)).toMatch(words);
  });
});

describe('an answer that is read', () => {
  const rows: readonly (readonly [name: string, body: unknown, reply: object, type?: string | null])[] = [
    ...[{}, '', [], false, { message: '', code: null }, { message: '', type: '', code: 0 }].map(
      (error) => [`beside the error ${JSON.stringify(error)}`, whole(said, { error }, { error }), said] as const,
    ),
    ['beside a base_resp', whole(said, {}, { base_resp: { status_code: 0, status_msg: 'success' } }), said],
    ['beside a message', whole(said, {}, { code: 200, message: 'success' }), said],
    ['beside fields of Ollama', whole(said, {}, { message: said, done: true }), said],
    ['as text/plain', whole(said), said, 'text/plain; charset=utf-8'],
    ['without a content type', whole(said), said, null],
    ['a stream without a content type', streamOf([delta(said), stop]), said, null],
    ['a stream as JSON', `: wait\n\n${streamOf([delta(said), stop])}`, said, 'application/json'],
    ['an answer under the content type of a stream', whole(said), said, 'text/event-stream'],
    [
      'in a refusal part',
      whole({ content: [{ type: 'refusal', refusal: 'No.' }] }),
      { content: 'No.', brokenEnd: 'refusal' },
    ],
    ['with null among its calls', whole({ tool_calls: [null, call, {}] }), called],
    ['with one call in place of a list', whole({ tool_calls: call }), called],
    ['with a flat call', whole({ tool_calls: [{ id: 'c1', ...call.function }] }), called],
    ['with an empty function_call', whole({ ...said, function_call: {} }), said],
    [
      'with an empty call',
      whole({ ...said, tool_calls: [{ id: '', type: 'function', function: { name: '', arguments: '' } }] }),
      said,
    ],
    [
      'with arguments that are encoded twice',
      whole({ tool_calls: [{ ...call, function: { name: 'look', arguments: JSON.stringify('{"chair":"A1"}') } }] }),
      called,
    ],
    ['with a delta in place of its message', { choices: [{ finish_reason: 'stop', delta: said }] }, said],
    ['inside of data', { code: 0, data: whole(said) }, said],
    ['with texts as parts', whole({ content: ['Good ', null, 'day.'] }), said],
    [
      'in answer tags',
      whole({ content: '<think>Hm.</think>\n<answer>\nGood day.\n</answer>' }),
      { ...said, reasoning: 'Hm.' },
    ],
    ['in answer tags, beside thoughts', whole({ content: '<answer>Good day.</answer>', reasoning: 'Hm.' }), said],
    ['with a malformed call', whole({}, { finish_reason: 'MALFORMED_FUNCTION_CALL' }), { brokenEnd: 'call' }],
    [
      'with a malformed call, without a message',
      { choices: [{ finish_reason: 'function_call_filter: MALFORMED_FUNCTION_CALL' }] },
      { content: '', brokenEnd: 'call' },
    ],
    [
      'with a malformed call, in small letters',
      whole({}, { finish_reason: 'malformed_function_call' }),
      { brokenEnd: 'call' },
    ],
    ...['tool_calls', 'tool_call', 'function_calls', 'tool_use'].map(
      (finish_reason) =>
        [
          `with calls that its server lost (${finish_reason})`,
          whole({ content: '', tool_calls: [] }, { finish_reason }),
          { brokenEnd: 'call' },
        ] as const,
    ),
  ];
  const answers = rows.map(([name, body, reply, type = 'application/json']) => ({ name, body, reply, type }));
  test.each(answers)('$name', async ({ body, reply, type }) => {
    const headers = { 'content-type': type };
    expect(await asked(() => ({ status: 200, body, headers }))).toMatchObject({ reply, requests: 1 });
  });

  test('answer tags without a thought before them are kept', async () => {
    const content = 'Write <answer>yes</answer>.';
    for (const each of [content, '<answer>yes</answer>'])
      expect(await asked(() => completion({ content: each }))).toMatchObject({ reply: { content: each } });
  });
});

describe('an error in the words of the provider', () => {
  const raw = JSON.stringify({ error: { message: 'Unsupported parameter: seed' } });
  const tooLong = "This model's maximum context length is 8192 tokens.";
  const routed = (given: string) => ({
    error: { message: 'Provider returned error', code: 400, metadata: { raw: given } },
  });
  const rows: readonly (readonly [name: string, status: number, body: unknown, failure: object])[] = [
    ['behind a router', 400, routed('no pool'), { code: 'model/refused', message: /Provider returned error: no pool/ }],
    ['no room, behind a router', 400, routed(tooLong), { who: 'agent', code: 'model/context' }],
    ['a message alone', 400, { status: 'failure', message: tooLong }, { who: 'agent', code: 'model/context' }],
    [
      'details',
      422,
      { detail: [{ loc: ['body', 'n'], msg: 'no pool' }] },
      { message: /answered 422: .*body\.n: no pool/ },
    ],
  ];
  test.each(rows)('%s', async (_, status, body, { message, ...failure }: { message?: RegExp }) => {
    const words = message ? { message: expect.stringMatching(message) } : {};
    const answered = await asked(() => ({ status, body }));
    expect(answered).toMatchObject({ fault: { failure: { ...failure, ...words } } });
  });

  test('a refusal behind a router is adapted to', async () => {
    let sent = '';
    const baseUrl = await endpoint((_, body) => {
      sent = body;
      return body.includes('"seed"') ? { status: 400, body: routed(raw) } : completion(said);
    });
    const seat = { type: 'openai' as const, model: 'm', baseUrl, keyName: null, extraBody: { seed: 1 } };
    expect((await askAgentModel(seat, '', modelView(), never)).reply).toMatchObject(said);
    expect(sent).not.toContain('seed');
  });

  test.each([
    [503, { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } }],
    [503, { error: { message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE', code: 503 } }],
    [503, { error: 'Model m is currently loading', estimated_time: 20 }],
    [498, { error: { message: 'Flex tier capacity exceeded' } }],
  ])('%i %j is waited for like a limit', async (status, body) => {
    const bad = { status, body, headers: askedAtOnce };
    expect(await asked((nth) => (nth < 6 ? bad : completion(said)))).toMatchObject({ reply: said, requests: 7 });
  });

  test('a call that the server could not read is asked for again', async () => {
    const body = {
      error: {
        message: 'Failed to call a function.',
        type: 'invalid_request_error',
        code: 'tool_use_failed',
        failed_generation: '{"name": "lo',
      },
    };
    const bad = { status: 400, body, headers: askedAtOnce };
    expect(await asked((nth) => (nth === 0 ? bad : completion(said)))).toMatchObject({ reply: said, requests: 2 });
    const lasting = await asked(() => bad);
    expect(lasting).toMatchObject({ requests: 4 });
    expect(String('fault' in lasting && lasting.fault)).toContain('Failed to call a function.');
  });
});
