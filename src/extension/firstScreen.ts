import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { failingTasks, taskFile } from '../authoring/domains/sampleTasks.ts';
import type { Context } from './commandLine/context.ts';
import { tick } from './workspace/walkthrough.ts';

const walkthrough = 'firstMinutes';
/** The step of the walkthrough that is about the task. */
const step = 'debug';
/** The task has more room than the walkthrough next to it. */
const layout = { orientation: 0, groups: [{ size: 0.72 }, { size: 0.28 }] };
const isShown = 'rehearsal.firstScreen';

const openedKey = 'rehearsal.openedSample';

/** The folder of a sample domain that was opened by the command, and the task that its window shows first. */
type OpenedSample = { readonly folder: string; readonly task: string };

/** Makes the window that opens a copy of a sample domain show a task: one that fails in a well-known way, if there is one. */
export async function showLater(
  { globalState }: Pick<vscode.ExtensionContext, 'globalState'>,
  folder: string,
  sample: string,
): Promise<void> {
  const opened: OpenedSample = { folder, task: taskFile(failingTasks[sample] ?? 'train') };
  await globalState.update(openedKey, opened);
}

/**
 * Opens a task of a sample domain, with the walkthrough next to it: in the window of a copy that was just made, and once for
 * each workspace that is a copy with a failing task, if no editor is open and `workbench.startupEditor` allows a start page.
 */
export async function showFirstScreen({ extension }: Pick<Context, 'extension'>): Promise<void> {
  const task = (await taskOfOpenedSample(extension)) ?? (await failingTask(extension));
  if (task === undefined) return;
  await extension.workspaceState.update(isShown, true);
  const uri = vscode.Uri.file(task);
  await vscode.window.showTextDocument(uri, { preview: false });
  const category = `${extension.extension.id}#${walkthrough}`;
  const shown = untilGroupAdded();
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', { category, step }, true);
  await shown;
  await tick('sample');
  await vscode.commands.executeCommand('vscode.setEditorLayout', layout);
  // The walkthrough takes the focus, and VS Code asks for the lenses of a text only while that has the focus.
  await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.One, preview: false });
}

async function taskOfOpenedSample({ globalState }: vscode.ExtensionContext): Promise<string | undefined> {
  const opened = globalState.get<OpenedSample>(openedKey);
  if (!opened || vscode.workspace.workspaceFolders?.[0]?.uri.fsPath !== opened.folder) return undefined;
  await globalState.update(openedKey, undefined);
  return join(opened.folder, opened.task);
}

async function failingTask({ workspaceState, extensionPath }: vscode.ExtensionContext): Promise<string | undefined> {
  if (workspaceState.get(isShown)) return undefined;
  if (vscode.workspace.getConfiguration('workbench').get('startupEditor') === 'none') return undefined;
  const isOpen = vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(({ input }) => input !== undefined));
  return isOpen ? undefined : failingTaskIn(extensionPath);
}

/** Resolves when there is another group of editors, since the command that opens a walkthrough ends before it is open. */
function untilGroupAdded(): Promise<void> {
  return new Promise((resolve) => {
    const listening = vscode.window.tabGroups.onDidChangeTabGroups(({ opened }) => {
      if (opened.length === 0) return;
      listening.dispose();
      resolve();
    });
  });
}

/** Returns the failing task in the one folder of the window, if that is an unchanged copy of a sample domain. */
async function failingTaskIn(extensionPath: string): Promise<string | undefined> {
  const [folder, ...others] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined || others.length > 0) return undefined;
  const [found] = Object.entries(failingTasks)
    .map(([sample, task]) => {
      const file = taskFile(task);
      return [join(extensionPath, 'domains', sample, file), join(folder.uri.fsPath, file)] as const;
    })
    .filter(([, own]) => existsSync(own));
  if (found === undefined) return undefined;
  const { readBoundedText } = await import('../engine/shell/files/boundedFile.ts');
  const [shipped, own] = found;
  try {
    return readBoundedText(own) === readBoundedText(shipped) ? own : undefined;
  } catch {
    // A file that is not a regular one, or is too large, is not the one that was shipped.
    return undefined;
  }
}
