import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { copyOfDesk, eventually, found, lineOf, orderDesk, show } from './desk.ts';

describe('diagnostics', () => {
  const { folder, remove } = copyOfDesk();
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    remove();
  });

  it('a broken line shows in Problems at its place, and goes away when it is fixed', async () => {
    const path = join(folder, 'rules.yaml');
    const line = lineOf(path, 'check: confirmed');
    const editor = await show(path, line);
    const { document } = editor;
    const text = document.lineAt(line - 1);
    await editor.edit((edit) => edit.replace(text.range, text.text.replace('confirmed', 'confirmd')));
    await eventually(() => {
      const [first] = found(document.uri);
      assert.ok(first, 'nothing was found');
      assert.equal(first.severity, vscode.DiagnosticSeverity.Error);
      assert.equal(first.range.start.line, line - 1);
      assert.match(String(first.code), /^[a-z]+\/[a-z-]+$/);
      assert.match(first.message, /confirmed/);
    });
    const broken = document.lineAt(line - 1);
    await editor.edit((edit) => edit.replace(broken.range, text.text));
    await eventually(() => assert.deepEqual(found(document.uri), []));
    await document.save();
  });

  it('an unknown tool in a task is found across files', async () => {
    const path = join(folder, 'tasks', 'lamp-variant.task.yaml');
    const line = lineOf(path, 'tool: list_variants');
    const editor = await show(path, line);
    const text = editor.document.lineAt(line - 1);
    await editor.edit((edit) => edit.replace(text.range, text.text.replace('list_variants', 'list_variant')));
    await eventually(() => {
      const [first] = found(editor.document.uri);
      assert.equal(first?.range.start.line, line - 1);
      assert.match(first.message, /list_variant/);
      assert.match(first.message, /list_variants/);
    });
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('the sample domain itself has no findings', () => {
    const inDesk = vscode.languages.getDiagnostics().filter(([uri]) => uri.fsPath.startsWith(orderDesk()));
    assert.deepEqual(
      inDesk.flatMap(([, all]) => all.filter(({ source }) => source === 'Rehearsal').map(({ message }) => message)),
      [],
    );
  });
});
