import { strict as assert } from 'node:assert';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { check, copyOfDesk, eventually, orderDesk, show } from './desk.ts';

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
