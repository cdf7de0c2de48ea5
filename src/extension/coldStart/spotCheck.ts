import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { agreementText } from '../../synthesis/agreement.ts';
import type { Checked, SpotCheck } from '../../synthesis/spotCheck.ts';
import { pickSynthesis } from '../runs/synthFolders.ts';
import { openRecording, recordingOf } from '../views/runCommands.ts';
import { activeFile } from '../workspace/activeFile.ts';
import { offerCommand, showInformationMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { sampleSizeOf } from './sampleSize.ts';

/** A row of the Spot Check view: one rollout of the sample. */
export type CheckedNode = { readonly type: 'checked'; readonly recording: string; readonly checked: Checked };

const changed = new vscode.EventEmitter<void>();
let view: vscode.TreeView<CheckedNode> | undefined;
let folder: string | undefined;
let nodes: readonly CheckedNode[] = [];

/** The rollouts of a synthesis that a person looks at, with what was decided; filled by Spot-Check. */
export function registerSpotCheck(): vscode.Disposable {
  const treeDataProvider: vscode.TreeDataProvider<CheckedNode> = {
    onDidChangeTreeData: changed.event,
    getChildren: (node) => (node ? [] : [...nodes]),
    getParent: () => undefined,
    getTreeItem: itemOf,
  };
  view = vscode.window.createTreeView('rehearsal.spotCheck', { treeDataProvider });
  const settings = vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration('rehearsal.synth.spotCheckSize')) void refreshSpotCheck();
  });
  return vscode.Disposable.from(view, settings);
}

/**
 * Begins the spot check of a synthesis, or continues with it.
 * @param target its folder; else the one that a person picks
 * @returns how many rollouts are to be looked at
 */
export async function startSpotCheck(target: unknown): Promise<number | undefined> {
  const chosen = typeof target === 'string' ? target : await pickSynthesis();
  if (!chosen) return undefined;
  folder = chosen;
  await vscode.commands.executeCommand('setContext', 'rehearsal.spotChecking', true);
  await refreshSpotCheck();
  await vscode.commands.executeCommand('rehearsal.spotCheck.focus');
  await openNext();
  return nodes.length;
}

/** Reads the queue again, where there is one, and shows how far it is. */
export async function refreshSpotCheck(): Promise<void> {
  if (folder === undefined) return;
  const { spotCheckOf } = await import('../../synthesis/spotCheck.ts');
  const size = sampleSizeOf(vscode.workspace.getConfiguration('rehearsal').get('synth.spotCheckSize'));
  const check = spotCheckOf(folder, size, '1');
  nodes = check.queue.map((checked) => ({
    type: 'checked',
    recording: join(folder ?? '', checked.row.recording),
    checked,
  }));
  if (view) view.message = messageOf(check);
  changed.fire();
}

function messageOf({ queue, agreement }: SpotCheck): string {
  const done = queue.filter(({ decision }) => decision !== null).length;
  return `${done} of ${queue.length} checked. ${agreementText(agreement)}.`;
}

/** Opens the first rollout that was not decided about. */
async function openNext(): Promise<void> {
  const next = nodes.find(({ checked }) => checked.decision === null);
  if (!next) {
    const message = 'Every trajectory of the sample is checked. Export those that you accepted.';
    void offerCommand(message, 'Export…', 'rehearsal.synth.export', folder);
    return;
  }
  await view?.reveal(next, { select: true, focus: false });
  await openRecording(next.recording);
}

/** The row that a command means: the one given, else the recording in the editor, else what is selected. */
function nodeOf(target: unknown): CheckedNode | undefined {
  const given = (target as Partial<CheckedNode> | undefined)?.type === 'checked' ? (target as CheckedNode) : undefined;
  const open = recordingOf(target) ?? activeFile();
  return given ?? nodes.find(({ recording }) => recording === open) ?? view?.selection[0];
}

