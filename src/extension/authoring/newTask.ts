import * as vscode from 'vscode';
import { counted } from '../../engine/core/text/counted.ts';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { nameOf } from '../../engine/shell/records/recordingName.ts';
import { type CommandEnd, runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import type { DomainNode, TaskNode } from '../views/domainsTree.ts';
import { pickRecording } from '../views/recordingPicker.ts';
import { recordingOf } from '../views/runCommands.ts';
import { activeFile, cursorLine } from '../workspace/activeFile.ts';
import { pickTask } from '../workspace/pickTask.ts';
import { mayRun } from '../workspace/trust.ts';
import { domainAtHand, domainOfRecording, taskAt } from '../workspace/workspaceDomains.ts';
import { askModel, type Drafted, nothingDrafted, openAt, tellDrafted } from './drafting.ts';

/**
 * Drafts a task of a recording and opens it unsaved, so that it is read before it is kept.
 * @returns the path that it is saved under, or undefined if it is not saved
 */
export async function taskFromRecording(context: Context, target: unknown): Promise<string | undefined> {
  if (!mayRun('The tools of a domain')) return undefined;
  const shown = activeFile();
  const open = shown?.endsWith('.traj.jsonl') ? shown : undefined;
  const recording = recordingOf(target) ?? open ?? (await pickRecording('Which recording becomes a task?'));
  if (!recording) return undefined;
  const domain = await domainOfRecording(recording).catch(() => undefined);
  const named = domain === undefined ? [] : ['--domain', domain];
  const title = `Rehearsal: drafting a task of ${nameOf(recording)}`;
  const end = await runOrTell(context, title, ['draft', 'task', recording, '--print', ...named], nothingDrafted);
  if (!end) return undefined;
  const { file, text, drafts } = end.answer as unknown as Drafted;
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file).with({ scheme: 'untitled' }));
  const editor = await vscode.window.showTextDocument(document);
  await editor.edit((edit) => edit.replace(new vscode.Range(0, 0, document.lineCount, 0), text));
  const next = 'Save it, and accept it with the light bulb at draft: true.';
  tellDrafted(context, drafts, `The audit finds nothing in this draft. ${next}`);
  return file;
}

/** The task that a command is about: a row of the tree, a file, or what the active editor shows. */
async function taskOf(target: unknown): Promise<{ readonly folder: string; readonly task: string } | undefined> {
  const node = target as TaskNode | undefined;
  if (node?.type === 'task') return { folder: node.folder, task: node.task };
  const file = target instanceof vscode.Uri ? target.fsPath : activeFile();
  const open = file?.endsWith('.task.yaml') ? domainFolderOf(file) : undefined;
  const folder = open ?? (await domainAtHand());
  if (!folder) return undefined;
  const here = file && open ? await taskAt(file, cursorLine(file)) : undefined;
  if (here !== undefined) return { folder, task: here };
  const task = await pickTask(folder, 'Variants of which task?');
  return task === undefined ? undefined : { folder, task };
}

/** Drafts variants of a task into their own file. Gives the file. */
export async function taskVariants(context: Context, target: unknown): Promise<string | undefined> {
  if (!mayRun('The tools of a domain')) return undefined;
  const chosen = await taskOf(target);
  if (!chosen) return undefined;
  const count = await vscode.window.showInputBox({
    title: `Variants of ${chosen.task}`,
    prompt: 'How many? Drafts with audit findings are left out.',
    value: '5',
    validateInput: (text) =>
      /^(?:[1-9]\d?|100)$/.test(text.trim()) ? undefined : 'A number from 1 to 100 is expected.',
  });
  if (count === undefined) return undefined;
  const model = await askModel(context, 'the same request about other rows of the database');
  if (!model) return undefined;
  const args = ['draft', 'variants', chosen.folder, chosen.task, '--count', count.trim(), ...model];
  const title = `Rehearsal: drafting variants of ${chosen.task}`;
  return opened(context, await runOrTell(context, title, args, nothingDrafted));
}

/** Drafts a persona that the domain does not have. Gives its file. */
export async function generatePersona(context: Context, target: unknown): Promise<string | undefined> {
  if (!mayRun('The tools of a domain')) return undefined;
  const node = target as Partial<DomainNode> | undefined;
  const folder = node?.folder ?? (await domainAtHand());
  if (!folder) return undefined;
  const model = await askModel(context, 'a style and one or two hard behaviors, drawn by seed');
  if (!model) return undefined;
  const words =
    model.length === 0
      ? ''
      : await vscode.window.showInputBox({
          title: 'Describe the Persona',
          placeHolder: 'for example: a carer who is unsure of the details',
          prompt: 'In your words, or leave empty for a persona that the domain does not have yet',
          ignoreFocusOut: true,
        });
  if (words === undefined) return undefined;
  const args = ['draft', 'persona', folder, ...model, ...(words.trim() === '' ? [] : ['--words', words])];
  return opened(context, await runOrTell(context, 'Rehearsal: drafting a persona', args, nothingDrafted));
}

async function opened(context: Context, end: CommandEnd | undefined): Promise<string | undefined> {
  if (!end) return undefined;
  const { file, drafts } = end.answer as unknown as Drafted;
  await openAt(file);
  const fewer = end.code === 1 && end.message ? ` (${end.message})` : '';
  tellDrafted(context, drafts, madeText(drafts, fewer));
  return file;
}

/**
 * Says what was drafted, and what to do with it.
 * @param more a remark behind the number of drafts
 */
export function madeText(drafts: Drafted['drafts'], more = ''): string {
  const next =
    drafts.length === 1 ? 'Review it, and accept it if it is correct.' : 'Review them, and accept the correct ones.';
  return `Drafted ${counted(drafts.length, drafts[0]?.kind ?? 'task')}${more}. ${next}`;
}
