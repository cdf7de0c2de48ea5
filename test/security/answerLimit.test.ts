import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { RayJobs } from '../../src/cli/targets/ray/jobs.ts';
import { approvalHash, approve } from '../../src/engine/shell/approvals/approvals.ts';
import { effectsOfAgent } from '../../src/engine/shell/approvals/effects.ts';
import { boundFetch, longestAnswer } from '../../src/engine/shell/keys/boundFetch.ts';
import { openAgentProgram } from '../../src/engine/shell/models/agentProgram.ts';
import { complete, throwUnlessServed } from '../../src/engine/shell/models/openai.ts';
import { startMcpServer } from '../../src/engine/shell/tools/mcp.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { rehearsal } from '../support/terminal.ts';

/** A server answers endlessly. Each client stops at its limit and names the server. */

let sent = 0;
let requests = 0;
const zeros = Buffer.alloc(1_000_000, 0x20);
const bomb = gzipSync(Buffer.alloc(longestAnswer + 1, 0x20));

const server = createServer(async (request, response) => {
  requests += 1;
  request.resume();
  const isStream = request.headers['accept']?.includes('text/event-stream') && request.url === '/sse';
  const type = isStream ? 'text/event-stream' : 'application/json';
  if (request.url?.startsWith('/bomb')) {
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(bomb);
    return;
  }
  response.writeHead(200, { 'content-type': type });
  if (isStream) response.write('data: ');
  while (!response.destroyed) {
    sent += zeros.length;
    if (!response.write(zeros)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
});
let origin = '';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  sent = 0;
  requests = 0;
});

const signal = new AbortController().signal;
const seat = (path: string) => ({ type: 'openai', model: 'm', baseUrl: `${origin}${path}`, keyName: null }) as const;
const mcp = (path: string) =>
  startMcpServer(
    'shop',
    {
      type: 'http',
      url: `${origin}${path}`,
      headers: {},
      state: 'none',
      writes: [],
      idempotent: [],
      timeoutMs: 60_000,
      tools: {},
    },
    process.cwd(),
  );
const agent = () => {
  const program = { type: 'service', url: `${origin}/agent`, headers: {} } as const;
  const seat = { type: 'agent', name: 'a', file: 'a.agent.yaml', program } as never;
  approve([approvalHash(effectsOfAgent(seat))], process.env);
  return openAgentProgram(seat, () => undefined);
};

const clients: readonly (readonly [name: string, ask: () => Promise<unknown>])[] = [
  ['a model', () => complete(seat('/v1'), '', 'agent', signal, { messages: [] } as never)],
  ['a model whose answer is compressed', () => complete(seat('/bomb'), '', 'agent', signal, { messages: [] } as never)],
  ['the list of models', () => throwUnlessServed(seat('/v1'), '', signal)],
  ['an MCP server', () => mcp('/mcp')],
  ['an MCP server with an event stream', () => mcp('/sse')],
  ['an agent that is a service', () => agent().turn({} as never, signal)],
  ['a Ray cluster', () => new RayJobs(origin.replace('http:', 'ray:'), {}).version()],
];

test.each(sampled(clients, 3))('%s', async (_name, ask) => {
  const failure = await ask().catch((error: Error) => error);
  expect(failure).toBeInstanceOf(Error);
  const { message } = failure as Error;
  for (const part of [origin, 'answered with more than 64 MB']) expect(message).toContain(part);
  expect(requests).toBeLessThanOrEqual(2);
  // Data in buffers is on top of the limit.
  expect(sent).toBeLessThan(2 * longestAnswer);
});

inFullSuite('doctor stops reading the list of models', async () => {
  const { out, err } = await rehearsal('doctor', '--live', `${origin}/v1`);
  expect(out + err).toContain(`${origin} answered with more than 64 MB`);
});

inFullSuite('an answer up to the limit is read whole', async () => {
  const exact = createServer((_, response) => response.end(Buffer.alloc(longestAnswer)));
  await once(exact.listen(0, '127.0.0.1'), 'listening');
  const response = await boundFetch(`http://127.0.0.1:${(exact.address() as AddressInfo).port}`);
  expect((await response.arrayBuffer()).byteLength).toBe(longestAnswer);
  exact.close();
});
