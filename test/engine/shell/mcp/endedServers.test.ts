import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startMcpServer } from '../../../../src/engine/shell/tools/mcp.ts';
import { mcpDomain } from '../../../support/mcpDomain.ts';
import { declaredHttp } from '../../../support/rawMcpServer.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** A server that keeps a list in a file. `leave` answers, and ends the process; the third one stays. */
const program = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const [file, starts] = process.argv.slice(2);
appendFileSync(starts, 'x');
const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\\n').length : 0);
const tools = ['add', 'leave', 'state'].map((name) => ({ name, inputSchema: { type: 'object' } }));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (params?.name === 'add') appendFileSync(file, 'x\\n');
  const text = JSON.stringify({ lines: lines() });
  const result = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'l', version: '1' } },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text }] },
  }[method] ?? {};
  const isLast = params?.name === 'leave' && readFileSync(starts, 'utf8').length < 3;
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n', () => isLast && process.exit());
}
`;

const lost = /the server ended before state was called, so what it kept for the rollout is gone/;
const setUp = 'setUp: { list: { calls: [{ tool: add }] } }\n';

const rows: readonly (readonly [string, declared: string, calls: string, task: string, lines: number | RegExp])[] = [
  ['a write and its calls can be repeated', 'state: replay', 'add leave state', '', 1],
  ['a set-up and its calls can be repeated', 'state: replay', 'add leave state', setUp, 2],
  ['nothing but reads', 'state: none', 'leave state', '', 0],
  ['a write', 'state: none', 'add leave state', '', lost],
  ['a set-up', 'state: none', 'leave state', setUp, lost],
];

test.each(sampled(rows, 2))(
  'a server that ended between two calls, after %s',
  async (_, declared, calls, task, lines) => {
    const folder = temporaryFolder('ended');
    const server = join(folder, 'server.mjs');
    writeFileSync(server, program);
    const args = JSON.stringify([server, '${instanceFolder}/list', join(temporaryFolder('starts'), 'starts')]);
    const domain = mcpDomain(
      'list',
      `  list: { command: ${process.execPath}, args: ${args}, writes: [add], reader: { tool: state }, ${declared} }`,
      `user: { goal: You want it done. }
script: [${calls.replace(/\w+/g, '[{ tool: $& }],')} Done.]
assertions: [{ in: list, that: 'state.lines == ${typeof lines === 'number' ? lines : 0}' }]
evaluate: [assertions]
train: [assertions]
faults: [{ type: latency, tool: state, ms: 300 }]
${task}`,
    );
    const [played] = await rehearse(domain, ['a']);
    if (!played) throw new Error('no rollout');
    if (typeof lines === 'number') expect(played.reward).toBe(1);
    else
      expect(played).toMatchObject({
        reward: null,
        failure: { who: 'infrastructure', code: 'mcp/session', message: expect.stringMatching(lines) },
      });
    expect(replayed(domain, played).problems).toBe(0);
  },
);

test('a server that closes its output closes the connection', async () => {
  const program = `
import { closeSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const result = { initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} } }, 'tools/list': { tools: [{ name: 'look' }] } }[method];
  if (result) writeSync(1, JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  if (method === 'tools/call') closeSync(1);
}`;
  const source = await startMcpServer(
    'closing',
    {
      ...declaredHttp(''),
      type: 'stdio',
      command: process.execPath,
      args: ['--input-type=module', '-e', program],
      env: {},
      timeoutMs: 5000,
    } as never,
    process.cwd(),
  );
  onTestFinished(() => source.close());
  await expect(source.call('look', {})).rejects.toMatchObject({
    failure: {
      code: 'mcp/died',
      message: expect.stringContaining('the server closed the connection before it answered'),
    },
  });
});
