import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { HttpServer, StdioServer } from '../../src/engine/core/domain.ts';
import { startMcpServer } from '../../src/engine/shell/mcp.ts';
import type { ToolSource } from '../../src/engine/shell/toolSource.ts';
import { approveDomain } from '../support/approval.ts';
import { rows, scratch } from './dataAttack.ts';
import { hasTerminal, shownInTerminal, terminalCommands } from './inTerminal.ts';

const program = fileURLToPath(new URL('fixtures/hostileServer.mjs', import.meta.url));
const key = 'sk-planted-0123456789';
const forms = [key, ...(['hex', 'base64'] as const).map((each) => Buffer.from(`user:${key}`).toString(each))];
// The attacks run beside each other, and some of them keep this thread busy for a while.
const shared = { state: 'none' as const, writes: [], idempotent: [], timeoutMs: 600_000, tools: {} };

/** Starts the server with an attack, does something with it, and ends it. */
async function withServer(
  attack: string,
  act: (server: ToolSource) => unknown = () => undefined,
  more: Partial<StdioServer> = {},
): Promise<void> {
  const env = { KEY: '${env:SHOP_KEY}', ...more.env };
  const command = { type: 'stdio' as const, command: process.execPath, args: [program, attack] };
  const environment = { ...process.env, SHOP_KEY: key, OPENAI_API_KEY: 'sk-of-the-person' };
  const server = await startMcpServer('shop', { ...shared, ...command, ...more, env }, scratch(), { environment });
  try {
    await act(server);
  } finally {
    await server.close();
  }
}

const withoutKey = (value: unknown) => {
  const text = JSON.stringify(value);
  expect(forms.filter((form) => text.includes(form))).toEqual([]);
  expect(text).toContain('[SHOP_KEY]');
};

