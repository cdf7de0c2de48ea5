import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Context } from './context.ts';

/** The task of a sample domain that fails in a well-known way, by the name of the domain's folder among the samples. */
const failingTasks: Readonly<Record<string, string>> = { 'order-desk': join('tasks', 'lamp-variant.task.yaml') };

const walkthrough = 'firstMinutes';
const isShown = 'rehearsal.firstScreen';

/**
 * Opens the failing task of a sample domain, with the walkthrough next to it. Does so once for each workspace, and only if
 * no editor is open and `workbench.startupEditor` allows a start page.
 */
export async function showFirstScreen({ extension }: Pick<Context, 'extension'>): Promise<void> {
  const task = failingTaskIn(extension.extensionPath);
  if (task === undefined || extension.workspaceState.get(isShown)) return;
  if (vscode.workspace.getConfiguration('workbench').get('startupEditor') === 'none') return;
  if (vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(({ input }) => input !== undefined))) return;
  await extension.workspaceState.update(isShown, true);
  await vscode.window.showTextDocument(vscode.Uri.file(task), { preview: false });
  await vscode.commands.executeCommand(
    'workbench.action.openWalkthrough',
    { category: `${extension.extension.id}#${walkthrough}` },
    true,
  );
}

/** Returns the failing task in the one folder of the window, if that is an unchanged copy of a sample domain. */
function failingTaskIn(extensionPath: string): string | undefined {
  const [folder, ...others] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined || others.length > 0) return undefined;
  return Object.entries(failingTasks)
    .map(([sample, task]) => [join(extensionPath, 'domains', sample, task), join(folder.uri.fsPath, task)] as const)
    .find(([shipped, own]) => existsSync(own) && readFileSync(own, 'utf8') === readFileSync(shipped, 'utf8'))?.[1];
}