/** Accepts or rejects a rollout, and opens the next one. */
export async function decideRollout(target: unknown, decision: 'accept' | 'reject'): Promise<boolean> {
  const node = nodeOf(target);
  if (!node || folder === undefined) return notInSample();
  const { decide } = await import('../../synthesis/spotCheck.ts');
  decide(folder, node.checked.row.recording, decision);
  await refreshSpotCheck();
  await openNext();
  return true;
}

function notInSample(): false {
  void showInformationMessage('Choose a trajectory in the Spot Check view first.');
  return false;
}

/**
 * Edits a rollout by a fork: the debugger opens on it, and once it has ended, a fork that came to its end can take the
 * place of its parent. Forks that were made before are offered at once.
 */
export async function editByFork(target: unknown): Promise<boolean> {
  if (!mayRun('Debug sessions')) return false;
  const node = nodeOf(target);
  if (!node) return notInSample();
  const { forksOf } = await import('../../synthesis/spotCheck.ts');
  if (folder !== undefined && forksOf(folder, node.checked.row.recording).length > 0) return takeFork(node, true);
  return debugThenTake(node);
}

async function debugThenTake(node: CheckedNode): Promise<boolean> {
  const ended = vscode.debug.onDidTerminateDebugSession(({ configuration }) => {
    if (configuration['recording'] !== node.recording) return;
    ended.dispose();
    void takeFork(node, false);
  });
  const isStarted = await vscode.commands.executeCommand<boolean>('rehearsal.recording.debug', node.recording);
  if (!isStarted) ended.dispose();
  return isStarted;
}

/** @param isAgain whether a person may continue to make another fork */
async function takeFork(node: CheckedNode, isAgain: boolean): Promise<boolean> {
  if (folder === undefined) return false;
  const { decide, forksOf } = await import('../../synthesis/spotCheck.ts');
  const { recording } = node.checked.row;
  const forks = forksOf(folder, recording);
  if (forks.length === 0) return false;
  const another = { label: '$(debug-alt) Make another fork', fork: null };
  const items = [
    ...forks.map((fork) => ({
      label: `$(repo-forked) ${basename(fork.recording, '.traj.jsonl')}`,
      description: outcomeText(fork),
      fork,
    })),
    ...(isAgain ? [another] : []),
  ];
  const placeHolder = `Which fork takes the place of ${basename(recording, '.traj.jsonl')}?`;
  const picked = await vscode.window.showQuickPick(items, { placeHolder });
  if (!picked) return false;
  if (picked.fork === null) return debugThenTake(node);
  decide(folder, recording, 'edit', picked.fork);
  await refreshSpotCheck();
  await openNext();
  return true;
}

const outcomeText = ({ outcome, miss }: Pick<Checked['row'], 'outcome' | 'miss'>): string =>
  outcome === 'nearMiss' ? `near-miss, ${miss}` : outcome;

const icons = {
  accept: new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed')),
  reject: new vscode.ThemeIcon('error', new vscode.ThemeColor('testing.iconFailed')),
  edit: new vscode.ThemeIcon('repo-forked'),
} as const;
const words = { accept: 'accepted', reject: 'rejected', edit: 'edited' } as const;

/**
 * Returns the item of a rollout. The grader's verdict is shown only after the person has given one, so that it does not
 * influence them.
 */
function itemOf(node: CheckedNode): vscode.TreeItem {
  const { row, decision, grade } = node.checked;
  const item = new vscode.TreeItem(row.task);
  const graded = decision && grade ? `grader: ${grade.keep ? 'keep' : 'leave out'}` : '';
  const said = decision ? words[decision.decision] : 'open';
  item.id = node.recording;
  item.description = [said, outcomeText(row), row.domain, row.persona, graded].filter(Boolean).join(' · ');
  item.tooltip = [node.recording, ...(decision && grade ? [`The grader: ${grade.reason}`] : [])].join('\n');
  item.iconPath = decision ? icons[decision.decision] : new vscode.ThemeIcon('circle-outline');
  item.contextValue = 'checked';
  item.accessibilityInformation = { label: `${row.task}, ${item.description}` };
  item.command = { command: 'rehearsal.recording.open', title: 'Open', arguments: [node.recording] };
  return item;
}
