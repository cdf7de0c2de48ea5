import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import type { Intent } from '../../authoring/drafts/intents.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { runOrTell } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { runPlaces } from '../runs/runPlaces.ts';
import { recordingOf } from '../views/runCommands.ts';
import { showInformationMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';

type IntentNode = { readonly type: 'intent'; readonly intent: Intent };
type ConversationNode = { readonly type: 'conversation'; readonly recording: string };
/** A row of the Intents view. */
export type IntentsNode = IntentNode | ConversationNode;

const changed = new vscode.EventEmitter<void>();
let intents: readonly Intent[] = [];

/** Returns what real users ask for, with the tasks that try it; a person fills it by Show Intents. */
export function registerIntentsTree(): vscode.Disposable {
  const provider: vscode.TreeDataProvider<IntentsNode> = {
    onDidChangeTreeData: changed.event,
    getChildren: (node) => {
      if (!node) return intents.map((intent): IntentsNode => ({ type: 'intent', intent }));
      const own = node.type === 'intent' ? node.intent.requests : [];
      return own.map((recording): IntentsNode => ({ type: 'conversation', recording }));
    },
    getTreeItem: (node) => (node.type === 'intent' ? intentItem(node) : conversationItem(node)),
  };
  return vscode.window.registerTreeDataProvider('rehearsal.intents', provider);
}

function intentItem({ intent }: IntentNode): vscode.TreeItem {
  const { label, requests, tasks, example } = intent;
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  const covering = tasks.length === 0 ? 'no task' : counted(tasks.length, 'task');
  item.description = `${counted(requests.length, 'conversation')}, ${covering}`;
  item.tooltip = `“${example.text}”\n${tasks.length === 0 ? 'No task tries this.' : `Tried by ${tasks.join(', ')}`}`;
  item.iconPath =
    tasks.length === 0
      ? new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'))
      : new vscode.ThemeIcon('pass');
  item.contextValue = tasks.length === 0 ? 'intent.open' : 'intent';
  item.accessibilityInformation = { label: `${label}, ${item.description}` };
  return item;
}

function conversationItem({ recording }: ConversationNode): vscode.TreeItem {
  const item = new vscode.TreeItem(basename(recording).replace(/\.\d+\.traj\.jsonl$/, ''));
  item.iconPath = new vscode.ThemeIcon('comment-discussion');
  item.tooltip = recording;
  item.accessibilityInformation = { label: String(item.label) };
  item.contextValue = 'conversation';
  item.command = { command: 'rehearsal.recording.open', title: 'Open Recording', arguments: [recording] };
  return item;
}

/**
 * Works out which intents of real conversations the tasks cover, and shows them.
 * @param target the folder of a run, a recording of it, or nothing for the newest imported run
 */
export async function showIntents(context: Context, target: unknown): Promise<readonly Intent[] | undefined> {
  if (!mayRun('The tools of a domain')) return undefined;
  const run = folderOf(target) ?? (await newestImport());
  if (run === undefined) {
    const pressed = 'Import Conversations…';
    const message = 'No conversations were imported into this workspace yet.';
    const chosen = await showInformationMessage(message, pressed);
    if (chosen === pressed) await vscode.commands.executeCommand('rehearsal.chats.import');
    return undefined;
  }
  const end = await runOrTell(context, 'Rehearsal: looking for intents without a task', ['coverage', 'chats', run]);
  if (!end) return undefined;
  intents = (end.answer['intents'] ?? []) as readonly Intent[];
  changed.fire();
  await vscode.commands.executeCommand('rehearsal.intents.focus');
  return intents;
}

function folderOf(target: unknown): string | undefined {
  const recording = recordingOf(target);
  if (recording?.endsWith('.traj.jsonl')) return dirname(recording);
  return recording ?? (target as { readonly type?: string; readonly folder?: string } | undefined)?.folder;
}

/** The newest run of the workspace that was not rehearsed but imported. */
async function newestImport(): Promise<string | undefined> {
  const { readRunSummary, runFoldersIn } = await import('../runs/runFolder.ts');
  for (const folder of await runFoldersIn(await runPlaces())) {
    const { file } = await readRunSummary(folder);
    if (file?.agent === 'recorded') return folder;
  }
  return undefined;
}
