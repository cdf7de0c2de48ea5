import { cpSync, existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { Context } from './commandLine/context.ts';
import { showLater } from './firstScreen.ts';
import { showErrorMessage } from './workspace/messages.ts';
import { tick } from './workspace/walkthrough.ts';

/**
 * Copies a sample domain of the extension into a folder that the person chooses, and opens it at a task.
 * @returns the copy's folder, or undefined when the person cancelled
 */
export async function openSample(context: Context): Promise<string | undefined> {
  const samples = samplesOf(context);
  const [{ domainTemplates }, { failingTasks }] = await Promise.all([
    import('../authoring/domains/domainTemplate.ts'),
    import('../authoring/domains/sampleTasks.ts'),
  ]);
  const items = domainTemplates(samples).map(({ name, description }) => ({
    label: name,
    description: failingTasks[name] === undefined ? '' : 'start with this one',
    detail: description,
  }));
  const name = (await vscode.window.showQuickPick(items, { placeHolder: 'Which sample domain?' }))?.label;
  return name ? copySample(context, name) : undefined;
}

const samplesOf = ({ extension }: Context): string => join(extension.extensionPath, 'domains');

async function copySample(context: Context, name: string): Promise<string | undefined> {
  const [parent] =
    (await vscode.window.showOpenDialog({
      canSelectFiles: false,
      canSelectFolders: true,
      openLabel: 'Copy Here',
      title: `Folder in which to create the folder ${name}`,
    })) ?? [];
  if (!parent) return undefined;
  const target = join(parent.fsPath, name);
  if (existsSync(target)) {
    const open = 'Open It';
    const another = 'Choose Another Folder…';
    const chosen = await showErrorMessage(`${basename(parent.fsPath)} already has a folder ${name}.`, open, another);
    if (chosen === another) return copySample(context, name);
    if (chosen !== open) return undefined;
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(target));
    return target;
  }
  cpSync(join(samplesOf(context), name), target, { recursive: true });
  await tick('sample');
  await showLater(context.extension, target, name);
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(target));
  return target;
}
