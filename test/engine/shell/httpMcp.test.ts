import { expect, onTestFinished, test } from 'vitest';
import type { HttpServer } from '../../../src/engine/core/domain/domain.ts';
import { startMcpServer } from '../../../src/engine/shell/tools/mcp.ts';
import { freePort } from '../../support/freePort.ts';
import { httpMcpServer } from '../../support/httpMcpServer.ts';
import { oneOfEachKind } from '../../support/suite.ts';

const declared = (url: string, more: Partial<HttpServer> = {}): HttpServer => ({
  type: 'http',
  url,
  headers: {},
  state: 'replay',
  writes: ['add'],
  idempotent: [],
  timeoutMs: 120_000,
  tools: {},
  ...more,
});

const connect = async (server: HttpServer, environment: NodeJS.ProcessEnv = {}) => {
  const source = await startMcpServer('shop', server, process.cwd(), { environment });
  onTestFinished(() => source.close());
  return source;
};

test.each(['good', 'json'] as const)('two rollouts have two sessions of one server (%s)', async (mode) => {
  const { url } = await httpMcpServer(mode);
  const [one, other] = [
    await connect(declared(url, { reader: { tool: 'state', arguments: {} } })),
    await connect(declared(url)),
  ];
  expect(one.tools.find(({ name }) => name === 'add')).toMatchObject({ effect: 'write', source: { server: 'shop' } });
  expect(await one.call('add', { by: 2 })).toEqual({ content: '{"count":2}', isError: false });
  expect(await other.call('add', { by: 5 })).toEqual({ content: '{"count":5}', isError: false });
  expect(await one.read()).toEqual({ count: 2 });
});

test('a header takes its secret from the environment, and nothing that comes back shows it', async () => {
  const { url } = await httpMcpServer('good', 's3cret-token');
  const source = await connect(declared(url, { headers: { Authorization: 'Bearer ${env:SHOP_TOKEN}' } }), {
    SHOP_TOKEN: 's3cret-token',
    REHEARSAL_KEY_ORIGINS: `SHOP_TOKEN=${new URL(url).origin}`,
  });
  expect(await source.call('header', {})).toEqual({ content: 'sent Bearer [SHOP_TOKEN]', isError: false });
});

test('a header sends no key to an address that was not allowed', async () => {
  const { url } = await httpMcpServer('good', 's3cret-token');
  const server = declared(url, { headers: { Authorization: 'Bearer ${env:OPENAI_API_KEY}' } });
  const { origin } = new URL(url);
  await expect(connect(server, { OPENAI_API_KEY: 's3cret-token', REHEARSAL_HOME: '/nonexistent' })).rejects.toThrow(
    `a header of the MCP server "shop" would send OPENAI_API_KEY to ${origin}, and it belongs to https://api.openai.com`,
  );
});

test('a snapshot is restored into a new session', async () => {
  const { url } = await httpMcpServer();
  const server = declared(url, {
    state: 'snapshot',
    snapshot: { tool: 'state', arguments: {} },
    restore: { tool: 'put_back', argument: 'saved' },
  });
  const first = await connect(server);
  await first.call('add', { by: 7 });
  const saved = await first.snapshot?.();
  expect(saved).toEqual({ count: 7 });
  const second = await connect(server);
  await second.restore?.(saved ?? null);
  expect((await second.call('state', {})).content).toBe('{"count":7}');
});

test('the engine fills the argument of an idempotency key and shows it to no model', async () => {
  const { url } = await httpMcpServer();
  const source = await connect(declared(url, { tools: { pay: { idempotencyKey: 'request' } } }));
  const tool = source.tools.find(({ name }) => name === 'pay');
  expect(tool?.parameters).toMatchObject({ properties: { sum: { type: 'number' } }, required: ['sum'] });
  expect(tool?.parameters).not.toHaveProperty('properties.request');
  const { content } = await source.call('pay', { sum: 3 }, { idempotencyKey: 'k1' });
  expect(JSON.parse(content)).toEqual({ sum: 3, request: 'k1', seen: 1 });
  const own = JSON.parse((await source.call('pay', { sum: 3 })).content);
  expect(own).toEqual({ sum: 3, request: expect.stringMatching(/./), seen: 1 });
  await source.setUp?.({ calls: [{ tool: 'pay', arguments: { sum: 3 } }] });
});

const failures: readonly {
  readonly name: string;
  readonly act: () => Promise<unknown>;
  readonly message: RegExp;
  readonly code: string;
}[] = [
  {
    name: 'a server that does not run',
    act: async () => connect(declared(`http://127.0.0.1:${await freePort()}/mcp`)),
    message:
      /MCP server "shop" \(http:\/\/127.0.0.1:\d+\/mcp\): it cannot be reached \(ECONNREFUSED\). Start the server/,
    code: 'mcp/unreachable',
  },
  {
    name: 'a variable that is not set',
    act: () => connect(declared('http://127.0.0.1:1/mcp', { headers: { Authorization: '${env:NO_SUCH}' } })),
    message: /needs the environment variable NO_SUCH, which is not set/,
    code: 'mcp/variable',
  },
  {
    name: 'a wrong token',
    act: async () => {
      const { url } = await httpMcpServer('good', 'right');
      return connect(declared(url, { headers: { Authorization: 'Bearer ${env:TOKEN}' } }), {
        TOKEN: 'wrong-one',
        REHEARSAL_KEY_ORIGINS: `TOKEN=${new URL(url).origin}`,
      });
    },
    message: /refuses the request \(401\). Check headers in domain.yaml and the value of TOKEN$/,
    code: 'mcp/refused',
  },
  {
    name: 'a server that dies in a call',
    act: async () => (await connect(declared((await httpMcpServer()).url))).call('die', {}),
    message: /die has no result: the connection broke before the answer/,
    code: 'mcp/died',
  },
  {
    name: 'a server that dies in a call, before it began to answer',
    act: async () => (await connect(declared((await httpMcpServer('json')).url))).call('die', {}),
    message: /die has no result: the connection broke before the answer/,
    code: 'mcp/died',
  },
  {
    name: 'a connection that breaks in a call',
    act: async () => (await connect(declared((await httpMcpServer('json')).url))).call('cut', {}),
    message: /cut has no result: the connection broke before the answer/,
    code: 'mcp/died',
  },
  {
    name: 'a server that is killed between two calls',
    act: async () => {
      const { url, child } = await httpMcpServer();
      const source = await connect(declared(url));
      const gone = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await gone;
      return source.call('state', {});
    },
    message: /state has no result: it cannot be reached/,
    code: 'mcp/unreachable',
  },
  {
    name: 'a call that never returns',
    act: async () => (await connect(declared((await httpMcpServer()).url))).call('sleep', {}, { timeoutMs: 300 }),
    message: /sleep did not answer within 0.3 s/,
    code: 'mcp/timeout',
  },
];

test.each(oneOfEachKind(failures, ({ code }) => code))('$name is one clear fault', async ({ act, message, code }) => {
  const fault = await act().then(
    () => null,
    (error: unknown) => error,
  );
  const who = ['mcp/died', 'mcp/unreachable'].includes(code) ? 'infrastructure' : 'environment';
  expect(fault).toMatchObject({ name: 'Fault', failure: { who, code } });
  expect(String(fault)).toMatch(message);
  expect(String(fault)).not.toContain('wrong-one');
});
