import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { applyAndSave, copyOfDesk, eventually, show } from './desk.ts';

const execute = vscode.commands.executeCommand;
const found = (uri: vscode.Uri) => vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Rehearsal');
const audit = (folder: string) => execute<number>('rehearsal.domain.audit', { type: 'domain', folder });

/** The tasks that are played; an audit only notes which rules and tools nothing tries without the others. */
const kept = ['returns.task.yaml'];

/** The errors and warnings in a folder. */
const unsound = (folder: string) =>
  vscode.languages
    .getDiagnostics()
    .filter(([uri]) => uri.fsPath.startsWith(folder))
    .flatMap(([uri, each]) => each.map(({ severity, message }) => ({ severity, message, file: uri.fsPath })))
    .filter(({ severity }) => severity <= vscode.DiagnosticSeverity.Warning);

/** What is broken in which file, the code that says so, and the fix that mends it. */
const planted: readonly (readonly [code: string, file: string, from: string, to: string])[] = [
  ['task/unknown-tool', 'tasks/returns.task.yaml', 'tool: return_item', 'tool: retrun_item'],
  ['task/unknown-persona', 'tasks/returns.task.yaml', 'persona: patient', 'persona: pateint'],
  ['task/unknown-key', 'tasks/returns.task.yaml', '\n  actions:', '\n  acitons:'],
  ['task/wrong-value', 'tasks/returns.task.yaml', 'split: train', 'split: trian'],
  ['rule/unknown-rule', 'rules.yaml', 'rule: one-call', 'rule: one-cal'],
  ['rule/unknown-tool', 'rules.yaml', 'require: [get_order]', 'require: [get_oder]'],
  ['rule/unknown-name', 'rules.yaml', 'condition: not db.orders', 'condition: not bd.orders'],
  ['rule/unknown-table', 'rules.yaml', 'condition: not db.orders', 'condition: not db.order'],
  ['policy/bad-mark', 'policy.md', '{#one-call}', '{#one call}'],
  ['domain/unknown-key', 'domain.yaml', 'turnCap: 30', 'turnCpa: 30'],
];

describe('quick fixes', () => {
  const { folder, remove } = copyOfDesk();
  // An audit plays every task: a few are enough here.
  for (const name of readdirSync(join(folder, 'tasks'))) if (!kept.includes(name)) rmSync(join(folder, 'tasks', name));
  let clean = 0;
  before(async () => {
    clean = (await audit(folder)) ?? -1;
    assert.deepEqual([clean >= 0, unsound(folder)], [true, []]);
  });
  after(async () => {
    await execute('workbench.action.closeAllEditors');
    remove();
  });

  const actionsAt = (uri: vscode.Uri, range: vscode.Range, kind: vscode.CodeActionKind, count = 20) =>
    execute<vscode.CodeAction[]>('vscode.executeCodeActionProvider', uri, range, kind.value, count);

  for (const [code, file, from, to] of planted) {
    it(`mends ${code}, and the audit is clean afterwards`, async () => {
      const path = join(folder, file);
      const text = readFileSync(path, 'utf8');
      assert.ok(text.includes(from), `${file} does not say ${from}`);
      const { document } = await show(path);
      const at = document.positionAt(text.indexOf(from));
      await vscode.window.activeTextEditor?.edit((edit) =>
        edit.replace(new vscode.Range(at, document.positionAt(text.indexOf(from) + from.length)), to),
      );
      let diagnostic: vscode.Diagnostic | undefined;
      await eventually(() => {
        diagnostic = found(document.uri).find((each) => each.code === code);
        assert.ok(
          diagnostic,
          `found: ${found(document.uri)
            .map(({ message }) => message)
            .join(' | ')}`,
        );
      });
      const range = diagnostic?.range ?? new vscode.Range(0, 0, 0, 0);
      let fix: vscode.CodeAction | undefined;
      await eventually(async () => {
        const actions = await actionsAt(document.uri, range, vscode.CodeActionKind.QuickFix);
        fix = actions.find(({ isPreferred }) => isPreferred);
        assert.ok(fix?.edit, `offered: ${actions.map(({ title }) => title).join(', ')}`);
      });
      assert.ok(await vscode.workspace.applyEdit(fix?.edit ?? new vscode.WorkspaceEdit()));
      await document.save();
      assert.equal(readFileSync(path, 'utf8'), text);
      assert.equal(await audit(folder), clean);
    });
  }

  it('mends everything in a file, and everything in the domain', async () => {
    const one = join(folder, 'tasks/returns.task.yaml');
    const other = join(folder, 'personas/changeable.persona.yaml');
    const [first, second] = [readFileSync(one, 'utf8'), readFileSync(other, 'utf8')];
    writeFileSync(
      one,
      first.replaceAll('tool: return_item', 'tool: retrun_item').replace('persona: patient', 'persona: pateint'),
    );
    writeFileSync(other, second.replace('style:', 'stlye:'));
    const { document } = await show(one);
    await eventually(() => assert.ok(found(document.uri).length > 1 && found(vscode.Uri.file(other)).length > 0));
    const [diagnostic] = found(document.uri);
    const range = diagnostic?.range ?? new vscode.Range(0, 0, 0, 0);
    const [inFile] = await actionsAt(document.uri, range, vscode.CodeActionKind.SourceFixAll);
    assert.ok(inFile?.edit, 'no fix of the file');
    assert.deepEqual(
      inFile.edit.entries().map(([uri]) => uri.fsPath),
      [one],
    );
    const all = (await actionsAt(document.uri, range, vscode.CodeActionKind.QuickFix)).find(({ title }) =>
      title.endsWith('of the domain'),
    );
    assert.ok(all?.edit, 'no fix of the domain');
    assert.deepEqual(
      all.edit
        .entries()
        .map(([uri]) => uri.fsPath)
        .toSorted(),
      [one, other].toSorted(),
    );
    await applyAndSave(all.edit);
    assert.deepEqual([readFileSync(one, 'utf8'), readFileSync(other, 'utf8')], [first, second]);
    assert.equal(await audit(folder), clean);
  });
});
