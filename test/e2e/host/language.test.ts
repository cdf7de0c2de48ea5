import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import * as vscode from 'vscode';
import { outageTask } from '../support/outageTask.ts';
import { applyAndSave, copyOfDesk, eventually, orderDesk, show } from './desk.ts';

const execute = vscode.commands.executeCommand;
const check = (folder: string) => execute<number>('rehearsal.domain.check', { type: 'domain', folder });

describe('language features in the order desk', () => {
  const { folder, remove } = copyOfDesk();
  const path = (name: string) => join(folder, name);
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    remove();
  });

  /** Where some words stand in a file, `into` characters on. */
  async function placeOf(name: string, words: string, into = 1): Promise<[vscode.Uri, vscode.Position]> {
    const document = await vscode.workspace.openTextDocument(path(name));
    const offset = document.getText().indexOf(words);
    assert.ok(offset >= 0, `${name} does not say ${words}`);
    return [document.uri, document.positionAt(offset + into)];
  }

  it('renames a tool in all files, and back', async () => {
    const at = await placeOf('tasks/cancellations.task.yaml', 'cancel_order');
    const edit = await execute<vscode.WorkspaceEdit>('vscode.executeDocumentRenameProvider', ...at, 'stop_order');
    const files = edit.entries().map(([uri]) => relative(folder, uri.fsPath));
    for (const name of ['tools.ts', 'rules.yaml', 'domain.yaml', 'tasks/cancellations.task.yaml'])
      assert.ok(files.includes(name), name);
    await applyAndSave(edit);
    await check(folder);
    assert.deepEqual(foundIn(folder), []);
    for (const name of files) assert.doesNotMatch(readFileSync(path(name), 'utf8'), /\bcancel_order\b/);
    const back = await execute<vscode.WorkspaceEdit>(
      'vscode.executeDocumentRenameProvider',
      ...(await placeOf('tools.ts', 'const stop_order', 7)),
      'cancel_order',
    );
    await applyAndSave(back);
    for (const name of files)
      assert.equal(readFileSync(path(name), 'utf8'), readFileSync(join(orderDesk(), name), 'utf8'));
  });

  /** What Problems shows of a folder. */
  const foundIn = (of: string) =>
    vscode.languages
      .getDiagnostics()
      .filter(([uri]) => uri.fsPath.startsWith(of))
      .flatMap(([uri, all]) => all.map(({ message }) => `${relative(of, uri.fsPath)}: ${message}`));

  it('renames a field of the database in all files and in the code of the tools, and back', async () => {
    const renamed = async (name: string, words: string, into: number, to: string) => {
      const at = await placeOf(name, words, into);
      const edit = await execute<vscode.WorkspaceEdit>('vscode.executeDocumentRenameProvider', ...at, to);
      await applyAndSave(edit);
      return edit.entries().map(([uri]) => basename(uri.fsPath));
    };
    const texts = ['rules.yaml', 'tools.ts', 'database.json'].map((name) => readFileSync(path(name), 'utf8'));
    const files = await renamed('rules.yaml', 'items_changed', 1, 'was_changed');
    assert.ok(files.includes('rules.yaml'));
    assert.ok(files.includes('tools.ts'));
    await check(folder);
    assert.deepEqual(foundIn(folder), []);
    for (const name of ['rules.yaml', 'tools.ts', 'database.json'])
      assert.doesNotMatch(readFileSync(path(name), 'utf8'), /\bitems_changed\b/);
    assert.match(readFileSync(path('tools.ts'), 'utf8'), /order\.was_changed = true/);
    await renamed('rules.yaml', 'was_changed', 1, 'items_changed');
    assert.deepEqual(
      ['rules.yaml', 'tools.ts', 'database.json'].map((name) => readFileSync(path(name), 'utf8')),
      texts,
    );
  });

  it('says why something can not be renamed', async () => {
    const refusal = async (name: string, words: string, to: string) =>
      execute('vscode.executeDocumentRenameProvider', ...(await placeOf(name, words)), to).then(
        () => 'not refused',
        (error: Error) => error.message,
      );
    assert.match(
      await refusal('tasks/cancellations.task.yaml', 'cancel_order', 'get_order'),
      /There is a tool get_order already/,
    );
    assert.match(await refusal('tasks/cancellations.task.yaml', 'W1014 }', 'W1'), /Nothing with a name/);
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

  /** Evaluates the domain into a run of its own. */
  function evaluated(run: string, ...args: readonly string[]): string {
    const { extensionPath = '' } = vscode.extensions.getExtension('rehearsal.rehearsal') ?? {};
    const out = join(folder, '.rehearsal', 'runs', run);
    const words = ['eval', folder, ...args, '--out', out];
    execFileSync(process.execPath, [join(extensionPath, 'dist', 'rehearsal.mjs'), ...words], {
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: 'ignore',
    });
    return out;
  }

  it('shows what a task and a rule came to last, above them and by hover', async () => {
    evaluated('20260101-000000-gold', '--agent', 'gold', '--tasks', 'boots-size', '--trials', '2');
    const titles = async (name: string) => {
      const lenses = await execute<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        vscode.Uri.file(path(name)),
        99,
      );
      return lenses.map(({ command }) => command?.title ?? '').join('\n');
    };
    const told = async (name: string, words: string, into: number) => {
      const [uri, at] = await placeOf(name, words, into);
      const hovers = await execute<vscode.Hover[]>('vscode.executeHoverProvider', uri, at);
      return hovers.flatMap(({ contents }) => contents.map((each) => (each as vscode.MarkdownString).value)).join('\n');
    };
    await show(path('tasks/returns.task.yaml'));
    await eventually(async () => assert.match(await titles('tasks/returns.task.yaml'), /^\$\(pass\) 2\/2 passed · /m));
    await show(path('policy.md'));
    await eventually(async () => assert.match(await titles('policy.md'), /held \d+, violated 0 in the last run/));
    assert.match(await told('tasks/returns.task.yaml', 'boots-size', 2), /2\/2 passed/);
    assert.match(await told('rules.yaml', 'rule: one-call', 8), /violated 0 in the last run/);
  });

  it('shows beside Debug, Run and Play as User how many trials passed; a click opens the first that did not', async () => {
    const file = path('tasks/outage.task.yaml');
    writeFileSync(file, outageTask);
    try {
      const out = evaluated(
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

  it('plays a task with the person as its user, in the Debug Console', async () => {
    const started = new Promise<vscode.DebugSession>((resolve) => {
      const listener = vscode.debug.onDidStartDebugSession((session) => {
        listener.dispose();
        resolve(session);
      });
    });
    assert.equal(await execute('rehearsal.task.play', { type: 'task', folder, task: 'mistaken-order' }), true);
    const session = await started;
    assert.equal(session.configuration['user'], 'human');
    for (let attempt = 0; ; attempt++) {
      const { result } = (await session
        .customRequest('evaluate', { expression: 'Hello there', context: 'repl' })
        .then(undefined, ({ message }: Error) => ({ result: message }))) as { readonly result: string };
      if (result === '') break;
      assert.ok(attempt < 40, result);
      await new Promise((later) => setTimeout(later, 250));
    }
    await vscode.debug.stopDebugging(session);
  });
});
