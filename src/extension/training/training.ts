import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { TrainingKind } from '../../engine/core/trainingKind.ts';
import { makeRunFolder } from '../../engine/shell/disk.ts';
import { runFiles } from '../../engine/shell/runFiles.ts';
import { runName } from '../../engine/shell/runName.ts';
import type { Alarm } from '../../webview/protocol.ts';
import { runQuietly, runWithProgress, wordsOf } from '../commandLine.ts';
import type { Context } from '../context.ts';
import { beginRunning } from '../running.ts';
import { mayRun } from '../trust.ts';
import { pickDomain } from '../workspaceDomains.ts';
import { checkpointItems, pickCheckpoint } from './checkpoints.ts';
import { kindAtAGlance, pickConfiguration } from './configuration.ts';
import { firstSteps, type LearningKind, modelOfSettings, pythonOption } from './learning.ts';
import { pickLesson } from './lesson.ts';
import { trainingRoot, trainingRuns } from './runsOfWorkspace.ts';
import { isOnNamedTarget, local, namedTargets, pickTarget } from './targets.ts';

export type TrainingChoice = {
  readonly domain?: string;
  readonly model?: string;
  readonly steps?: number;
  /** What SFT learns from, as `rehearsal train --recordings` has it. */
  readonly recordings?: string;
  /** The name of a target in the settings; left out, the person is asked where there are any. */
  readonly target?: string;
};

/**
 * Starts a training run by the command line, here or on a target of the settings, detached: it lives on when the editor closes.
 * @param onFolder called with the run's folder as soon as it is there; preparing the run may take minutes
 * @returns the run's folder, or undefined when the person cancelled or it could not be started
 */
export async function startTraining(
  context: Context,
  kind: LearningKind,
  given: TrainingChoice,
  onFolder: (run: string) => unknown,
): Promise<string | undefined> {
  if (!mayRun('Training runs')) return undefined;
  const domain = given.domain ?? (await pickDomain());
  if (!domain) return undefined;
  const lesson = kind === 'grpo' || given.recordings !== undefined ? null : await pickLesson();
  if (lesson === undefined) return undefined;
  const recordings = given.recordings ?? lesson?.recordings;
  const model = given.model ?? (await pickModel(kind));
  if (!model) return undefined;
  const steps = given.steps ?? (await askCount(`Optimizer steps of ${called[kind]}`, await firstSteps(kind)));
  if (!steps) return undefined;
  const learned = recordings ? ['--recordings', recordings] : [];
  const args = [kind, domain, '--model', model, '--steps', String(steps), ...learned];
  return beginTraining(context, kind, args, given.target, onFolder);
}

/** What is evaluated, and how; what is left out is asked for. */
export type EvaluationChoice = Pick<TrainingChoice, 'domain' | 'model' | 'target'> & {
  /** Rollouts of each test task, at a temperature and greedily. */
  readonly trials?: number;
  /** The run whose checkpoints are offered; left out, those of all runs and the models that they began as. */
  readonly of?: string;
};

/**
 * Evaluates a checkpoint, or a model that nobody has trained yet, as `startTraining` trains one.
 * @param onFolder as in `startTraining`
 */
export async function evaluateCheckpoint(
  context: Context,
  given: EvaluationChoice,
  onFolder: (run: string) => unknown,
): Promise<string | undefined> {
  if (!mayRun('Evaluations')) return undefined;
  const model =
    given.model ??
    (given.of === undefined
      ? await pickModel('evaluate')
      : await pickCheckpoint('Which checkpoint is evaluated?', given.of));
  const domain = model === undefined ? undefined : (given.domain ?? (await pickDomain()));
  if (model === undefined || !domain) return undefined;
  const trials = given.trials ?? (await askCount('Rollouts of each test task', 8));
  if (!trials) return undefined;
  const args = ['evaluate', domain, '--model', model, '--trials', String(trials)];
  return beginTraining(context, 'evaluate', args, given.target, onFolder);
}

/**
 * Trains as a configuration says (`*.training.yaml`): the one that is given, the open one, or the one that the person picks.
 * @param onFolder as in `startTraining`
 */
