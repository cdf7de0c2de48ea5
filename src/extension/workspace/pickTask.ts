import * as vscode from 'vscode';
import type { Task } from '../../engine/core/domain/task.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { showInformationMessage } from './messages.ts';
import { readDomain } from './workspaceDomains.ts';

/** The interval at which the list grows while a domain is read, in milliseconds. */
const growMs = 100;

/** The content of a list for a domain. */
type Offer = {
  /** Returns the item of a task that was read; undefined where the list does not have it. */
  readonly itemOf: (task: Task) => vscode.QuickPickItem | undefined;
  /** Returns all items, once the domain is read. */
  readonly itemsOf: (
    domain: LoadedDomain,
  ) => readonly vscode.QuickPickItem[] | Promise<readonly vscode.QuickPickItem[]>;
  readonly placeholder: string;
  /** The message for a domain without any. */
  readonly none: string;
};

/** Returns the tasks that a person probably means, by their ids, the likeliest first, each with the reason in words. */
export type LikelyTasks = (domain: LoadedDomain) => Promise<ReadonlyMap<string, string>>;

/**
 * Returns the id of the task of a domain that a person picks; undefined where they close the list.
 * @param likely the head of the list
 */
export function pickTask(
  folder: string,
  placeholder: string,
  likely: LikelyTasks = async () => new Map(),
): Promise<string | undefined> {
  return pickWhileReading(folder, {
    itemOf: (task) => (task.draft ? undefined : itemOfTask(task)),
    itemsOf: async (domain) => {
      const reasons = await likely(domain);
      const ids = [...reasons.keys()];
      const placeOf = ({ id }: Task) => (reasons.has(id) ? ids.indexOf(id) : ids.length);
      return domain.tasks
        .toSorted((one, other) => placeOf(one) - placeOf(other))
        .map((task) => itemOfTask(task, reasons.get(task.id)));
    },
    placeholder,
    none: 'This domain has no tasks.',
  });
}

/** Returns the id of the draft of a domain that a person picks; undefined where they close the list. */
export async function pickDraft(folder: string, placeholder: string): Promise<string | undefined> {
  const { draftsOf } = await import('../../engine/shell/load/drafts.ts');
  return pickWhileReading(folder, {
    itemOf: ({ id, draft }) => (draft ? { label: id, description: 'task' } : undefined),
    itemsOf: ({ parts }) => draftsOf(parts).map(({ kind, placed }) => ({ label: placed.value.id, description: kind })),
    placeholder,
    none: 'This domain has no drafts.',
  });
}

/**
 * Returns the label of the item that a person picks. Reading thousands of tasks takes seconds, so the list opens at once
 * and grows with what was read. To close it ends the reading.
 */
async function pickWhileReading(folder: string, offer: Offer): Promise<string | undefined> {
  const picker = vscode.window.createQuickPick();
  const reading = new AbortController();
  const read: vscode.QuickPickItem[] = [];
  let grown = Date.now();
  const grow = (): void => {
    picker.items = [...read];
    grown = Date.now();
  };
  const onTask = (task: Task): void => {
    const item = offer.itemOf(task);
    if (!item) return;
    read.push(item);
    if (Date.now() - grown >= growMs) grow();
  };
  Object.assign(picker, {
    placeholder: offer.placeholder,
    matchOnDetail: true,
    keepScrollPosition: true,
    busy: true,
  });
  const chosen = new Promise<string | undefined>((resolve) => {
    picker.onDidAccept(() => resolve(picker.selectedItems[0]?.label));
    picker.onDidHide(() => resolve(undefined));
  });
  picker.show();
  const fill = async (): Promise<string | undefined> => {
    const domain = await readDomain(folder, { onTask, signal: reading.signal });
    read.splice(0, read.length, ...(await offer.itemsOf(domain)));
    if (read.length === 0) {
      void showInformationMessage(offer.none);
      return undefined;
    }
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

function itemOfTask({ id, description, split }: Task, reason?: string): vscode.QuickPickItem {
  const facts = [split, reason].filter(Boolean).join(', ');
  return { label: id, description: facts, ...(description ? { detail: description } : {}) };
}
