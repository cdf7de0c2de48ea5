import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';

/** The sample domain that the host has open as its workspace. */
export function orderDesk(): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!folder) throw new Error('no folder is open');
  return folder;
}

/** A copy of the sample domain outside the workspace, so that a test may break it. */
export function copyOfDesk(): { readonly folder: string; readonly remove: () => void } {
  const parent = mkdtempSync(join(tmpdir(), 'rehearsal-host-'));
  const folder = join(parent, 'order-desk');
  cpSync(orderDesk(), folder, { recursive: true, filter: (path) => !path.includes('.rehearsal') });
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Shows a file and puts the cursor on a line (from 1). */
export async function show(path: string, line = 1): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(path);
  const at = new vscode.Range(line - 1, 0, line - 1, 0);
  return vscode.window.showTextDocument(document, { selection: at, preview: false });
}

/** Makes an edit and saves its files, also those that no editor shows. */
export async function applyAndSave(edit: vscode.WorkspaceEdit): Promise<void> {
  if (!(await vscode.workspace.applyEdit(edit))) throw new Error('the edit was not made');
  for (const [uri] of edit.entries()) {
    const document = await vscode.workspace.openTextDocument(uri);
    // The editor saves what a refactoring changed by itself, unless a person wants it otherwise.
    // Nothing is saved while the editor is at it.
    await eventually(async () => {
      if (document.isDirty && !(await document.save()) && document.isDirty)
        throw new Error(`${uri.fsPath} was not saved`);
    });
  }
}

/** Repeats an attempt until it holds, for ten seconds at most; then its own error is the failure. */
export async function eventually(attempt: () => void | Promise<void>): Promise<void> {
  const end = Date.now() + 10_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((later) => setTimeout(later, 50));
    }
  }
}