export async function trainConfigured(
  context: Context,
  given: string | undefined,
  onFolder: (run: string) => unknown,
): Promise<string | undefined> {
  if (!mayRun('Training runs')) return undefined;
  const file = given ?? (await pickConfiguration());
  if (!file) return undefined;
  await vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file)?.save();
  return beginTraining(context, (await kindAtAGlance(file)) ?? 'training', ['--config', file], undefined, onFolder);
}

/** Begins `rehearsal train` with these arguments in a new run's folder, on the target that is named or picked. */
async function beginTraining(
  context: Context,
  about: TrainingKind | 'training',
  args: readonly string[],
  named: string | undefined,
  onFolder: (run: string) => unknown,
): Promise<string | undefined> {
  const target = named ? namedTargets().find(({ name }) => name === named) : await pickTarget();
  const root = trainingRoot();
  if (!target || !root) return undefined;
  const run = join(root, runName(about));
  makeRunFolder(run);
  onFolder(run);
  const given = target.python === undefined ? [] : ['--python', target.python];
  const python = target === local ? pythonOption() : given;
  const where = target === local ? '' : ` on ${target.name}`;
  const rest = ['--out', run, '--detach', '--target', target.target, ...python];
  const title = `starting ${called[about]}${where}`;
  return starting(context, title, ['train', ...args, ...rest], run);
}

const called: Readonly<Record<TrainingKind | 'training', string>> = {
  sft: 'SFT',
  grpo: 'GRPO',
  evaluate: 'the evaluation',
  training: 'training',
};

/** Goes on with a run that is over, where it was started, from its last checkpoint. */
export async function resumeTraining(context: Context, given?: string): Promise<string | undefined> {
  if (!mayRun('Training runs')) return undefined;
  const over = (await trainingRuns()).filter((run) => !run.running && run.kind !== null);
  if (!given && over.length === 0) void vscode.window.showInformationMessage('There is no run to go on with.');
  const run = given ?? (await pickRun(over.map(({ id, folder }) => ({ label: id, folder }))));
  if (!run) return undefined;
  const python = existsSync(join(run, runFiles.target)) ? [] : pythonOption();
  return starting(context, `resuming ${basename(run)}`, ['train', 'resume', run, '--detach', ...python], run);
}

/** Brings the newest checkpoint of a run on another machine into its folder here; returns its folder. */
export async function fetchCheckpoint(context: Context, given?: string): Promise<string | undefined> {
  if (!mayRun('Training runs')) return undefined;
  const elsewhere = (await trainingRuns()).filter(({ folder }) => existsSync(join(folder, runFiles.target)));
  const run = given ?? (await pickRun(elsewhere.map(({ id, folder }) => ({ label: id, folder }))));
  if (!run && elsewhere.length > 0) return undefined;
  if (!run || !existsSync(join(run, runFiles.target))) {
    void vscode.window.showInformationMessage('Only the checkpoints of a run on another machine are fetched.');
    return undefined;
  }
  const title = `Rehearsal: fetching the newest checkpoint of ${basename(run)}`;
  const end = await runWithProgress(context, title, ['train', 'fetch', run]);
  if (end.isCancelled) return undefined;
  if (end.code !== 0) {
    void vscode.window.showErrorMessage(`The checkpoint could not be fetched: ${wordsOf(end, 'the command')}`);
    return undefined;
  }
  void vscode.window.showInformationMessage(`The checkpoint lies in ${end.answer['checkpoint']}`);
  return String(end.answer['checkpoint']);
}

async function starting(
  context: Context,
  title: string,
  args: readonly string[],
  run: string,
): Promise<string | undefined> {
  const end = await runWithProgress(context, `Rehearsal: ${title}`, args);
  if (end.isCancelled) writeFileSync(join(run, runFiles.stop), '');
  if (end.code === 0) {
    showRunning(run);
    return run;
  }
  const message = wordsOf(end, 'the command');
  note(run, end.isCancelled ? { type: 'stopped' } : { type: 'error', message });
  if (!end.isCancelled) void offerLog(context, run, `Training did not start: ${message}`);
  return undefined;
}

/** Training runs that are shown as running. */
const shown = new Set<string>();

