import { basename } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../../engine/shell/files/fault.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { RunLine } from '../../engine/shell/records/runLine.ts';
import { makeNewRunFolder, removeUnbegunRun, runSubject } from '../../engine/shell/records/runName.ts';
import { answerOf, runCommand } from '../commandLine/commandLine.ts';
import { requireWritable } from '../runs/runPlaces.ts';
import { mayRun } from '../workspace/trust.ts';
import { tick } from '../workspace/walkthrough.ts';
import { readDomain } from '../workspace/workspaceDomains.ts';
import { currentTests } from './chosenTests.ts';
import type { Explorer } from './explorer.ts';
import { addCoverage } from './runCoverage.ts';
import { forTerminal, RunResults } from './runResults.ts';
import { batchesOf, evalArguments, type TaskBatch } from './taskBatch.ts';

export type TestRunOptions = {
  readonly trials: number;
  /** Whether to show the coverage of policy and tools. */
  readonly isCovered?: boolean;
  /** Whether tests that are cancelled run again at once: they then keep the results that they have. */
  readonly runsAgain?: () => boolean;
};

/**
 * Plays the tasks of a request on the command line, and shows each result as it arrives. Cancelling ends what is
 * running; finished rollouts stay recorded.
 * @returns the tasks with results
 */
export async function runTests(
  explorer: Explorer,
  request: vscode.TestRunRequest,
  token: vscode.CancellationToken,
  { trials, isCovered = false, runsAgain = () => false }: TestRunOptions,
): Promise<readonly vscode.TestItem[]> {
  if (!mayRun('Rollouts')) return [];
  const { controller, tree } = explorer;
  const items = await currentTests(tree, controller, request);
  const run = controller.createTestRun(request);
  const stop = new vscode.CancellationTokenSource();
  const listeners = [token, run.token].map((each) => each.onCancellationRequested(() => stop.cancel()));
  const played: Played[] = [];
  try {
    for (const item of items) run.enqueued(item);
    for (const batch of batchesOf(items.flatMap((item) => chosenIn(explorer, item))))
      played.push(await playBatch(explorer, run, batch, { trials, runsAgain }, stop.token));
    if (isCovered) for (const { domain, results } of played) addCoverage(run, { domain, byTask: results.coverage });
  } finally {
    for (const each of listeners) each.dispose();
    stop.dispose();
    run.end();
  }
  return played.flatMap(({ domain: { folder }, results, tasks }) =>
    tasks.flatMap((task) => (results.isDone(task) ? (tree.task(folder, task) ?? []) : [])),
  );
}

type Played = {
  readonly domain: LoadedDomain;
  readonly results: RunResults;
  readonly tasks: readonly string[];
};

function chosenIn({ tree }: Explorer, item: vscode.TestItem) {
  const node = tree.node(item);
  return node?.type === 'task' ? [{ folder: node.folder, task: node.row.id }] : [];
}

async function playBatch(
  explorer: Explorer,
  run: vscode.TestRun,
  batch: TaskBatch,
  { trials, runsAgain }: { readonly trials: number; readonly runsAgain: () => boolean },
  token: vscode.CancellationToken,
): Promise<Played> {
  const { folder, tasks } = batch;
  const domain = await readDomain(folder);
  const { locations } = domain;
  const results = new RunResults(run, explorer.tree, { folder, tasks: tasks.length, trials, places: locations });
  const fit = tasks.filter((task) => !failed(explorer, results, folder, task));
  if (fit.length === 0) return { domain, results, tasks };
  const name = runSubject(fit, domain.domain.name || basename(folder));
  try {
    const out = makeNewRunFolder(requireWritable('runs', folder), name);
    explorer.shown.set(out, fit.length * trials);
    try {
      await play(explorer, run, results, evalArguments({ folder, tasks: fit }, { trials, out }), token);
    } finally {
      removeUnbegunRun(out);
    }
    if (!runsAgain()) results.skipRest(fit);
    if (fit.some((task) => results.isDone(task))) void tick('test');
  } catch (error) {
    results.failRest(fit, messageOf(error));
  }
  return { domain, results, tasks };
}

/** Whether a task has an error that keeps it from running; it is then the task's result. */
function failed({ tree }: Explorer, results: RunResults, folder: string, task: string): boolean {
  const item = tree.task(folder, task);
  const node = item && tree.node(item);
  const error = node?.type === 'task' ? node.row.error : undefined;
  if (error !== undefined) results.failRest([task], error);
  return error !== undefined;
}

/** Runs the command lines one after the other. Throws what kept one from doing its work. */
async function play(
  { context }: Explorer,
  run: vscode.TestRun,
  results: RunResults,
  commands: readonly (readonly string[])[],
  token: vscode.CancellationToken,
): Promise<void> {
  const progress = {
    report: ({ message = '' }: { readonly message?: string }) => run.appendOutput(forTerminal(`${message}\n`)),
  };
  for (const args of commands) {
    if (token.isCancellationRequested) return;
    const end = await runCommand(context, args, progress, token, { onLine: (line) => take(results, line) });
    if (end.isCancelled || end.isStopped) return;
    answerOf(end, 'The run', [0]);
  }
}

/** Every line but the last one has a type; that one is the result of the whole command. */
export function take(results: RunResults, text: string): void {
  if (!text.startsWith('{"type":')) return;
  results.take(JSON.parse(text) as RunLine);
}
