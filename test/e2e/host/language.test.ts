import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import * as vscode from 'vscode';
import { applyAndSave, copyOfDesk, eventually, orderDesk, show } from './desk.ts';

const execute = vscode.commands.executeCommand;
const check = (folder: string) => execute<number>('rehearsal.domain.check', { type: 'domain', folder });

describe('language features', () => {
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

  /** The labels that are offered where words are put into a file, at the mark in them. The file stays as it was. */
  async function offeredIn(name: string, behind: string, text: string): Promise<string[]> {
    const { document } = await show(path(name));
    const whole = document.getText();
    const offset = behind === '' ? whole.length : whole.indexOf(behind) + behind.length;
    const mark = text.indexOf('|');
    assert.ok(offset >= behind.length && mark >= 0);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, document.positionAt(offset), text.replace('|', ''));
    await vscode.workspace.applyEdit(edit);
    const at = document.positionAt(offset + mark);
    const list = await execute<vscode.CompletionList>('vscode.executeCompletionItemProvider', document.uri, at);
    const back = new vscode.WorkspaceEdit();
    back.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), whole);
    await vscode.workspace.applyEdit(back);
    await document.save();
    return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
  }

  const task = '\n- id: new-one\n  persona: patient\n  user: { goal: G. }\n';
  const marked: readonly (readonly [
    what: string,
    file: string,
    behind: string,
    text: string,
    expected: readonly string[],
  ])[] = [
    [
      'tools of a gold action',
      'tasks/returns.task.yaml',
      '',
      `${task}  actions:\n    - { tool: | }\n`,
      ['cancel_order', 'get_order'],
    ],
    [
      'arguments by the schema',
      'tasks/returns.task.yaml',
      '',
      `${task}  actions:\n    - { tool: cancel_order, arguments: { | } }\n`,
      ['order_id', 'reason'],
    ],
    [
      'values by the schema',
      'tasks/returns.task.yaml',
      '',
      `${task}  actions:\n    - { tool: cancel_order, arguments: { reason: | } }\n`,
      ['no longer needed', 'ordered by mistake'],
    ],
    [
      'rows',
      'tasks/returns.task.yaml',
      '',
      `${task}  actions:\n    - { tool: get_order, arguments: { order_id: | } }\n`,
      ['W1004'],
    ],
    ['personas', 'tasks/returns.task.yaml', '', '\n- id: new-one\n  persona: |\n', ['patient', 'guarded']],
    ['facts', 'tasks/returns.task.yaml', '', '\n- id: new-one\n  user:\n    unknown: [|]\n', ['postcode', 'reason']],
    [
      'fields of a state',
      'tasks/returns.task.yaml',
      '',
      `${task}  state:\n    - { path: [orders, W1004, |], value: x }\n`,
      ['status', 'payments'],
    ],
    ['rules', 'rules.yaml', '', '\n- { rule: |, check: oneCall }\n', ['authenticate', 'hand-off']],
    [
      'fields in an expression',
      'rules.yaml',
      '',
      '\n- rule: authenticate\n  check: onlyIf\n  tools: writes\n  condition: db.orders[args.order_id].|\n',
      ['status', 'payments'],
    ],
    ['tools in the policy', 'policy.md', '', '\n- Use `|\n', ['cancel_order']],
    [
      'arguments in a sentence of the lexicon',
      'domain.yaml',
      '\n  tools:',
      "\n    get_order: { done: ['I looked at {|'] }",
      ['order_id'],
    ],
    ['keys of domain.yaml', 'domain.yaml', '', '\n|\n', ['greeting', 'mcpServers']],
  ];
  for (const [what, file, behind, text, expected] of marked) {
    it(`completes ${what}`, async () => {
      let offered: string[] = [];
      // What a tool takes is known once its code has told it in the background.
      for (let attempt = 0; attempt < 40; attempt++) {
        offered = await offeredIn(file, behind, text);
        if (expected.every((each) => offered.includes(each))) break;
        await new Promise((later) => setTimeout(later, 250));
      }
      assert.deepEqual(
        expected.filter((each) => !offered.includes(each)),
        [],
        `offered: ${offered.slice(0, 30).join(', ')}`,
      );
    });
  }

  it('tells of a tool with its arguments, of a row and of a key', async () => {
    const hover = async (name: string, words: string) => {
      const found = await execute<vscode.Hover[]>('vscode.executeHoverProvider', ...(await placeOf(name, words)));
      return found
        .flatMap(({ contents }) => contents.map((each) => (typeof each === 'string' ? each : each.value)))
        .join('\n');
    };
    assert.match(
      await hover('tasks/cancellations.task.yaml', 'cancel_order'),
      /\*\*cancel_order\*\* \(write[\s\S]*order_id/,
    );
    assert.match(await hover('tasks/cancellations.task.yaml', 'W1014 }'), /orders\.W1014/);
    assert.match(await hover('rules.yaml', 'gate: true\n'), /makes the reward 0/);
    assert.match(await hover('rules.yaml', 'confirm-before-write'), /explicit yes/);
    assert.match(await hover('tasks/cancellations.task.yaml', 'patient'), /no hurry/);
  });

  it('goes from a name to where it is made', async () => {
    const definition = async (name: string, words: string) => {
      const found = await execute<(vscode.Location | vscode.LocationLink)[]>(
        'vscode.executeDefinitionProvider',
        ...(await placeOf(name, words)),
      );
      return found.map((each) => {
        const { uri, range } = 'uri' in each ? each : { uri: each.targetUri, range: each.targetRange };
        return `${relative(folder, uri.fsPath)}:${range.start.line + 1}`;
      });
    };
    const lineOf = (name: string, words: string) =>
      readFileSync(path(name), 'utf8')
        .split('\n')
        .findIndex((line) => line.includes(words)) + 1;
    assert.deepEqual(await definition('tasks/cancellations.task.yaml', 'cancel_order'), [
      `tools.ts:${lineOf('tools.ts', 'const cancel_order')}`,
    ]);
    assert.deepEqual(await definition('rules.yaml', 'look-up-first'), [
      `policy.md:${lineOf('policy.md', '{#look-up-first}')}`,
    ]);
    assert.deepEqual(await definition('tasks/cancellations.task.yaml', 'patient'), ['personas/patient.persona.yaml:1']);
    assert.deepEqual(await definition('tasks/cancellations.task.yaml', 'email, order_id'), [
      `domain.yaml:${lineOf('domain.yaml', '    email:')}`,
    ]);
  });

  it('finds every place that speaks of a tool, and those of one file', async () => {
    const at = await placeOf('rules.yaml', 'change_payment');
    const found = await execute<vscode.Location[]>('vscode.executeReferenceProvider', ...at);
    const files = new Set(found.map(({ uri }) => basename(uri.fsPath)));
    for (const name of ['rules.yaml', 'domain.yaml', 'tools.ts', 'train.task.yaml'])
      assert.ok(files.has(name), `not in ${name}`);
    const words = await Promise.all(
      found.map(async ({ uri, range }) => (await vscode.workspace.openTextDocument(uri)).getText(range)),
    );
    assert.deepEqual([...new Set(words)], ['change_payment']);
    const highlights = await execute<vscode.DocumentHighlight[]>('vscode.executeDocumentHighlights', ...at);
    assert.equal(highlights.length, found.filter(({ uri }) => basename(uri.fsPath) === 'rules.yaml').length);
  });

  it('renames a tool in all files, and the check is clean afterwards', async () => {
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

  it('outlines tasks and rules, folds them, links files and colours names', async () => {
    const file = (name: string) => vscode.Uri.file(path(name));
    const outline = await execute<vscode.DocumentSymbol[]>(
      'vscode.executeDocumentSymbolProvider',
      file('tasks/cancellations.task.yaml'),
    );
    assert.ok(outline.some(({ name, detail }) => name === 'mistaken-order' && detail === 'train, patient'));
    const rules = await execute<vscode.DocumentSymbol[]>('vscode.executeDocumentSymbolProvider', file('policy.md'));
    assert.ok(rules.some(({ name }) => name === 'confirm-before-write'));
    const folds = await execute<vscode.FoldingRange[]>(
      'vscode.executeFoldingRangeProvider',
      file('tasks/cancellations.task.yaml'),
    );
    assert.ok(folds.some(({ start, end }) => start === 0 && end > 10));
    const tokens = await execute<vscode.SemanticTokens>('vscode.provideDocumentSemanticTokens', file('rules.yaml'));
    assert.ok(tokens.data.length > 100);
    writeFileSync(
      path('domain.yaml'),
      readFileSync(path('domain.yaml'), 'utf8').replace('turnCap: 30', 'turnCap: 30\npolicy: policy.md'),
    );
    await eventuallyLinked(file('domain.yaml'));
    writeFileSync(path('domain.yaml'), readFileSync(path('domain.yaml'), 'utf8').replace('\npolicy: policy.md', ''));
  });

  async function eventuallyLinked(uri: vscode.Uri): Promise<void> {
    for (let attempt = 0; attempt < 40; attempt++) {
      const links = await execute<vscode.DocumentLink[]>('vscode.executeLinkProvider', uri, 10);
      if (links.some(({ target }) => target?.fsPath === path('policy.md'))) return;
      await new Promise((later) => setTimeout(later, 100));
    }
    assert.fail('policy.md is no link');
  }

  it('finds what the workspace declares by its name', async () => {
    const found = await execute<vscode.SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', 'confirm-bef');
    assert.ok(
      found.some(
        ({ name, location }) =>
          name === 'confirm-before-write' && location.uri.fsPath === join(orderDesk(), 'policy.md'),
      ),
    );
  });

  it('formats and keeps comments, and what is in order stays as it is', async () => {
    const format = async (name: string) =>
      (await execute<vscode.TextEdit[] | undefined>(
        'vscode.executeFormatDocumentProvider',
        vscode.Uri.file(path(name)),
        { tabSize: 2, insertSpaces: true },
      )) ?? [];
    assert.deepEqual(await format('rules.yaml'), []);
    const text = readFileSync(path('rules.yaml'), 'utf8');
    const { document } = await show(path('rules.yaml'));
    const messy = text.replace(
      '- rule: one-call\n  check: oneCall\n',
      '- rule:   one-call   # by itself\n  check:   oneCall\n',
    );
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), messy);
    await vscode.workspace.applyEdit(edit);
    const mend = new vscode.WorkspaceEdit();
    mend.set(document.uri, await format('rules.yaml'));
    await vscode.workspace.applyEdit(mend);
    assert.equal(document.getText(), text.replace('- rule: one-call\n', '- rule: one-call # by itself\n'));
    await execute('workbench.action.files.revert');
  });

  it('shows what can be done with a task above it', async () => {
    const uri = vscode.Uri.file(path('tasks/cancellations.task.yaml'));
    await show(uri.fsPath);
    const lenses = await execute<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri, 30);
    const first = lenses.filter(({ range }) => range.start.line === 0).map(({ command }) => command?.title);
    assert.deepEqual(first, ['$(debug-alt) Debug', '$(play) Run', '$(person) Play as User']);
    await eventually(() => assert.ok(lenses.length > 3));
  });

  it('shows what a task and a rule came to last, above them and by hover', async () => {
    const { extensionPath = '' } = vscode.extensions.getExtension('rehearsal.rehearsal') ?? {};
    const out = join(folder, '.rehearsal', 'runs', '20260101-000000-gold');
    const words = ['eval', folder, '--agent', 'gold', '--tasks', 'boots-size', '--trials', '2', '--out', out];
    execFileSync(process.execPath, [join(extensionPath, 'dist', 'rehearsal.mjs'), ...words], {
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: 'ignore',
    });
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
