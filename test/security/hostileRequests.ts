import { request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { listenDap } from '../../src/cli/dap/server.ts';
import { jsonOf } from '../../src/engine/core/values/json.ts';
import { lendAddress } from '../../src/engine/shell/models/lentAddress.ts';
import { rows } from './dataAttack.ts';

type Asked = {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};
type Answered = { readonly status: number; readonly headers: object; readonly body: string };

/** Requests the address that is lent to an agent, by default with the key of its rollout. */
async function asked({ path = '/v1/models', method = 'GET', headers = {}, body = '' }: Asked): Promise<Answered> {
  const calls: string[] = [];
  const complete = async () => {
    calls.push('model');
    return { status: 200, body: {} };
  };
  const lender = { modelName: 'm', complete, tools: [] } as unknown as Parameters<typeof lendAddress>[0];
  const [lent, other] = [await lendAddress(lender), await lendAddress(lender)];
  try {
    const { origin } = new URL(lent.loan.base_url);
    const named = path.replace('ROLLOUT', lent.rollout);
    const authorization = `Bearer ${lent.loan.api_key}`;
    const own = { authorization, ...headers };
    const sent = Object.entries(own).map(([name, value]) => [name, value.replace('OTHER', other.loan.api_key)]);
    const answer = await new Promise<Answered>((resolve, reject) => {
      request(
        origin,
        {
          path: named.startsWith('/v1') ? `/rollouts/${lent.rollout}${named}` : named,
          method,
          headers: Object.fromEntries(sent),
        },
        async (response) => {
          let text = '';
          for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        },
      )
        .on('error', reject)
        .end(body);
    });
    expect(calls).toEqual([]);
    return answer;
  } finally {
    lent.close();
    other.close();
  }
}

const answers = (status: number, question: Asked) => async () => {
  const { status: got, headers } = await asked(question);
  expect(got).toBe(status);
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  return `refused: HTTP ${got}`;
};

const chat = { path: '/v1/chat/completions', method: 'POST' } as const;
const message = '{"model":"m","messages":[]}';

const dap = (seq: number, command: string, args: object) => {
  const body = JSON.stringify({ seq, type: 'request', command, arguments: args });
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

type DapAnswer = { readonly success: boolean; readonly message?: string };

/** Returns the debug adapter's answer to the request with this number, or null if it closes the connection. */
async function debugged(text: string, of: number): Promise<DapAnswer | null> {
  const abort = new AbortController();
  const announced = Promise.withResolvers<number>();
  const served = listenDap(abort.signal, 0, (address) => announced.resolve(Number(address.split(':')[1])));
  try {
    const socket = connect(await announced.promise, '127.0.0.1').setEncoding('utf8');
    let answer = '';
    return await new Promise((resolve) => {
      socket.on('error', () => undefined).on('close', () => resolve(null));
      socket.on('data', (chunk) => {
        answer += String(chunk);
        const messages = answer.split(/Content-Length: \d+\r\n\r\n/).flatMap((each) => (jsonOf(each) ?? []) as object);
        const found = messages.find((each) => 'request_seq' in each && each.request_seq === of);
        if (found) resolve(found as DapAnswer);
      });
      socket.write(text);
    });
  } finally {
    abort.abort();
    await served;
  }
}

const launches = 'It launches nothing in the debug adapter.';
const model = 'It reaches no model and no tool of a rollout.';

const initialize = dap(1, 'initialize', { adapterID: 'x' });
/** Returns the adapter's refusal of a request after the first one. */
const answered = async (text: string, of = 2) => {
  const answer = await debugged(text, of);
  expect(answer).toMatchObject({ success: false });
  return `refused: ${answer?.message}`;
};
const refuses = (command: string, args: object) => () =>
  answered(`${initialize}${dap(2, command, { domain: '/nowhere', ...args })}`);
/** Expects the adapter to close the connection. */
const cuts = (text: string) => async () => {
  expect(await debugged(text, 1)).toBeNull();
  return 'the connection is closed';
};

export const requestAttacks = [
  ...rows('Local request', launches)(
    ['launch without a token', refuses('launch', {})],
    ['launch with a wrong token', refuses('launch', { token: 'wrong' })],
    ['launch with a token that is not a string', refuses('launch', { token: { length: 32 } })],
    ['attach without a token', refuses('attach', { recording: '/nowhere' })],
    ['evaluate before a launch', () => answered(`${initialize}${dap(2, 'evaluate', { expression: '1+1' })}`)],
    [
      'a page in a browser posts a launch request',
      async () => {
        const body = JSON.stringify({ seq: 1, type: 'request', command: 'launch', arguments: { domain: '/nowhere' } });
        const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.test\r\nContent-Length: ${body.length}\r\n\r\n`;
        return answered(`${head}${body}`, 1);
      },
    ],
    ['a body of 4 GB is announced', cuts('Content-Length: 4000000000\r\n\r\nx')],
    ['an endless header', cuts('X'.repeat(100_000))],
  ),
  ...rows('Local request', model)(
    ['without a key', answers(401, { headers: { authorization: '' } })],
    ['with a wrong key', answers(401, { ...chat, body: message, headers: { authorization: 'Bearer wrong' } })],
    [
      'with the key of another rollout',
      answers(401, { ...chat, body: message, headers: { authorization: 'Bearer OTHER' } }),
    ],
    [
      'from a page whose host name resolves to this machine (DNS rebinding)',
      answers(403, { ...chat, body: message, headers: { host: 'evil.test' } }),
    ],
    [
      'from a page that sends its origin',
      answers(403, { ...chat, body: message, headers: { origin: 'http://evil.test' } }),
    ],
    ['from a page in a sandboxed frame', answers(403, { ...chat, body: message, headers: { origin: 'null' } })],
    [
      'the preflight request of a browser',
      answers(403, {
        ...chat,
        method: 'OPTIONS',
        headers: { origin: 'http://evil.test', 'access-control-request-method': 'POST' },
      }),
    ],
    ['a path that leaves the rollout', answers(404, { path: '/rollouts/ROLLOUT/../../v1/models' })],
    ['a path that leaves the rollout, encoded', answers(404, { path: '/rollouts/ROLLOUT/%2e%2e/%2e%2e/etc/passwd' })],
    ['a rollout that does not exist', answers(410, { path: '/rollouts/__proto__/v1/models' })],
    ['a body that is not JSON', answers(400, { ...chat, body: '{"model":' })],
    ['a body of 40 MB', answers(400, { ...chat, body: JSON.stringify({ model: 'm'.repeat(40_000_000) }) })],
  ),
];
