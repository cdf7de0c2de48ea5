import { strict as assert } from 'node:assert';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { applyAndSave, audit, check, copyOfDesk, eventually, orderDesk, show } from './desk.ts';

const messagesOf = (path: string) =>
  vscode.languages.getDiagnostics(vscode.Uri.file(path)).map(({ message }) => message);

describe('Check Domain', () => {
  const { folder, remove } = copyOfDesk();
  const tools = join(folder, 'tools.ts');
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    remove();
  });

  it('finds nothing in the sample domain', async () => {
    assert.equal(await check(orderDesk()), 0);
  });

  it('finds what only the loaded tools can tell, and forgets it with the next edit', async () => {
    const text = readFileSync(tools, 'utf8');
    appendFileSync(tools, "\nthrow new Error('the desk is closed');\n");
    assert.equal(await check(folder), 1);
    assert.match(messagesOf(tools).join(), /the desk is closed/);
    const editor = await show(tools);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '// Open again.\n'));
    await eventually(() => assert.deepEqual(messagesOf(tools), []));
    await editor.document.save();
    writeFileSync(tools, text);
  });
});

describe('Audit Domain', () => {
  const { folder, remove } = copyOfDesk();
  const tools = join(folder, 'tools.ts');
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    remove();
  });

  it('finds what only playing the domain can tell, and its fix makes the audit clean of it', async () => {
    for (const name of readdirSync(join(folder, 'tasks')))
      if (name !== 'changes.task.yaml') rmSync(join(folder, 'tasks', name));
    const text = readFileSync(tools, 'utf8');
    const at = text.indexOf("effect: 'write'", text.indexOf('const change_item'));
    writeFileSync(tools, `${text.slice(0, at)}effect: 'read'${text.slice(at + "effect: 'write'".length)}`);
    await audit(folder);
    const uri = vscode.Uri.file(tools);
    const undeclared = () => vscode.languages.getDiagnostics(uri).find(({ code }) => code === 'tool/undeclared-write');
    const diagnostic = undeclared();
    assert.ok(diagnostic, messagesOf(tools).join(' | '));
    await show(tools);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      uri,
      diagnostic.range,
      vscode.CodeActionKind.QuickFix.value,
      10,
    );
    const fix = actions.find(({ isPreferred }) => isPreferred);
    assert.ok(fix?.edit, `offered: ${actions.map(({ title }) => title).join(', ')}`);
    await applyAndSave(fix.edit);
    assert.equal(readFileSync(tools, 'utf8'), text);
    await audit(folder);
    assert.equal(undeclared(), undefined);
  });
});
