import * as vscode from 'vscode';
import { counted } from '../engine/core/text/counted.ts';
import { domainFolderOf } from '../engine/shell/domain/domainFolder.ts';
import { messageOf } from '../engine/shell/files/fault.ts';
import { nameOf } from '../engine/shell/records/recordingName.ts';
import { acceptDraft } from './authoring/acceptDraft.ts';
import { draftFromChat } from './authoring/draftChats.ts';
import { importChats } from './authoring/importChats.ts';
import { showIntents } from './authoring/intentsTree.ts';
import { newDomain } from './authoring/newDomain.ts';
import { generatePersona, taskFromRecording, taskVariants } from './authoring/newTask.ts';
import { decideRollout, editByFork, startSpotCheck } from './coldStart/spotCheck.ts';
import { approveDomain } from './commandLine/approval.ts';
import type { Context } from './commandLine/context.ts';
import { showRunning } from './commandLine/running.ts';
import { askSettings } from './debug/askSettings.ts';
import { taskInDomain } from './debug/configurationProvider.ts';
import { editReply } from './debug/editReply.ts';
import { showRequest } from './debug/exactRequest.ts';
import type { ForkNode } from './debug/forkTree.ts';
import { forkHere, forkWithChangedFiles, replay, resample, stepBack, takeOver } from './debug/rolloutActions.ts';
import { editValue } from './debug/valueFiles.ts';
import { pickEditorModel } from './editorModels/editorModels.ts';
import { openAsText, openVisual } from './editors/switching.ts';
import { importBenchmark } from './importBenchmark.ts';
import type { LanguageClient } from './language/languageClient.ts';
import { setKey } from './modelKey.ts';
import { type TrainingRun, trainingRuns } from './runs/runsOfWorkspace.ts';
import { openSample } from './sampleDomain.ts';
import { testConnection } from './testConnection.ts';
import { toggleGrouping } from './testing/settings.ts';
import { recordingOfTest } from './testing/testRecordings.ts';
import { pickCheckpointSeat } from './training/checkpoints.ts';
import { compareEvaluations } from './training/evaluations.ts';
import { runExperiment } from './training/experiments.ts';
import { exportCheckpoint } from './training/exportCheckpoint.ts';
import type { LearningKind } from './training/learning.ts';
import { fetchCheckpoint, stopTraining } from './training/runOperations.ts';
import { serveCheckpoint } from './training/serveCheckpoint.ts';
import {
  type EvaluationChoice,
  evaluateCheckpoint,
  resumeTraining,
  startTraining,
  type TrainingChoice,
  trainConfigured,
} from './training/startTraining.ts';
import { type DomainNode, isDomainRow, type TaskNode } from './views/domainsTree.ts';
import { targetRow } from './views/focusedRow.ts';
import { compareForks } from './views/forksView.ts';
import { pickRecording } from './views/recordingPicker.ts';
import {
  compareRecordings,
  compareRuns,
  deleteRuns,
  openRecording,
  openReport,
  recordingOf,
  reveal,
  selectRecording,
} from './views/runCommands.ts';
import { refreshRuns } from './views/runsTree.ts';
import { activeFile, cursorLine } from './workspace/activeFile.ts';
import { type CommandTable, debugType } from './workspace/contributions.ts';
import { showErrorMessage, showInformationMessage } from './workspace/messages.ts';
import { mayRun } from './workspace/trust.ts';
import { ticking } from './workspace/walkthrough.ts';
import { domainAtHand, taskAt } from './workspace/workspaceDomains.ts';