/** Serves MCP over HTTP by a function, during an attack. */
async function withHttp(
  respond: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  act: (url: string) => Promise<void>,
): Promise<void> {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => respond(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const connectTo = (url: string, origins: readonly string[] = [url], timeoutMs = shared.timeoutMs) => {
  const headers = { Authorization: 'Bearer ${env:SHOP_KEY}' };
  const declared: HttpServer = { type: 'http', url: `${url}/mcp`, headers, ...shared, timeoutMs };
  const allowed = origins.map((origin) => `SHOP_KEY=${origin}`).join(' ');
  return startMcpServer('shop', declared, scratch(), {
    environment: { SHOP_KEY: key, REHEARSAL_KEY_ORIGINS: allowed, REHEARSAL_HOME: '/nonexistent' },
  });
};

/** What a terminal gets from the command line for a domain with the server. */
function shownOf(command: string, attack: string): string {
  const folder = scratch();
  const server = { command: process.execPath, args: [program, attack], env: { KEY: '${env:SHOP_KEY}' } };
  const files = {
    'domain.yaml': JSON.stringify({ name: 'hall', mcpServers: { shop: server } }),
    'policy.md': '- Be kind.\n',
    'tasks/one.task.yaml': 'id: one\npersona: plain\nuser: { goal: Go. }\n',
    'personas/plain.persona.yaml': 'id: plain\ndescription: Plain.\n',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  approveDomain(folder);
  return shownInTerminal([command, folder], { SHOP_KEY: key });
}

const secret = 'What it echoes of a key is recorded and shown nowhere.';
const time = 'It takes the supervisor neither time nor memory without limit.';
const terminal = 'Its text does not control the terminal.';
const bounds = 'It does nothing but answer the calls of the rollout.';
const origin = 'A key goes only to the address that it was allowed for.';
const stays = 'Its names and data stay data.';

export const serverAttacks = [
  ...rows('MCP server', secret)(
    [
      'echoes a key in a description, plain, in hex, in base64 and in a URL',
      () => withServer('key in description', ({ tools }) => withoutKey(tools)),
    ],
    [
      'echoes a key in a schema, as a name and as values',
      () => withServer('key in schema', ({ tools }) => withoutKey(tools)),
    ],
    [
      'echoes a key in a result',
      () => withServer('key in result', async (server) => withoutKey(await server.call('look', {}))),
    ],
    [
      'echoes a key in its last words',
      async () => {
        const error = await withServer('dies with key').catch((reason: Error) => reason.message);
        expect(error).toContain('fatal: ');
        withoutKey(error);
      },
    ],
    [
      'echoes the header in an HTTP error',
      () =>
        withHttp(
          ({ headers }, response) => response.writeHead(400).end(`bad: ${headers.authorization}`),
          async (url) => withoutKey(await connectTo(url).catch((error: Error) => error.message)),
        ),
    ],
  ),
  ...rows('MCP server', time)(
    [
      'a catastrophic regular expression in a schema',
      () =>
        withServer('pattern', (server) =>
          expect(server.call('look', { text: `${'a'.repeat(50_000)}!` })).resolves.toMatchObject({ isError: true }),
        ),
    ],
    [
      'a catastrophic regular expression in the schema of a result',
      () =>
        withServer('result pattern', (server) =>
          expect(server.call('look', {})).resolves.toMatchObject({
            isError: false,
            mismatch: expect.stringContaining('must match pattern'),
          }),
        ),
    ],
    [
      'output without end and without a line feed',
      () => expect(withServer('endless line')).rejects.toThrow(/more than 64000000 characters without a line feed/),
    ],
    [
      'a result of 40 MB',
      () =>
        withServer('huge', (server) =>
          expect(server.call('look', {})).resolves.toMatchObject({
            content: 'Error: the result is longer than 10485760 characters, which is the maxResultLength of the server',
            isError: true,
          }),
        ),
    ],
    ['a list of tools without end', () => expect(withServer('endless list')).rejects.toThrow(/does not end/)],
    [
      'a schema that is 100,000 objects deep',
      () =>
        withServer('deep schema', async ({ tools }) =>
          expect(tools).toMatchObject([{ leftOut: { reason: expect.stringContaining('levels deep') } }]),
        ),
    ],
    [
      'a result that is 100,000 objects deep',
      () =>
        withServer('deep result', (server) => expect(server.call('look', {})).rejects.toThrow(/look has no result/)),
    ],
    [
      'ignores the end of its input and SIGTERM',
      async () => {
        const mark = scratch();
        await withServer('never ends', undefined, { args: [program, 'never ends', mark] });
        const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(mark));
        expect(left).toEqual([]);
      },
    ],
    [
      'an HTTP answer that never ends',
      () =>
        withHttp(
          (_, response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            const timer = setInterval(() => response.write(': still here\n\n'), 5);
            response.on('close', () => clearInterval(timer));
          },
          async (url) => expect(connectTo(url, [url], 1000)).rejects.toThrow(/did not answer within 1 s/),
        ),
    ],
  ),
  ...rows(
    'MCP server',
    terminal,
    hasTerminal,
  )(
    [
      'escape sequences in a description',
      () => {
        const shown = shownOf('tools', 'control characters');
        expect(shown).toContain('look(): read');
        expect(shown).toContain('seen');
        expect(shown).not.toMatch(terminalCommands);
      },
    ],
    [
      'escape sequences in its last words',
      () => {
        const shown = shownOf('tools', 'dies with key');
        expect(shown).toContain('cleared');
        expect(shown).not.toMatch(terminalCommands);
      },
    ],
  ),
  ...rows('MCP server', bounds)(
    [
      'a list of tools that changes after it was shown',
      () =>
        withServer('changed list', async (server) => {
          await server.call('look', {});
          expect(server.tools.map(({ name }) => name)).toEqual(['look']);
          expect(await server.call('added', {})).toMatchObject({ isError: true });
        }),
    ],
    [
      'asks for a model, for a person and for folders',
      () =>
        withServer('asks back', async (server) =>
          expect((await server.call('look', {})).content).toBe('refused,refused,refused'),
        ),
    ],
    [
      'answers calls that nobody made',
      () => withServer('foreign answers', async (server) => expect((await server.call('look', {})).content).toBe('ok')),
    ],
    [
      'reads the keys of its environment',
      () =>
        withServer('environment', async (server) => {
          const { content } = await server.call('look', {});
          expect(content).not.toContain('sk-');
          expect(content).not.toContain('OPENAI_API_KEY');
        }),
    ],
    [
      'a schema that refers to a URL',
      () => {
        let requests = 0;
        return withHttp(
          (_, response) => {
            requests += 1;
            response.end('{}');
          },
          (url) =>
            withServer(
              'remote',
              async (server) => {
                await server.call('look', { a: 1 });
                expect(requests).toBe(0);
              },
              { env: { ADDRESS: `${url}/schema.json` } },
            ),
        );
      },
    ],
  ),
  ...rows('MCP server', origin)(
    [
      'redirects to another origin',
      () => {
        const reached: string[] = [];
        return withHttp(
          ({ headers }, response) => {
            reached.push(headers.authorization ?? 'no key');
            response.end();
          },
          (elsewhere) =>
            withHttp(
              (_, response) => response.writeHead(307, { location: `${elsewhere}/mcp` }).end(),
              async (url) => {
                await expect(connectTo(url, [url])).rejects.toThrow(/307/);
                expect(reached).toEqual([]);
              },
            ),
        );
      },
    ],
    [
      'is declared at an address that nobody allowed',
      () => {
        let requests = 0;
        return withHttp(
          (_, response) => {
            requests += 1;
            response.end();
          },
          async (url) => {
            await expect(connectTo(url, ['http://127.0.0.1:1'])).rejects.toThrow(/would send SHOP_KEY to/);
            expect(requests).toBe(0);
          },
        );
      },
    ],
  ),
  ...rows('MCP server', stays)(
    [
      'tools named `__proto__`, `constructor` and `toString`',
      () =>
        withServer('names', async (server) => {
          expect(server.tools.map(({ name, timeoutMs }) => [name, timeoutMs])).toEqual(
            ['__proto__', 'constructor', 'toString'].map((name) => [name, shared.timeoutMs]),
          );
          expect(await server.call('constructor', {})).toEqual({ content: 'ok', isError: false });
        }),
    ],
    [
      'a schema with a property named `__proto__`',
      () =>
        withServer('prototype arguments', async (server) => {
          await server.call('look', JSON.parse('{"__proto__": {"polluted": true}}'));
          expect(({} as { polluted?: true }).polluted).toBeUndefined();
        }),
    ],
  ),
];

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
