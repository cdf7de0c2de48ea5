import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';

/** The copy of the sample domain that the host has open as its workspace. */
export function orderDesk(): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!folder) throw new Error('no folder is open');
  return folder;
}

export type DomainCopy = { readonly folder: string; readonly remove: () => void };

/** A copy of a sample domain outside the workspace, so that a test may break it. */
export function copyOf(name: string): DomainCopy {
  const parent = mkdtempSync(join(tmpdir(), 'rehearsal-host-'));
  const folder = join(parent, name);
  const isKept = (path: string) => !path.includes('.rehearsal');
  const { extensionPath = '' } = vscode.extensions.getExtension('rehearsal.rehearsal') ?? {};
  cpSync(join(extensionPath, 'domains', name), folder, { recursive: true, filter: isKept });
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A copy of the sample domain that the host has open. */
export const copyOfDesk = () => copyOf('order-desk');

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

/** Repeats an attempt until it holds, for ten seconds unless told otherwise; then its own error is the failure. */
export async function eventually(attempt: () => void | Promise<void>, timeoutMs = 10_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((later) => setTimeout(later, 50));
    }
  }
}
