import { strict as assert } from 'node:assert';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { outageTask } from '../support/outageTask.ts';
import { copyOfDesk, eventually, next, orderDesk, positionOf, rehearse, show, toldAt } from './desk.ts';
import { inFullSuite } from './fullSuite.ts';

const execute = vscode.commands.executeCommand;

describe('language features in the order desk', () => {
  const { folder, remove } = copyOfDesk();
  const path = (name: string) => join(folder, name);
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    remove();
  });

  it('says why something can not be renamed', async () => {
    const refusal = async (name: string, words: string, to: string) =>
      execute('vscode.executeDocumentRenameProvider', ...(await positionOf(path(name), words)), to).then(
        () => 'not refused',
        (error: Error) => error.message,
      );
    assert.match(
      await refusal('tasks/cancellations.task.yaml', 'cancel_order', 'get_order'),
      /There is a tool get_order already/,
    );
    assert.match(await refusal('tasks/cancellations.task.yaml', 'W1014 }', 'W1'), /nothing to rename here/);
  });

  it('finds what the workspace declares by its name', async () => {
    const found = await execute<vscode.SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', 'confirm-bef');
    assert.ok(
      found.some(
        ({ name, location }) =>
          name === 'confirm-before-write' && location.uri.fsPath === join(orderDesk(), 'policy.md'),
      ),
    );
  });

  /** Evaluates the domain into a separate run. */
  async function evaluated(run: string, ...args: readonly string[]): Promise<string> {
    const out = join(folder, '.rehearsal', 'runs', run);
    await rehearse('eval', folder, ...args, '--out', out);
    return out;
  }

  it('shows the last result of a task and a rule, above them and by hover', async () => {
    await evaluated('20260101-000000-gold', '--agent', 'gold', '--tasks', 'boots-size', '--trials', '2');
    const titles = async (name: string) => {
      const lenses = await execute<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        vscode.Uri.file(path(name)),
        99,
      );
      return lenses.map(({ command }) => command?.title ?? '').join('\n');
    };
    const told = async (name: string, words: string, into: number) =>
      toldAt(...(await positionOf(path(name), words, into)));
    await show(path('tasks/returns.task.yaml'));
    await eventually(async () => assert.match(await titles('tasks/returns.task.yaml'), /^\$\(pass\) 2\/2 passed · /m));
    await show(path('policy.md'));
    await eventually(async () => assert.match(await titles('policy.md'), /Last run: held \d+ times/));
    assert.match(await told('tasks/returns.task.yaml', 'boots-size', 2), /2\/2 passed/);
    assert.match(await told('rules.yaml', 'rule: one-call', 8), /Last run: held/);
  });

  it('shows beside Debug, Run and Play as User how many trials passed; a click opens the first that did not', async () => {
    const file = path('tasks/outage.task.yaml');
    writeFileSync(file, outageTask);
    try {
      const out = await evaluated(
        '20260102-000000-outage',
        '--agent',
        'scripted',
        '--tasks',
        'address-in-an-outage',
        '--trials',
        '4',
      );
      const { document } = await show(file);
      await eventually(async () => {
        const lenses = await execute<vscode.CodeLens[]>('vscode.executeCodeLensProvider', document.uri, 99);
        const told = lenses.map(({ command }) => command?.title.replace(/ · .*/, '')).toSorted();
        assert.deepEqual(told, ['$(debug-alt) Debug', '$(error) 3/4 passed', '$(person) Play as User', '$(play) Run']);
        const opened = lenses.find(({ command }) => command?.title.includes('3/4'))?.command;
        assert.equal(opened?.arguments?.[0].fsPath, join(out, 'address-in-an-outage.1.traj.jsonl'));
      });
    } finally {
      rmSync(file);
    }
  });

  inFullSuite('plays a task with the person as its user, in the Debug Console', async () => {
    const started = next(vscode.debug.onDidStartDebugSession);
    assert.equal(await execute('rehearsal.task.play', { type: 'task', folder, task: 'mistaken-order' }), true);
    const session = await started;
    assert.equal(session.configuration['user'], 'human');
    await eventually(async () => {
      const spoken = { expression: 'Hello there', context: 'repl' };
      const { result }: { readonly result: string } = await session.customRequest('evaluate', spoken);
      assert.equal(result, '');
    });
    await vscode.debug.stopDebugging(session);
  });
});
