import * as vscode from 'vscode';

/** Views whose rows a key acts on, by their ids. */
const views = new Map<string, vscode.TreeView<unknown>>();

/** Makes the rows of a view known to the keys that act on them. */
export function withKeys<Row>(id: string, view: vscode.TreeView<Row>): vscode.TreeView<Row> {
  views.set(id, view as vscode.TreeView<unknown>);
  return view;
}

/**
 * Returns the target of a command: the row with the focus of the view that a key binding names, else what a menu gave.
 * Arrow keys move the focus and not the selection, and the API of VS Code has only the selection. The command that
 * selects the row with the focus, or deselects it, shows which one it is; its second run restores the selection.
 */
export async function targetRow(target: unknown): Promise<unknown> {
  const { focusedView } = (target ?? {}) as { readonly focusedView?: string };
  if (focusedView === undefined) return target;
  const view = views.get(focusedView);
  const toggled = async (): Promise<readonly unknown[]> => {
    await vscode.commands.executeCommand('list.toggleSelection');
    return view?.selection ?? [];
  };
  const before = view?.selection ?? [];
  const after = await toggled();
  await toggled();
  return [...before.filter((row) => !after.includes(row)), ...after.filter((row) => !before.includes(row))][0];
}
