import { basename } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../engine/shell/fault.ts';
import { activeFile, cursorLine } from './activeFile.ts';
import { type Context, keyName } from './context.ts';
import { type CommandTable, debugType } from './contributions.ts';
import { showRequest } from './debug/exactRequest.ts';
import { importBenchmark } from './importBenchmark.ts';
import { openSample } from './sampleDomain.ts';
import { type TrainingRun, trainingRuns } from './training/runFolders.ts';
import { startTraining, stopTraining, type TrainingChoice, type TrainingKind } from './training/training.ts';
import { mayRun } from './trust.ts';
import type { DomainNode, TaskNode } from './views/domainsTree.ts';
import { domainFolderOf, pickDomain, readDomain, taskAt } from './workspaceDomains.ts';

/** What each command does. Every command returns a value, so that tests and tasks can use it. */
export function commandTable(context: Context): CommandTable {
  return {
    'rehearsal.task.debug': (target) => debugTask(target, false),
    'rehearsal.task.run': (target) => debugTask(target, true),
    'rehearsal.domain.check': (target) => check(context, target),
    'rehearsal.recording.debug': (target) => debugRecording(target),
    'rehearsal.request.show': (target) => showRequest(target),
    'rehearsal.training.sft': (choice) => train(context, 'sft', choice),
    'rehearsal.training.grpo': (choice) => train(context, 'grpo', choice),
    'rehearsal.training.dashboard': async (target) =>
      showDashboard(context, runFolderOf(target) ?? (await trainingRuns())[0]?.folder),
    'rehearsal.training.stop': (target) => stopTraining(runFolderOf(target)),
    'rehearsal.sample.open': () => openSample(context),
    'rehearsal.benchmark.import': () => importBenchmark(context),
    'rehearsal.model.key': () => setKey(context),
    'rehearsal.log.show': () => context.log.show(),
  };
}

async function train(context: Context, kind: TrainingKind, choice: unknown): Promise<string | undefined> {
  return startTraining(context, kind, (choice ?? {}) as TrainingChoice, (run) => showDashboard(context, run));
}

async function showDashboard(context: Context, run: string | undefined): Promise<string | null> {
  const { openTrainingDashboard } = await import('./views/trainingDashboard.ts');
  return openTrainingDashboard(context, run);
}

/** A run's folder as the dashboard names it, or the run that a tree's row stands for. */
function runFolderOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  return (target as Partial<TrainingRun> | undefined)?.folder;
}

async function debugTask(target: unknown, noDebug: boolean): Promise<boolean> {
  if (!mayRun('Rollouts')) return false;
  const chosen = await taskOf(target);
  const folder = chosen && vscode.workspace.getWorkspaceFolder(vscode.Uri.file(chosen.domain));
  const configuration = { type: debugType, request: 'launch', name: chosen?.task ?? 'Rehearsal', ...chosen };
  return vscode.debug.startDebugging(folder, configuration, { noDebug, suppressDebugView: noDebug });
}

async function taskOf(target: unknown): Promise<{ readonly domain: string; readonly task: string } | undefined> {
  const node = target as TaskNode | undefined;
  if (node?.type === 'task') return { domain: node.folder, task: node.task };
  const file = target instanceof vscode.Uri ? target.fsPath : activeFile();
  const domain = file && domainFolderOf(file);
  if (!domain || !file) return undefined;
  const task = taskAt(await readDomain(domain), file, cursorLine(file));
  return task ? { domain, task } : undefined;
}

async function debugRecording(target: unknown): Promise<boolean> {
  if (!mayRun('Debug sessions')) return false;
  const shown = activeFile();
  const open = shown?.endsWith('.traj.jsonl') ? shown : undefined;
  const given = target instanceof vscode.Uri ? target.fsPath : typeof target === 'string' ? target : open;
  const recording = given ?? (await pickRecording());
  if (!recording) return false;
  return vscode.debug.startDebugging(undefined, {
    type: debugType,
    request: 'attach',
    name: basename(recording),
    recording,
  });
}

async function pickRecording(): Promise<string | undefined> {
  const files = await vscode.workspace.findFiles('**/*.traj.jsonl', undefined, 500);
  const items = files
    .map((uri) => ({ label: vscode.workspace.asRelativePath(uri), path: uri.fsPath }))
    .sort((a, b) => b.label.localeCompare(a.label));
  if (items.length === 0) {
    void vscode.window.showInformationMessage('No recordings yet: run a task first.');
    return undefined;
  }
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Which recording?' }))?.path;
}

async function check(context: Context, target: unknown): Promise<number | undefined> {
  const given =
    target instanceof vscode.Uri ? domainFolderOf(target.fsPath) : (target as DomainNode | undefined)?.folder;
  const folder = given ?? (await pickDomain());
  if (!folder) return undefined;
  const { checkDomain } = await import('./language/domainCheck.ts');
  try {
    const checked = await checkDomain(context, folder);
    if (!checked) return undefined;
    const { name, tasks, diagnostics, isComplete } = checked;
    const only = isComplete
      ? ''
      : ' Only its files were read: its tools are programs, and this workspace is not trusted.';
    if (diagnostics.length > 0) await vscode.commands.executeCommand('workbench.panel.markers.view.focus');
    else void vscode.window.showInformationMessage(`${name}: ${tasks} tasks, no findings.${only}`);
    return diagnostics.length;
  } catch (error) {
    void vscode.window.showErrorMessage(`The domain can't be checked: ${messageOf(error)}`);
    return undefined;
  }
}

async function setKey(context: Context): Promise<boolean> {
  const value = await vscode.window.showInputBox({
    title: 'Key of the model endpoint',
    password: true,
    ignoreFocusOut: true,
    placeHolder: 'Kept in secret storage. Leave empty to remove it.',
  });
  if (value === undefined) return false;
  await (value === '' ? context.extension.secrets.delete(keyName) : context.extension.secrets.store(keyName, value));
  return true;
}
