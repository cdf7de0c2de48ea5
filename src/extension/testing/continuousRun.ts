import * as vscode from 'vscode';
import { domainFolderOf } from '../../engine/shell/domain/domainFolder.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { affectedTasks } from './affectedTasks.ts';
import { chosenTests } from './chosenTests.ts';
import type { Explorer } from './explorer.ts';
import { runTests } from './testRun.ts';

/** One save may write several files, and formatters write a second time. */
const quietMs = 400;

/**
 * Runs tasks again whenever a file that they depend on is saved, until the token ends it. A later change ends what an
 * earlier one began, and takes on what that had not finished. Tests that are gone are left out.
 */
export function runContinuously(
  explorer: Explorer,
  request: vscode.TestRunRequest,
  token: vscode.CancellationToken,
): void {
  const changed = new Set<string>();
  /** Tests that are to run, and the change that last called for each. */
  const waiting = new Map<vscode.TestItem, number>();
  let changes = 0;
  let current: vscode.CancellationTokenSource | undefined;
  let under: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const play = async (): Promise<void> => {
    if (token.isCancellationRequested || waiting.size === 0) return;
    const change = changes;
    const own = new vscode.CancellationTokenSource();
    current = own;
    const again = new vscode.TestRunRequest([...waiting.keys()], request.exclude, request.profile, true);
    const runsAgain = () => changes > change;
    const done = new Set(await runTests(explorer, again, own.token, { trials: 1, runsAgain }));
    for (const [item, asked] of waiting) {
      const tasks = await explorer.tree.tasksOf(item);
      if (asked <= change && tasks.every((task) => done.has(task))) waiting.delete(item);
    }
    own.dispose();
  };
  const rerun = async (): Promise<void> => {
    const files = [...changed];
    changed.clear();
    const items = await affectedItems(explorer, request, files);
    if (items.length === 0) return;
    changes += 1;
    for (const item of items) waiting.set(item, changes);
    current?.cancel();
    under = under.then(play).catch((error: unknown) => explorer.context.log.error(messageOf(error)));
  };
  const note = ({ scheme, fsPath }: vscode.Uri) => {
    if (scheme !== 'file') return;
    changed.add(fsPath);
    clearTimeout(timer);
    timer = setTimeout(() => void rerun(), quietMs);
  };
  const watcher = vscode.workspace.createFileSystemWatcher('**/*');
  const listeners = [watcher, watcher.onDidChange(note), watcher.onDidCreate(note), watcher.onDidDelete(note)];
  token.onCancellationRequested(() => {
    clearTimeout(timer);
    current?.cancel();
    for (const each of listeners) each.dispose();
  });
}

/** The tests of a request that changed files call for, as the domain is now. */
async function affectedItems(
  { tree, controller }: Explorer,
  request: vscode.TestRunRequest,
  files: readonly string[],
): Promise<readonly vscode.TestItem[]> {
  await tree.findDomains();
  const folders = new Set(files.flatMap((file) => domainFolderOf(file) ?? []));
  for (const folder of folders) if (tree.folders.includes(folder)) await tree.read(folder);
  const items = await chosenTests(tree, controller, request);
  const watched = items.flatMap((item) => {
    const node = tree.node(item);
    return node?.type === 'task' ? [{ item, folder: node.folder, task: node.row.id, file: node.row.at?.file }] : [];
  });
  return affectedTasks(files, watched).map(({ item }) => item);
}
