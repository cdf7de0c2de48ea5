import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { nameOf } from '../../engine/shell/records/recordingName.ts';
import { failureMessage, runWithProgress } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { trajectoryEditorType } from '../panels/trajectoryEditor.ts';
import { runPlaces } from '../runs/runPlaces.ts';
import { activeFile } from '../workspace/activeFile.ts';
import { showErrorMessage, showInformationMessage, showWarningMessage } from '../workspace/messages.ts';
import { columnOfFile } from '../workspace/walkthrough.ts';
import { pickRecording } from './recordingPicker.ts';
import { type RecordingNode, type RunNode, type RunsNode, refreshRuns } from './runsTree.ts';

/** The recording that a command is about: a file's address, its path, or a row of the Runs view. */
export function recordingOf(target: unknown): string | undefined {
  if (target instanceof vscode.Uri) return target.fsPath;
  if (typeof target === 'string') return target;
  const node = target as Partial<RecordingNode> | undefined;
  return node?.type === 'recording' ? node.rollout?.recording : undefined;
}

/** Opens a recording in the Trajectory view. */
export async function openRecording(target: unknown, column?: unknown): Promise<boolean> {
  const recording = recordingOf(target);
  if (!recording) return false;
  await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(recording), trajectoryEditorType, {
    viewColumn: typeof column === 'number' ? column : columnOfFile(),
    preview: true,
  });
  return true;
}

/**
 * Compares runs: those that are selected in the view, or those that a person picks.
 * @returns their folders, or undefined where there were too few
 */
export async function compareRuns(
  context: Context,
  target: unknown,
  selected: unknown,
): Promise<readonly string[] | undefined> {
  const chosen = await fromOldest(foldersOf(target, selected));
  const folders = chosen.length > 1 ? chosen : await pickRuns(chosen);
  if (!folders) return undefined;
  if (folders.length < 2) {
    void offerRecordings('Select two runs or more to compare them.');
    return undefined;
  }
  const { openComparison } = await import('../panels/comparisonPanel.ts');
  openComparison(context, folders);
  return folders;
}

function foldersOf(target: unknown, selected: unknown): readonly string[] {
  const nodes = Array.isArray(selected) && selected.length > 0 ? selected : [target];
  return nodes.flatMap((each: RunNode | string | undefined) =>
    typeof each === 'string' ? [each] : each?.type === 'run' ? [each.folder] : [],
  );
}

/** A comparison reads from the older run to the newer one, in whatever order they were selected. */
async function fromOldest(chosen: readonly string[]): Promise<readonly string[]> {
  if (chosen.length < 2) return chosen;
  const { runFoldersIn } = await import('../runs/runFolder.ts');
  const newestFirst = await runFoldersIn([...new Set(chosen.map((folder) => dirname(folder)))]);
  return [...chosen].sort((one, other) => newestFirst.indexOf(other) - newestFirst.indexOf(one));
}

async function pickRuns(chosen: readonly string[]): Promise<readonly string[] | undefined> {
  const [{ readRunSummary, runFoldersIn }, { runRow }] = await Promise.all([
    import('../runs/runFolder.ts'),
    import('../runs/rows.ts'),
  ]);
  const folders = (await runFoldersIn(await runPlaces())).slice(0, 200);
  const summaries = (await Promise.all(folders.map(readRunSummary))).filter(({ file }) => file !== null);
  if (summaries.length < 2) {
    void offerRecordings('There are fewer than two runs in this workspace. Run or debug a task to make one.');
    return undefined;
  }
  const items = summaries.map((summary) => {
    const { label, description } = runRow(summary, (time) => time.toLocaleString());
    return { label, description, folder: summary.folder, picked: chosen.includes(summary.folder) };
  });
  const picked = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    title: 'Compare Runs with the Oldest',
    placeHolder: 'Select two or more runs. For a fork: Compare Recordings…',
    matchOnDescription: true,
  });
  return picked && fromOldest(picked.map(({ folder }) => folder));
}

/** A fork is in the run of its original, so two runs are not what compares them. */
async function offerRecordings(problem: string): Promise<void> {
  const action = 'Compare Recordings…';
  const hint = 'A fork belongs to the run of its original: compare those two recordings.';
  if ((await showInformationMessage(`${problem} ${hint}`, action)) === action)
    await vscode.commands.executeCommand('rehearsal.recordings.compare');
}

/** The recording that waits for another one to be compared with. */
let waiting: string | undefined;

