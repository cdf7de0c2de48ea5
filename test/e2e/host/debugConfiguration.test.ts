import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { configurationProvider, dynamicConfigurations } from '../../../src/extension/debug/configurationProvider.ts';
import { orderDesk, show } from './desk.ts';

/** Returns the configuration that F5 without a launch.json resolves to. VS Code passes an empty one. */
async function pressF5(given: Partial<vscode.DebugConfiguration> = {}): Promise<vscode.DebugConfiguration | undefined> {
  const configuration = given as vscode.DebugConfiguration;
  return (await configurationProvider.resolveDebugConfiguration?.(undefined, configuration)) ?? undefined;
}

describe('debug configurations', () => {
  const tasks = loadDomain(orderDesk()).tasks.map(({ id }) => id);
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('the debug view lists every task of the workspace', async () => {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    const listed = (await dynamicConfigurations.provideDebugConfigurations?.(folder)) ?? [];
    assert.deepEqual(await dynamicConfigurations.provideDebugConfigurations?.(undefined), []);
    assert.ok(tasks.length >= 12);
    assert.deepEqual(listed.map(({ task }) => task).sort(), [...tasks].sort());
    for (const { type, request, domain } of listed) {
      assert.deepEqual([type, request, domain], ['rehearsal', 'launch', orderDesk()]);
    }
  });

  it('F5 in a task file with one task starts it', async () => {
    await show(join(orderDesk(), 'tasks', 'lamp-variant.task.yaml'));
    const { type, request, domain, task }: Partial<vscode.DebugConfiguration> = (await pressF5()) ?? {};
    assert.deepEqual([type, request, domain, task], ['rehearsal', 'launch', orderDesk(), 'lamp-variant']);
  });

  it('F5 in a task file with several tasks starts the one at the cursor', async () => {
    const path = join(orderDesk(), 'tasks', 'changes.task.yaml');
    const lines = readFileSync(path, 'utf8').split('\n');
    const starts = lines.flatMap((line, index) => (/^- id: /.test(line) ? [index] : []));
    assert.ok(starts.length > 1);
    for (const start of starts) {
      await show(path, start + 3);
      assert.equal((await pressF5())?.['task'], lines[start]?.replace('- id: ', ''));
    }
  });

  it('a session that an adapter asks for inside a tool is one of the JavaScript debugger', async () => {
    const child = {
      type: 'rehearsal',
      request: 'attach',
      name: 'tools',
      childType: 'pwa-node',
      websocketAddress: 'ws://x',
    };
    const { childType: _, ...rest } = child;
    assert.deepEqual(await pressF5(child), { ...rest, type: 'pwa-node' });
  });

  it('F5 on a recording steps through it', async () => {
    const recording = join(orderDesk(), 'some.traj.jsonl');
    const filled = await pressF5({ type: 'rehearsal', request: 'attach', name: 'x', recording });
    assert.deepEqual([filled?.['request'], filled?.['recording']], ['attach', recording]);
  });

  it('what a launch.json says stays', async () => {
    const given = {
      type: 'rehearsal',
      request: 'launch',
      name: 'mine',
      domain: orderDesk(),
      task: 'new-address',
      seed: '7',
    };
    const filled = await pressF5(given);
    for (const [key, value] of Object.entries(given)) assert.equal(filled?.[key], value, key);
  });
});
