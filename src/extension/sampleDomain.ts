import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Context } from './commandLine/context.ts';
import { showLater } from './firstScreen.ts';
import { showErrorMessage } from './workspace/messages.ts';
import { tick } from './workspace/walkthrough.ts';

/**
 * Copies a sample domain of the extension into a folder that the person chooses, and opens it at a task.
 * @returns the copy's folder, or undefined when the person cancelled
 */
export async function openSample({ extension }: Context): Promise<string | undefined> {
  const samples = join(extension.extensionPath, 'domains');
  const { domainTemplates } = await import('../authoring/domains/domainTemplate.ts');
  const items = domainTemplates(samples).map(({ name, description }) => ({ label: name, detail: description }));
  const name = (await vscode.window.showQuickPick(items, { placeHolder: 'Which sample domain?' }))?.label;
  if (!name) return undefined;
  const [parent] =
    (await vscode.window.showOpenDialog({
      canSelectFiles: false,
      canSelectFolders: true,
      openLabel: 'Copy Here',
      title: `Folder to copy ${name} into`,
    })) ?? [];
  if (!parent) return undefined;
  const target = join(parent.fsPath, name);
  if (existsSync(target)) {
    void showErrorMessage(`${target} exists already: choose another folder, or open that one.`);
    return undefined;
  }
  cpSync(join(samples, name), target, { recursive: true });
  await tick('sample');
  await showLater(extension, target, name);
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(target));
  return target;
}
