import * as vscode from 'vscode';
import type { Task } from '../engine/core/task.ts';
import { readDomain } from './workspaceDomains.ts';

/** How often the list grows while a domain is read. */
const growMs = 100;

/**
 * Returns the id of the task of a domain that a person picks; undefined where they close the list. Reading thousands of
 * tasks takes seconds, so the list opens at once and grows with what was read. To close it ends the reading.
 */
export async function pickTask(folder: string, placeholder: string): Promise<string | undefined> {
  const picker = vscode.window.createQuickPick();
  const reading = new AbortController();
  const read: vscode.QuickPickItem[] = [];
  let grown = Date.now();
  const grow = (): void => {
    picker.items = [...read];
    grown = Date.now();
  };
  const onTask = (task: Task): void => {
    if (task.draft) return;
    read.push(itemOf(task));
    if (Date.now() - grown >= growMs) grow();
  };
  Object.assign(picker, { placeholder, matchOnDetail: true, keepScrollPosition: true, busy: true });
  const chosen = new Promise<string | undefined>((resolve) => {
    picker.onDidAccept(() => resolve(picker.selectedItems[0]?.label));
    picker.onDidHide(() => resolve(undefined));
  });
  picker.show();
  const fill = async (): Promise<string | undefined> => {
    const { tasks } = await readDomain(folder, { onTask, signal: reading.signal });
    read.splice(0, read.length, ...tasks.map(itemOf));
    grow();
    picker.busy = false;
    return chosen;
  };
  try {
    return await Promise.race([chosen, fill()]);
  } finally {
    reading.abort();
    picker.dispose();
  }
}

function itemOf({ id, description, split }: Task): vscode.QuickPickItem {
  return { label: id, description: split, ...(description ? { detail: description } : {}) };
}