/** Returns what each command does. Every command returns a value, so that tests and tasks can use it. */
export function commandTable(context: Context, language: LanguageClient): CommandTable {
  return {
    'rehearsal.task.debug': (target) => debugTask(target, false),
    'rehearsal.task.run': (target) => debugTask(target, true),
    'rehearsal.task.play': (target) =>
      debugTask(target, false, { user: 'human', internalConsoleOptions: 'openOnSessionStart' }),
    'rehearsal.task.preview': (target) => debugTaskWith(context, target, pickEditorModel),
    'rehearsal.task.checkpoint': (target) => debugTaskWith(context, target, pickCheckpointSeat),
    'rehearsal.domain.check': (target) => check(context, language, target, false),
    'rehearsal.domain.audit': ticking('author', (target) => check(context, language, target, true)),
    'rehearsal.domain.approve': (target) => approveDomain(target),
    'rehearsal.recording.open': (target, column) => openRecording(target, column),
    'rehearsal.recording.select': (target) => selectRecording(target),
    'rehearsal.recordings.compare': (target, other) => compareRecordings(context, target, other),
    'rehearsal.runs.compare': (target, selected) => compareRuns(context, target, selected),
    'rehearsal.runs.refresh': () => refreshRuns(),
    'rehearsal.run.report': (target) => openReport(context, target),
    'rehearsal.run.reveal': (target) => reveal(target),
    'rehearsal.run.delete': (target, selected) => deleteRuns(target, selected),
    'rehearsal.running.show': () => showRunning(),
    'rehearsal.recording.debug': (target, step) => debugRecording(target, step),
    'rehearsal.request.show': (target) => showRequest(target),
    'rehearsal.rollout.stepBack': () => stepBack(),
    'rehearsal.rollout.fork': (target) => forkHere(target),
    'rehearsal.rollout.swap': (target) => forkWithChangedFiles(target),
    'rehearsal.rollout.resample': (target) => resample(target),
    'rehearsal.rollout.replay': () => replay(),
    'rehearsal.rollout.takeUser': (target) => takeOver(target, 'user'),
    'rehearsal.rollout.takeAgent': (target) => takeOver(target, 'agent'),
    'rehearsal.reply.edit': (target) => editReply(context.extension, target),
    'rehearsal.value.edit': (target) => editValue(context.extension, target),
    'rehearsal.forks.compare': (node, selected) => compareForks(node, selected),
    'rehearsal.tests.group': () => toggleGrouping(),
    'rehearsal.training.sft': ticking('train', (choice) => train(context, 'sft', choice)),
    'rehearsal.training.grpo': ticking('train', (choice) => train(context, 'grpo', choice)),
    'rehearsal.training.configured': (target) =>
      trainConfigured(context, (target as { configuration?: string } | undefined)?.configuration, (run) =>
        showDashboard(context, run),
      ),
    'rehearsal.training.dashboard': async (target) =>
      showDashboard(context, runFolderOf(target) ?? (await trainingRuns())[0]?.folder),
    'rehearsal.training.stop': (target) => stopTraining(runFolderOf(target)),
    'rehearsal.training.resume': (target) => resumeTraining(context, runFolderOf(target)),
    'rehearsal.training.fetch': (target) => fetchCheckpoint(context, runFolderOf(target)),
    'rehearsal.training.evaluate': (target) => {
      const of = runFolderOf(target);
      const choice = of === undefined ? ((target ?? {}) as EvaluationChoice) : { of };
      return evaluateCheckpoint(context, choice, (run) => showDashboard(context, run));
    },
    'rehearsal.training.compare': (target) => compareEvaluations(context, target),
    'rehearsal.training.serve': (target) => serveCheckpoint(context, runFolderOf(target)),
    'rehearsal.training.export': (target) => exportCheckpoint(context, runFolderOf(target)),
    'rehearsal.training.experiment': (target) => runExperiment(context, target),
    'rehearsal.synth.start': async () => (await import('./coldStart/synthesize.ts')).synthesize(context),
    'rehearsal.synth.spotCheck': (target) => startSpotCheck(target),
    'rehearsal.synth.accept': (target) => decideRollout(target, 'accept'),
    'rehearsal.synth.reject': (target) => decideRollout(target, 'reject'),
    'rehearsal.synth.edit': (target) => editByFork(target),
    'rehearsal.synth.grade': async (target) => (await import('./coldStart/grade.ts')).gradeSynthesis(context, target),
    'rehearsal.synth.export': async (target) =>
      (await import('./coldStart/exportChats.ts')).exportSynthesis(context, target),
    'rehearsal.synth.preview': async (target) =>
      (await import('./coldStart/trainingText.ts')).previewTrainingText(context, target),
    'rehearsal.domain.new': ticking('author', () => newDomain(context)),
    'rehearsal.task.fromRecording': (target) => taskFromRecording(context, target),
    'rehearsal.task.variants': (target) => taskVariants(context, target),
    'rehearsal.persona.generate': (target) => generatePersona(context, target),
    'rehearsal.draft.accept': (target) => acceptDraft(context, target),
    'rehearsal.sample.open': () => openSample(context),
    'rehearsal.benchmark.import': () => importBenchmark(context),
    'rehearsal.chats.import': () => importChats(context),
    'rehearsal.chats.draft': (target) => draftFromChat(context, target),
    'rehearsal.intents.show': (target) => showIntents(context, target),
    'rehearsal.model.key': () => setKey(context),
    'rehearsal.model.test': ticking(
      'model',
      async () => (mayRun('Tests of a connection') ? testConnection(context) : undefined),
      (status) => status === 'ok',
    ),
    'rehearsal.log.show': () => context.log.show(),
    'rehearsal.editor.visual': (target) => openVisual(target),
    'rehearsal.editor.text': (target) => openAsText(target),
    'rehearsal.tool.try': async (target) => (await import('./editors/toolPanel.ts')).tryTool(context, target),
  };
}

