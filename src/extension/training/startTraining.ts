import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { TrainingKind } from '../../engine/core/domain/trainingKind.ts';
import { capitalized } from '../../engine/core/text/capitalized.ts';
import { makeOnce, replaceFile } from '../../engine/shell/files/disk.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { makeNewRunFolder, runName } from '../../engine/shell/records/runName.ts';
import { failureMessage, runWithProgress } from '../commandLine/commandLine.ts';
import type { Context } from '../commandLine/context.ts';
import { writableWorkOf } from '../runs/runPlaces.ts';
import { trainingRuns } from '../runs/runsOfWorkspace.ts';
import { offerCommand, showErrorMessage, showInformationMessage } from '../workspace/messages.ts';
import { mayRun } from '../workspace/trust.ts';
import { pickDomain } from '../workspace/workspaceDomains.ts';
import { pickCheckpoint } from './checkpoints.ts';
import { glanceAt, pickConfiguration } from './configuration.ts';
import { firstSteps, type LearningKind, pythonArguments, pythonOption } from './learning.ts';
import { pickModel } from './pickModel.ts';
import { pickRun, showRunLog } from './runOperations.ts';
import { pickSftSource } from './sftSource.ts';
import { showTraining } from './shownRuns.ts';
import { local, namedTargets, pickTarget } from './targets.ts';

export type TrainingChoice = {
  readonly domain?: string;
  readonly model?: string;
  readonly steps?: number;
  /** The recordings for SFT, as the value of `rehearsal train --recordings`. */
  readonly recordings?: string;
  /** The name of a target in the settings; if it is left out and there are targets, the user is asked. */
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
  const source = kind === 'grpo' || given.recordings !== undefined ? null : await pickSftSource();
  if (source === undefined) return undefined;
  const recordings = given.recordings ?? source?.recordings;
  const model = given.model ?? (await pickModel(kind));
  if (!model) return undefined;
  const steps =
    given.steps ?? (await askCount(`Optimizer steps of ${called[kind]}`, await firstSteps(kind), stepsPrompt));
  if (!steps) return undefined;
  const learned = recordings ? ['--recordings', recordings] : [];
  const args = [kind, domain, '--model', model, '--steps', String(steps), ...learned];
  return beginTraining(context, { about: kind, domain, args }, given.target, onFolder);
}

/** The settings of an evaluation; the user is asked for those left out. */
export type EvaluationChoice = Pick<TrainingChoice, 'domain' | 'model' | 'target'> & {
  /** Rollouts of each test task, at a temperature and greedily. */
  readonly trials?: number;
  /**
   * The run whose checkpoints are offered; if it is left out, those of all runs and the models that they started from.
   */
  readonly of?: string;
};

/**
 * Evaluates a checkpoint, or a model that was not trained yet, as `startTraining` trains one.
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
  return beginTraining(context, { about: 'evaluate', domain, args }, given.target, onFolder);
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
  const { kind = 'training', domain } = await glanceAt(file);
  return beginTraining(context, { about: kind, domain, args: ['--config', file] }, undefined, onFolder);
}

/** The start of a training run, in terms of `rehearsal train`. */
type Beginning = {
  readonly about: TrainingKind | 'training';
  readonly domain: string;
  readonly args: readonly string[];
};

/** Begins `rehearsal train` with these arguments in a new run's folder, on the target that is named or picked. */
async function beginTraining(
  context: Context,
  { about, domain, args }: Beginning,
  named: string | undefined,
  onFolder: (run: string) => unknown,
): Promise<string | undefined> {
  const target = named ? namedTargets().find(({ name }) => name === named) : await pickTarget();
  if (!target) return undefined;
  const root = writableWorkOf('training', domain);
  if (root === undefined) return undefined;
  const python = target === local ? pythonOption() : pythonArguments(target.python);
  const where = target === local ? '' : ` on ${target.name}`;
  const command = (out: string) => ['train', ...args, '--out', out, '--target', target.target, ...python];
  const planned = command(join(root, runName(about)));
  if (!(await confirmPlan(context, `${called[about]}${where}`, planned))) return undefined;
  const run = makeNewRunFolder(root, about);
  onFolder(run);
  return starting(context, `starting ${called[about]}${where}`, [...command(run), '--detach'], run);
}

/**
 * Shows what a run needs and asks whether it starts. A run that cannot be planned starts without a question, because
 * its start reports the reason.
 */
async function confirmPlan(context: Context, title: string, command: readonly string[]): Promise<boolean> {
  const end = await runWithProgress(context, `Rehearsal: planning ${title}`, [...command, '--plan']);
  if (end.isCancelled || end.isStopped) return false;
  const { lines } = end.answer as { readonly lines?: readonly (readonly [string, string])[] };
  if (!lines) return true;
  const detail = lines.map(([name, text]) => `${capitalized(name)}: ${text}`).join('\n');
  const start = 'Start';
  return (await showInformationMessage(`Start ${title}?`, { modal: true, detail }, start)) === start;
}

const stepsPrompt =
  'The number offered is the default on a CPU. Each step updates the model once. To try training out, 2 are enough.';

const called: Readonly<Record<TrainingKind | 'training', string>> = {
  sft: 'SFT',
  grpo: 'GRPO',
  evaluate: 'the evaluation',
  training: 'training',
};

/** Resumes a run that has ended from its last checkpoint, where it was started. */
export async function resumeTraining(context: Context, given?: string): Promise<string | undefined> {
  if (!mayRun('Training runs')) return undefined;
  const over = (await trainingRuns()).filter((run) => !run.running && run.kind !== null);
  if (!given && over.length === 0) {
    const message = 'No training run can be resumed, because none has ended in this workspace. Start one.';
    void offerCommand(message, 'Train with GRPO…', 'rehearsal.training.grpo');
    return undefined;
  }
  const run = given ?? (await pickRun(over.map(({ id, folder }) => ({ label: id, folder }))));
  if (!run) return undefined;
  const python = existsSync(join(run, runFiles.target)) ? [] : pythonOption();
  return starting(context, `resuming ${basename(run)}`, ['train', 'resume', run, '--detach', ...python], run);
}

async function starting(
  context: Context,
  title: string,
  args: readonly string[],
  run: string,
): Promise<string | undefined> {
  const end = await runWithProgress(context, `Rehearsal: ${title}`, args);
  if (end.isCancelled) replaceFile(join(run, runFiles.stop), '');
  if (end.code === 0) {
    showTraining(run);
    return run;
  }
  const message = failureMessage(end, 'the command');
  note(run, end.isCancelled ? { type: 'stopped' } : { type: 'error', message });
  if (!end.isCancelled) void offerLog(context, run, `Training did not start: ${message}`);
  return undefined;
}

/** The last word of a run whose trainer could not say one, so that the dashboard shows it now and later. */
function note(
  run: string,
  event: { readonly type: 'stopped' } | { readonly type: 'error'; readonly message: string },
): void {
  makeOnce(join(run, runFiles.events), `${JSON.stringify({ time: Date.now() / 1000, ...event })}\n`);
}

async function offerLog(context: Context, run: string, message: string): Promise<void> {
  const chosen = await showErrorMessage(message, 'Show Log');
  if (chosen) await showRunLog(context, run);
}

async function askCount(title: string, offered: number, prompt?: string): Promise<number | undefined> {
  const value = await vscode.window.showInputBox({
    title,
    ...(prompt === undefined ? {} : { prompt }),
    value: String(offered),
    validateInput: (text) => (/^[1-9][0-9]*$/.test(text) ? undefined : 'Type a whole number above 0.'),
  });
  return value ? Number(value) : undefined;
}
