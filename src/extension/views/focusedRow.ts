import { setTimeout as pause } from 'node:timers/promises';
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
  const view = views.get(focusedView ?? '');
  if (!view) return target;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const row = await focusedRow(view);
    if (row !== undefined) return row;
    await pause(pauseMs);
  }
  return undefined;
}

/** A view that reads its rows again has none of them for VS Code until it has read them. */
const attempts = 20;
const pauseMs = 100;

async function focusedRow(view: vscode.TreeView<unknown>): Promise<unknown> {
  const toggled = async (): Promise<readonly unknown[]> => {
    await vscode.commands.executeCommand('list.toggleSelection');
    return view.selection;
  };
  const before = view.selection;
  const after = await toggled();
  const restored = await toggled();
  const [row, ...others] = difference(before, after);
  return others.length === 0 && difference(before, restored).length === 0 ? row : undefined;
}

function difference(one: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  return [...one.filter((row) => !other.includes(row)), ...other.filter((row) => !one.includes(row))];
}
