import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import * as vscode from 'vscode';
import { mcpServers } from '../../../src/extension/assistant/mcpServers.ts';
import type { Context } from '../../../src/extension/commandLine/context.ts';
import { eventually, orderDesk } from './desk.ts';
import { inFullSuite } from './fullSuite.ts';

const execute = vscode.commands.executeCommand;
const { token } = new vscode.CancellationTokenSource();
const database = () => readFileSync(join(orderDesk(), 'database.json'), 'utf8');

/** The domain's server, named as in VS Code by the extension and its label. */
const server = 'rehearsal.rehearsal/order-desk (temporary database)';

describe('the tools of a domain as an MCP server', () => {
  inFullSuite('are served by the command that is offered, on a database that is gone afterwards', async () => {
    const extension = vscode.extensions.getExtension('rehearsal.rehearsal');
    const context = {
      cli: join(extension?.extensionPath ?? '', 'dist', 'rehearsal.mjs'),
      extension: { extension },
      environment: async () => ({ ELECTRON_RUN_AS_NODE: '1', OPENAI_API_KEY: 'sk-resolved' }),
    } as unknown as Context;
    const provider = mcpServers(context);
    const [offered, ...others] = (await provider.provideMcpServerDefinitions(token)) ?? [];
    assert.ok(offered && others.length === 0);
    assert.deepEqual([offered.label, offered.env], ['order-desk (temporary database)', {}]);
    const resolved = await provider.resolveMcpServerDefinition?.(offered, token);
    assert.equal(resolved?.env['OPENAI_API_KEY'], 'sk-resolved');
    const before = database();
    const client = new Client({ name: 'test', version: '1' });
    const { command, args, env } = resolved;
    await client.connect(
      new StdioClientTransport({ command, args, env: env as Record<string, string>, stderr: 'ignore' }) as Transport,
    );
    try {
      const call = async (name: string, given: Record<string, unknown>) =>
        JSON.stringify((await client.callTool({ name, arguments: given })).content);
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      assert.ok(names.includes('get_order') && names.includes('cancel_order'), names.join(', '));
      const order = { order_id: 'W1014' };
      assert.match(await call('get_order', order), /\\"status\\":\\"pending\\"/);
      await call('cancel_order', { ...order, reason: 'ordered by mistake' });
      assert.match(await call('get_order', order), /\\"status\\":\\"cancelled\\"/);
    } finally {
      await client.close();
    }
    assert.equal(database(), before);
  });

  inFullSuite('are tools of the editor once its agent starts the server', async () => {
    const before = database();
    const named = (tool: string) => vscode.lm.tools.find(({ name }) => /^mcp_/.test(name) && name.endsWith(tool));
    assert.equal(named('cancel_order'), undefined);
    await execute('workbench.mcp.startServer', server, { waitForLiveTools: true });
    try {
      await eventually(() => assert.ok(named('cancel_order'), vscode.lm.tools.map(({ name }) => name).join(', ')));
      const call = async (tool: string, input: object) => {
        const options = { input, toolInvocationToken: undefined };
        const { content } = await vscode.lm.invokeTool(named(tool)?.name ?? tool, options, token);
        return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
      };
      assert.match(await call('get_order', { order_id: 'W1014' }), /"status":"pending"/);
      await call('cancel_order', { order_id: 'W1014', reason: 'ordered by mistake' });
      assert.match(await call('get_order', { order_id: 'W1014' }), /"status":"cancelled"/);
    } finally {
      await execute('workbench.mcp.stopServer', server);
    }
    assert.equal(database(), before);
  });
});
