import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { HttpServer, StdioServer } from '../../src/engine/core/domain/domain.ts';
import { startMcpServer } from '../../src/engine/shell/tools/mcp.ts';
import type { ToolSource } from '../../src/engine/shell/tools/toolSource.ts';
import { approveDomain } from '../support/approval.ts';
import { rows, scratch } from './dataAttack.ts';
import { hasTerminal, shownInTerminal, terminalCommands } from './inTerminal.ts';

const program = fileURLToPath(new URL('fixtures/hostileServer.mjs', import.meta.url));
const key = 'sk-planted-0123456789';
const forms = [key, ...(['hex', 'base64'] as const).map((each) => Buffer.from(`user:${key}`).toString(each))];
// The attacks run concurrently, and some of them keep this thread busy for a while.
const shared = { state: 'none' as const, writes: [], idempotent: [], timeoutMs: 600_000, tools: {} };

/** Starts the server with an attack, runs a function with it, and ends it. */
async function withServer<Found>(
  attack: string,
  act: (server: ToolSource) => Found | Promise<Found>,
  more: Partial<StdioServer> = {},
): Promise<Found> {
  const env = { KEY: '${env:SHOP_KEY}', ...more.env };
  const command = { type: 'stdio' as const, command: process.execPath, args: [program, attack] };
  const environment = { ...process.env, SHOP_KEY: key, OPENAI_API_KEY: 'sk-of-the-person' };
  const server = await startMcpServer('shop', { ...shared, ...command, ...more, env }, scratch(), { environment });
  try {
    return await act(server);
  } finally {
    await server.close();
  }
}

/** Returns the message that refuses a server or a call of it. */
async function refusal(attempt: Promise<unknown>, words: RegExp): Promise<string> {
  const message = await attempt.then(
    () => 'it is accepted',
    (error: Error) => error.message,
  );
  expect(message).toMatch(words);
  return `refused: ${words.exec(message)?.[0]}`;
}

const withoutKey = (value: unknown) => {
  const text = JSON.stringify(value);
  expect(forms.filter((form) => text.includes(form))).toEqual([]);
  expect(text).toContain('[SHOP_KEY]');
  return 'replaced by [SHOP_KEY]';
};

/** Serves MCP over HTTP by a function, during an attack. */
async function withHttp(
  respond: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  act: (url: string) => Promise<string>,
): Promise<string> {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => respond(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
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

/** Returns the output of the command line in a terminal, for a domain with the server. */
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

const secret = 'Parts of a key that it echoes are not recorded and not shown.';
const time = 'It takes the supervisor neither time nor memory without limit.';
const terminal = 'Its text does not control the terminal.';
const bounds = 'It does nothing but answer the calls of the rollout.';
const origin = 'A key goes only to the address that it was allowed for.';
const stays = 'Its names and data stay data.';

export const serverAttacks = [
  ...rows('MCP server', secret)(
    [
      'echoes a key in a description: plain, in hex, in Base64 and in a URL',
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
      'echoes a key in its output before it exits',
      async () => {
        const error = await withServer('dies with key', () => 'it starts').catch((reason: Error) => reason.message);
        expect(error).toContain('fatal: ');
        return withoutKey(error);
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
        withServer('pattern', async (server) => {
          const { isError, content } = await server.call('look', { text: `${'a'.repeat(50_000)}!` });
          expect([isError, content]).toEqual([true, expect.stringContaining('must match pattern')]);
          return 'refused: must match pattern';
        }),
    ],
    [
      'a catastrophic regular expression in the schema of a result',
      () =>
        withServer('result pattern', async (server) => {
          const mismatch = expect.stringContaining('must match pattern');
          expect(await server.call('look', {})).toMatchObject({ isError: false, mismatch });
          return 'noted: must match pattern';
        }),
    ],
    [
      'endless output without a line feed',
      () =>
        refusal(
          withServer('endless line', () => null),
          /more than 64000000 characters without a line feed/,
        ),
    ],
    [
      'a result of 40 MB',
      () =>
        withServer('huge', async (server) => {
          const { content, isError } = await server.call('look', {});
          expect([content, isError]).toEqual([
            'Error: the result is longer than 10485760 characters, which is the maxResultLength of the server',
            true,
          ]);
          return 'refused: longer than 10485760 characters';
        }),
    ],
    [
      'an endless list of tools',
      () =>
        refusal(
          withServer('endless list', () => null),
          /does not end/,
        ),
    ],
    [
      'a schema with 100,000 nested objects',
      () =>
        withServer('deep schema', ({ tools }) => {
          expect(tools).toMatchObject([{ leftOut: { reason: expect.stringContaining('levels deep') } }]);
          return 'the tool is ignored';
        }),
    ],
    [
      'a result with 100,000 nested objects',
      () =>
        withServer('deep result', async (server) => {
          const { content, isError } = await server.call('look', {});
          expect({ content: content.slice(0, 200), isError }).toEqual({
            content: expect.stringContaining('levels'),
            isError: true,
          });
          return 'the agent gets an error';
        }),
    ],
    [
      'ignores the end of its input and SIGTERM',
      async () => {
        const mark = scratch();
        await withServer('never ends', () => null, { args: [program, 'never ends', mark] });
        const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(mark));
        expect(left).toEqual([]);
        return 'it is killed';
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
          (url) => refusal(connectTo(url, [url], 1000), /did not answer within 1 s/),
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
        return 'shown without them';
      },
    ],
    [
      'escape sequences in its output before it exits',
      () => {
        const shown = shownOf('tools', 'dies with key');
        expect(shown).toContain('cleared');
        expect(shown).not.toMatch(terminalCommands);
        return 'shown without them';
      },
    ],
  ),
  ...rows('MCP server', bounds)(
    [
      'a list of tools that changes after it was listed',
      () =>
        withServer('changed list', async (server) => {
          await server.call('look', {});
          expect(server.tools.map(({ name }) => name)).toEqual(['look']);
          expect(await server.call('added', {})).toMatchObject({ isError: true });
          return 'the list is unchanged';
        }),
    ],
    [
      'asks for a model, for a person and for folders',
      () =>
        withServer('asks back', async (server) => {
          const { content } = await server.call('look', {});
          expect(content).toBe('refused,refused,refused');
          return 'refused three times';
        }),
    ],
    [
      'answers calls that no seat made',
      () =>
        withServer('foreign answers', async (server) => {
          expect((await server.call('look', {})).content).toBe('ok');
          return 'ignored';
        }),
    ],
    [
      'reads the keys of its environment',
      () =>
        withServer('environment', async (server) => {
          const { content } = await server.call('look', {});
          expect(content).not.toContain('sk-');
          expect(content).not.toContain('OPENAI_API_KEY');
          return 'it finds no key';
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
                return 'no request';
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
                const why = await refusal(connectTo(url, [url]), /307/);
                expect(reached).toEqual([]);
                return why;
              },
            ),
        );
      },
    ],
    [
      'is declared at an address that is not allowed',
      () => {
        let requests = 0;
        return withHttp(
          (_, response) => {
            requests += 1;
            response.end();
          },
          async (url) => {
            const why = await refusal(connectTo(url, ['http://127.0.0.1:1']), /would send SHOP_KEY/);
            expect(requests).toBe(0);
            return why;
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
          return 'called by their names';
        }),
    ],
    [
      'a schema with a property named `__proto__`',
      () =>
        withServer('prototype arguments', async (server) => {
          await server.call('look', JSON.parse('{"__proto__": {"polluted": true}}'));
          expect(({} as { polluted?: true }).polluted).toBeUndefined();
          return 'no object is changed';
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
