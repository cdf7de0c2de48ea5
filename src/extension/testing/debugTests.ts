import { join } from 'node:path';
import * as vscode from 'vscode';
import { namesIn } from '../../engine/shell/files/disk.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { requireWritable } from '../runs/runPlaces.ts';
import { debugType } from '../workspace/contributions.ts';
import { mayRun } from '../workspace/trust.ts';
import { currentTests } from './chosenTests.ts';
import type { Explorer } from './explorer.ts';
import { publishRun } from './publishedRuns.ts';
import { forTerminal } from './runResults.ts';

/** Debugs the tasks of a request, one session after the other, each tied to the test run. */
export async function debugTests(
  explorer: Explorer,
  request: vscode.TestRunRequest,
  token: vscode.CancellationToken,
): Promise<void> {
  if (!mayRun('Debug sessions')) return;
  const trials = (request.include ?? []).filter((item) => explorer.tree.node(item)?.type === 'trial');
  const tasks = await currentTests(explorer.tree, explorer.controller, request);
  const items = trials.length > 0 && trials.length === request.include?.length ? trials : tasks;
  const run = explorer.controller.createTestRun(request);
  try {
    for (const item of items) {
      if (token.isCancellationRequested) run.skipped(item);
      else await debugTest(explorer, run, item, token);
    }
  } finally {
    run.end();
  }
}

const noResult =
  'This rollout has no result: the debug session was stopped before its end, or continued in a fork. Recordings are in Runs.\n';

async function debugTest(
  explorer: Explorer,
  run: vscode.TestRun,
  item: vscode.TestItem,
  token: vscode.CancellationToken,
): Promise<void> {
  const node = explorer.tree.node(item);
  if (node?.type !== 'task' && node?.type !== 'trial') return;
  const { folder } = node;
  const target =
    node.type === 'task'
      ? { domain: folder, task: node.row.id }
      : { domain: folder, task: node.task, trial: node.trial };
  run.started(item);
  explorer.debugged.add(item);
  try {
    const runs = requireWritable('runs', folder);
    const before = new Set(namesIn(runs));
    const workspace = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder));
    const configuration = { type: debugType, request: 'launch', name: target.task, ...target, runs };
    const start = () => vscode.debug.startDebugging(workspace, configuration, { testRun: run });
    await sessionOf(configuration, start, token);
    const made = namesIn(runs).filter((name) => !before.has(name));
    const told = await Promise.all(
      made.map((name) => publishRun(explorer, join(runs, name), { run, only: target.task })),
    );
    if (!told.includes(true)) {
      run.appendOutput(forTerminal(noResult), undefined, item);
      run.skipped(item);
    }
  } catch (error) {
    run.errored(item, new vscode.TestMessage(messageOf(error)));
  } finally {
    explorer.debugged.delete(item);
  }
}

/**
 * Resolves when the debug session that is started has ended, or did not begin. The first Stop of such a session only
 * cancels the test run that it belongs to, so the session ends with that.
 */
async function sessionOf(
  { type, task }: { readonly type: string; readonly task: string },
  start: () => Thenable<boolean>,
  token: vscode.CancellationToken,
): Promise<void> {
  const ended = new Set<string>();
  let own: vscode.DebugSession | undefined;
  let resolve: () => void = () => {};
  const over = new Promise<void>((done) => {
    resolve = done;
  });
  const listeners = [
    vscode.debug.onDidStartDebugSession((session) => {
      if (session.type !== type || session.configuration['task'] !== task) return;
      own ??= session;
      if (token.isCancellationRequested) void vscode.debug.stopDebugging(own);
    }),
    vscode.debug.onDidTerminateDebugSession(({ id }) => {
      ended.add(id);
      if (id === own?.id) resolve();
    }),
    token.onCancellationRequested(() => own && vscode.debug.stopDebugging(own)),
  ];
  try {
    if (!(await start())) return;
    if (own === undefined || ended.has(own.id)) return;
    await over;
  } finally {
    for (const each of listeners) each.dispose();
  }
}
