import type * as vscode from 'vscode';
import type { TaskTree } from './taskTree.ts';

/** Returns the tasks of a request that still exist, in the order of the tree. For a trial it returns the task. */
export async function chosenTests(
  tree: TaskTree,
  controller: vscode.TestController,
  { include, exclude = [] }: Partial<Pick<vscode.TestRunRequest, 'include' | 'exclude'>>,
): Promise<readonly vscode.TestItem[]> {
  if (!include) await tree.findDomains();
  const tasksOf = async (items: readonly vscode.TestItem[]) => {
    const found: vscode.TestItem[] = [];
    for (const item of items) found.push(...(await tree.tasksOf(item)));
    return found;
  };
  const chosen = await tasksOf(include ?? [...controller.items].map(([, item]) => item));
  const left = new Set(await tasksOf(exclude.filter((item) => tree.node(item)?.type !== 'trial')));
  return [...new Set(chosen)].filter((item) => !left.has(item));
}

/**
 * Reads the domains of a request again and returns its tasks. VS Code saves the editors before it runs tests, and the
 * tree follows files only later: it may still have tasks that are gone.
 */
export async function currentTests(
  tree: TaskTree,
  controller: vscode.TestController,
  request: Partial<Pick<vscode.TestRunRequest, 'include' | 'exclude'>>,
): Promise<readonly vscode.TestItem[]> {
  await tree.findDomains();
  const items = request.include ?? [...controller.items].map(([, item]) => item);
  const folders = new Set(items.flatMap((item) => tree.node(item)?.folder ?? []));
  for (const folder of folders) if (tree.folders.includes(folder)) await tree.read(folder);
  return chosenTests(tree, controller, request);
}

/** Returns how often tasks are played whose trials were chosen one by one: as often as they were. */
export function trialsOf(tree: TaskTree, include: readonly vscode.TestItem[] | undefined): number {
  const counts = (include ?? []).map((item) =>
    tree.node(item)?.type === 'trial' ? (item.parent?.children.size ?? 1) : 1,
  );
  return Math.max(1, ...counts);
}
