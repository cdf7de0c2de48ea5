import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';

type Manifest = { contributes: { commands: { command: string }[] } };

const id = 'rehearsal.rehearsal';

describe('activation', () => {
  it('activates and registers every command that package.json contributes', async () => {
    const extension = vscode.extensions.getExtension(id);
    assert.ok(extension, `${id} is not installed`);
    await extension.activate();
    const manifest = JSON.parse(readFileSync(join(extension.extensionPath, 'package.json'), 'utf8')) as Manifest;
    const contributed = manifest.contributes.commands.map(({ command }) => command);
    assert.notEqual(contributed.length, 0);
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      contributed.filter((command) => !registered.has(command)),
      [],
    );
  });

  it('opens the sample domain as the workspace', () => {
    assert.equal(vscode.workspace.workspaceFolders?.[0]?.name, 'order-desk');
  });
});