async function train(context: Context, kind: LearningKind, choice: unknown): Promise<string | undefined> {
  return startTraining(context, kind, (choice ?? {}) as TrainingChoice, (run) => showDashboard(context, run));
}

async function showDashboard(context: Context, run: string | undefined): Promise<string | null> {
  const { openTrainingDashboard } = await import('./views/trainingDashboard.ts');
  return openTrainingDashboard(context, run);
}

/** A run's folder as the dashboard names it, or the run that a tree's row represents. */
function runFolderOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  return (target as Partial<TrainingRun> | undefined)?.folder;
}

/** @param more of the debug configuration, such as who takes a seat in place of who has it by default */
async function debugTask(
  target: unknown,
  noDebug: boolean,
  more: Readonly<Record<string, unknown>> = {},
): Promise<boolean> {
  if (!mayRun('Rollouts')) return false;
  const row = await targetRow(target);
  const chosen = isDomainRow(row) ? await taskInDomain(row.folder) : await taskOf(row);
  if (isDomainRow(row) && !chosen) return false;
  const folder = chosen && vscode.workspace.getWorkspaceFolder(vscode.Uri.file(chosen.domain));
  const configuration = { type: debugType, request: 'launch', name: chosen?.task ?? 'Rehearsal', ...chosen, ...more };
  return vscode.debug.startDebugging(folder, configuration, { noDebug, suppressDebugView: noDebug });
}

/** Debugs a task with a model in the agent's seat that the person picks now, with its settings. */
async function debugTaskWith(
  context: Context,
  target: unknown,
  pick: () => Promise<string | undefined>,
): Promise<boolean> {
  if (!mayRun('Rollouts')) return false;
  const agent = await pick();
  const settings = agent === undefined ? undefined : await askSettings(context);
  return settings === undefined ? false : debugTask(target, false, { agent, models: { agent: settings } });
}

async function taskOf(target: unknown): Promise<{ readonly domain: string; readonly task?: string } | undefined> {
  const node = target as TaskNode | undefined;
  if (node?.type === 'task') return { domain: node.folder, task: node.task };
  const file = target instanceof vscode.Uri ? target.fsPath : activeFile();
  const domain = file && domainFolderOf(file);
  if (!domain || !file) return undefined;
  const task = await taskAt(file, cursorLine(file));
  return task ? { domain, task } : undefined;
}

/** @param target a recording, a row or a test that has one, or the arguments of a key binding: `noDebug` is without a stop */
async function debugRecording(target: unknown, step: unknown): Promise<boolean> {
  if (!mayRun('Debug sessions')) return false;
  const shown = activeFile();
  const open = shown?.endsWith('.traj.jsonl') ? shown : undefined;
  const chosen = await targetRow(target);
  const tested = recordingOfTest(chosen);
  const row = chosen instanceof vscode.Uri ? undefined : (chosen as Partial<ForkNode> | undefined)?.path;
  const given = recordingOf(chosen) ?? tested?.recording ?? row;
  const recording = given ?? open ?? (await pickRecording('Which recording?'));
  if (!recording) return false;
  const configuration = {
    type: debugType,
    request: 'attach',
    name: nameOf(recording),
    recording,
    // A menu gives a command more than its target.
    ...(typeof step === 'number' ? { step } : tested?.step === undefined ? {} : { step: tested.step }),
  };
  const { noDebug = false } = (target ?? {}) as { readonly noDebug?: boolean };
  const progress = { location: vscode.ProgressLocation.Window, title: `Debugging ${nameOf(recording)}…` };
  return vscode.window.withProgress(progress, async () =>
    vscode.debug.startDebugging(undefined, configuration, { noDebug, suppressDebugView: noDebug }),
  );
}

async function check(
  context: Context,
  language: LanguageClient,
  target: unknown,
  isAudit: boolean,
): Promise<number | undefined> {
  if (isAudit && !mayRun('Audits')) return undefined;
  const given =
    target instanceof vscode.Uri ? domainFolderOf(target.fsPath) : (target as DomainNode | undefined)?.folder;
  const folder = given ?? (await domainAtHand());
  if (!folder) return undefined;
  const { checkDomain } = await import('./language/domainCheck.ts');
  try {
    const checked = await checkDomain(context, language, folder, { isAudit });
    if (!checked) return undefined;
    const { name, tasks, diagnostics, isComplete } = checked;
    const only = isComplete
      ? ''
      : ' Only its files were read: its tools are programs, and this workspace is not trusted.';
    if (diagnostics.length > 0) await vscode.commands.executeCommand('workbench.panel.markers.view.focus');
    else void showInformationMessage(`${name}: ${counted(tasks, 'task')}, no findings.${only}`);
    return diagnostics.length;
  } catch (error) {
    void showErrorMessage(`The domain can't be checked: ${messageOf(error)}`);
    return undefined;
  }
}
