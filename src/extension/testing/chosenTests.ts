import type * as vscode from 'vscode';
import type { TaskTree } from './taskTree.ts';

/** The tasks that a request means, in the order of the tree. A trial stands for its task. */
export async function chosenTests(
  tree: TaskTree,
  controller: vscode.TestController,
  { include, exclude = [] }: Pick<vscode.TestRunRequest, 'include' | 'exclude'>,
): Promise<readonly vscode.TestItem[]> {
  if (!include) await tree.findDomains();
  const left = new Set(exclude);
  const chosen = new Set<vscode.TestItem>();
  const visit = async (item: vscode.TestItem): Promise<void> => {
    if (left.has(item)) return;
    const node = tree.node(item);
    if (node?.type === 'task') {
      chosen.add(item);
      return;
    }
    if (node?.type === 'trial') {
      if (item.parent && !left.has(item.parent)) chosen.add(item.parent);
      return;
    }
    await tree.resolve(item);
    for (const [, child] of item.children) await visit(child);
  };
  for (const item of include ?? [...controller.items].map(([, each]) => each)) await visit(item);
  return [...chosen];
}

/** How often tasks are played whose trials were chosen one by one: as often as they were. */
export function trialsOf(tree: TaskTree, include: readonly vscode.TestItem[] | undefined): number {
  const counts = (include ?? []).map((item) =>
    tree.node(item)?.type === 'trial' ? (item.parent?.children.size ?? 1) : 1,
  );
  return Math.max(1, ...counts);
}