/** Remembers a recording, and shows the command that compares another one with it. */
export async function selectRecording(target: unknown): Promise<string | undefined> {
  waiting = recordingOf(target);
  await vscode.commands.executeCommand('setContext', 'rehearsal.recordingSelected', waiting !== undefined);
  if (waiting) vscode.window.setStatusBarMessage(`$(check) ${nameOf(waiting)} is selected for comparing`, 4000);
  return waiting;
}

/**
 * Compares two recordings: two that are named, the selected ones, or one with that which was selected before.
 * @returns their paths, or undefined where there was only one
 */
export async function compareRecordings(
  context: Context,
  target: unknown,
  other: unknown,
): Promise<readonly [string, string] | undefined> {
  const named = (Array.isArray(other) ? other : [target, other]).flatMap((each) => recordingOf(each) ?? []);
  const given = named.length > 0 ? named : [activeFile()].filter((file) => file?.endsWith('.traj.jsonl'));
  if (given.length > 2) {
    void showInformationMessage('Select exactly two recordings to compare.');
    return undefined;
  }
  const [one, second] = given.length === 1 && waiting && waiting !== given[0] ? [waiting, given[0]] : given;
  const first = one ?? (await pickRecording('Which recording do you want to compare?'));
  if (!first) return undefined;
  const picked = second ?? (await pickRecording(`Compare ${nameOf(first)} with…`, first));
  if (!picked) return undefined;
  const { openComparison } = await import('../panels/comparisonPanel.ts');
  const { comparisonOrder } = await import('./recordingOrder.ts');
  const ordered = comparisonOrder([first, picked], { areTogether: given.length === 2 });
  openComparison(context, ordered);
  return ordered;
}

/** Moves runs to the trash, after a question. */
export async function deleteRuns(target: unknown, selected: unknown): Promise<boolean> {
  const folders = foldersOf(target, selected);
  const [first] = folders;
  if (first === undefined) return false;
  const what = folders.length === 1 ? basename(first) : `${folders.length} runs`;
  const detail = 'This also deletes its recordings. You can no longer verify, replay or compare them.';
  const chosen = await showWarningMessage(`Move ${what} to the trash?`, { modal: true, detail }, 'Move to Trash');
  if (chosen === undefined) return false;
  for (const folder of folders) if (!(await removed(folder))) return false;
  refreshRuns();
  return true;
}

/** A machine without a trash is asked about once more. */
async function removed(folder: string): Promise<boolean> {
  const uri = vscode.Uri.file(folder);
  try {
    await vscode.workspace.fs.delete(uri, { recursive: true, useTrash: true });
    return true;
  } catch (error) {
    const forever = 'Delete Permanently';
    const chosen = await showWarningMessage(
      `${basename(folder)} can’t be moved to the trash: ${messageOf(error)}`,
      { modal: true },
      forever,
    );
    if (chosen !== forever) return false;
    await vscode.workspace.fs.delete(uri, { recursive: true });
    return true;
  }
}

/** Shows a run or a recording where the system keeps it; in a browser, in the explorer. */
export async function reveal(target: unknown): Promise<boolean> {
  const node = target as RunsNode | undefined;
  const path = node?.type === 'run' ? node.folder : node?.type === 'training' ? node.run.folder : recordingOf(target);
  if (!path) return false;
  const uri = vscode.Uri.file(path);
  const command = vscode.env.uiKind === vscode.UIKind.Web ? 'revealInExplorer' : 'revealFileInOS';
  await vscode.commands.executeCommand(command, uri);
  return true;
}

/** Opens the report of a run, measured again, as a page. */
export async function openReport(context: Context, target: unknown): Promise<string | undefined> {
  const [run] = foldersOf(target, undefined);
  if (!run) return undefined;
  const folder = join(context.extension.globalStorageUri.fsPath, 'reports');
  mkdirSync(folder, { recursive: true });
  const page = join(folder, `${basename(run)}.html`);
  const title = `Rehearsal: measuring ${basename(run)}`;
  const end = await runWithProgress(context, title, ['report', run, '--html', page]);
  if (end.isCancelled) return undefined;
  if (!('metrics' in end.answer)) {
    void showErrorMessage(`The report can’t be made: ${failureMessage(end, 'the command')}`);
    return undefined;
  }
  const panel = vscode.window.createWebviewPanel(
    'rehearsal.report',
    `Report of ${basename(run)}`,
    vscode.ViewColumn.Active,
    { enableScripts: false, localResourceRoots: [] },
  );
  panel.webview.html = readBoundedText(page);
  return page;
}
