import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, onTestFinished, test } from 'vitest';
import { folderOf } from '../engine/shell/load/domainFolder.ts';
import { approveDomain } from '../support/approval.ts';
import { commandLine } from '../support/commandLine.ts';
import { rawMcpServer } from '../support/rawMcpServer.ts';
import { inFullSuite } from '../support/suite.ts';
import { rehearsal } from '../support/terminal.ts';

const desk = 'domains/order-desk';

async function connected(...args: readonly string[]) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [commandLine, 'mcp', ...args],
    stderr: 'ignore',
  });
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  const call = async (name: string, args: object) => {
    const { content, isError } = await client.callTool({ name, arguments: args as Record<string, unknown> });
    return { isError, text: (content as readonly { readonly text: string }[])[0]?.text ?? '' };
  };
  return { client, call };
}

test('the tools of a domain are served on a temporary database that keeps what is written to it', async () => {
  const { client, call } = await connected(desk);
  const { tools } = await client.listTools();
  const effects = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]));
  expect(effects).toMatchObject({ get_order: true, cancel_order: false });
  expect(effects, 'to hand over would end the rollout').not.toHaveProperty('transfer_to_human');
  expect((await call('get_order', { order_id: 'W1014' })).text).toContain('"status":"pending"');
  const reason = 'ordered by mistake';
  expect(await call('cancel_order', { order_id: 'W1014', reason })).toMatchObject({ isError: false });
  expect((await call('get_order', { order_id: 'W1014' })).text).toContain('"status":"cancelled"');
});

inFullSuite('another process serves its own temporary database', async () => {
  const order = { order_id: 'W1014' };
  const first = await connected(desk);
  await first.call('cancel_order', { ...order, reason: 'ordered by mistake' });
  const second = await connected(desk);
  expect((await second.call('get_order', order)).text).toContain('"status":"pending"');
});

inFullSuite('calls that are made together, that do not fit and that name nothing are all answered', async () => {
  const { call } = await connected(desk, '--task', 'lamp-variant');
  const answers = await Promise.all([
    call('get_order', { order_id: 'W1138' }),
    call('get_order', {}),
    call('get_orders', { order_id: 'W1138' }),
  ]);
  expect(answers.map(({ isError }) => isError)).toEqual([false, true, true]);
  expect(answers[1]?.text).toContain('order_id');
  expect(answers[2]?.text).toContain('there is no tool named "get_orders"');
});

test.each([
  [['nowhere'], /nowhere/],
  [[desk, '--task', 'nothing'], /there is no task "nothing"/],
  [[desk, 'more'], /unexpected argument "more"/],
])('mcp %j can not be done', async (args, words) => {
  const { code, err } = await rehearsal('mcp', ...args);
  expect(code).toBe(2);
  expect(err).toMatch(words);
});

test('SIGTERM ends the server, and the sessions of its servers', async () => {
  const server = await rawMcpServer();
  const domain = approveDomain(
    folderOf({
      'domain.yaml': `name: raw\nmcpServers:\n  raw: { type: http, url: "${server.url}", writes: [write] }\n`,
      'policy.md': '# Raw\n',
      'database.json': '{}',
    }),
  );
  const child = spawn(process.execPath, [commandLine, 'mcp', domain], { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(server.sessions.size).toBe(0);
});