/** Shows a run as running until it has said its last word, or its trainer is gone. */
function showRunning(folder: string): void {
  if (shown.has(folder)) return;
  shown.add(folder);
  const stop = () => stopTraining(folder);
  const open = () => vscode.commands.executeCommand('rehearsal.training.dashboard', folder);
  const handle = beginRunning({ type: 'training', title: basename(folder) }, { stop, open });
  const end = () => {
    shown.delete(folder);
    handle.end();
  };
  const onAlarm = (alarm: Alarm) => void tellAlarm(folder, alarm);
  void import('./runningTraining.ts').then(({ watchTraining }) => watchTraining(folder, { ...handle, end, onAlarm }));
}

async function tellAlarm(folder: string, { step, message, pauses }: Alarm): Promise<void> {
  const paused = pauses ? ' The run is paused.' : '';
  const said = `${basename(folder)}, optimizer step ${step}: ${message}.${paused}`;
  const chosen = await vscode.window.showWarningMessage(said, 'Open Dashboard');
  if (chosen) await vscode.commands.executeCommand('rehearsal.training.dashboard', folder);
}

/**
 * A training outlives the window that started it: what still runs is shown again. One on a target of the settings that
 * nobody follows any more is followed again.
 */
export async function showLeftRunning(context: Context): Promise<void> {
  const root = trainingRoot();
  if (!root || !existsSync(root)) return;
  for (const { folder, running } of await trainingRuns()) {
    if (running) showRunning(folder);
    else if (vscode.workspace.isTrusted && (await isOnNamedTarget(folder))) await reconnect(context, folder);
  }
}

/** What followed the run is gone, and left its `pid` file behind. */
async function reconnect(context: Context, folder: string): Promise<void> {
  if (!existsSync(join(folder, runFiles.pid))) return;
  const args = ['train', 'follow', folder, '--detach', '--json'];
  const { code } = await runQuietly(context, args);
  if (code === 0) showRunning(folder);
}

/** The last word of a run whose trainer could not say one, so that the dashboard shows it now and later. */
function note(
  run: string,
  event: { readonly type: 'stopped' } | { readonly type: 'error'; readonly message: string },
): void {
  const events = join(run, runFiles.events);
  if (!existsSync(events)) appendFileSync(events, `${JSON.stringify({ time: Date.now() / 1000, ...event })}\n`);
}

async function offerLog(context: Context, run: string, message: string): Promise<void> {
  const chosen = await vscode.window.showErrorMessage(message, 'Show Log');
  if (chosen) await showRunLog(context, run);
}

/** The trainer's own log where it has begun one, else the extension's. */
export async function showRunLog(context: Context, run: string | undefined): Promise<void> {
  const path = run && join(run, runFiles.log);
  if (path && existsSync(path)) await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: true });
  else context.log.show();
}

/** Asks a run to end after its current optimizer step, with a checkpoint. */
export async function stopTraining(given?: string): Promise<boolean> {
  const running = (await trainingRuns()).filter((run) => run.running);
  const picked =
    given ??
    (running.length === 1
      ? running[0]?.folder
      : await pickRun(running.map(({ id, folder }) => ({ label: id, folder }))));
  if (!picked || !existsSync(picked)) {
    void vscode.window.showInformationMessage('No training is running.');
    return false;
  }
  writeFileSync(join(picked, runFiles.stop), '');
  return true;
}

async function pickRun(
  items: readonly { readonly label: string; readonly folder: string }[],
): Promise<string | undefined> {
  if (items.length === 0) return undefined;
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Which run?' }))?.folder;
}

async function pickModel(kind: TrainingKind): Promise<string | undefined> {
  const checkpoints = await checkpointItems();
  const standard = modelOfSettings();
  const own = [
    { label: standard, description: 'from the settings', model: standard },
    { label: 'tiny', description: 'random weights, for trying out', model: 'tiny' },
  ];
  const items = kind === 'sft' ? [...own, ...checkpoints] : [...checkpoints, ...own];
  const placeHolder = kind === 'evaluate' ? 'Which model is evaluated?' : 'Which model does training start from?';
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.model;
}

async function askCount(title: string, offered: number): Promise<number | undefined> {
  const value = await vscode.window.showInputBox({
    title,
    value: String(offered),
    validateInput: (text) => (/^[1-9][0-9]*$/.test(text) ? undefined : 'A whole number above 0'),
  });
  return value ? Number(value) : undefined;
}
