import { type Location, placeAt } from '../engine/shell/files/diagnostic.ts';
import { isDraft } from '../engine/shell/load/drafts.ts';
import type { LoadedDomain } from '../engine/shell/load/loadedDomain.ts';
import { type Placed, placeOf } from '../engine/shell/source/items.ts';
import { type Page, pagesOf } from './symbols/pages.ts';
import { type Unread, unreadItems } from './unread.ts';

/** A task or a persona in a list; nothing counts a draft until it is accepted. */
export type ListedItem = {
  readonly id: string;
  readonly description: string;
  readonly at: Location;
  readonly isDraft: boolean;
  /** The first error of an item that cannot be read; `at` is its place. */
  readonly error?: string;
};

/** The contents of a domain without its tasks. There may be thousands of tasks, so they are requested page by page. */
export type Contents = {
  readonly tools: readonly { readonly name: string; readonly effect: string }[];
  readonly personas: readonly ListedItem[];
  readonly taskPages: readonly Page[];
};

/** Returns what a domain has, with the pages of its tasks. */
export function contentsOfDomain(loaded: LoadedDomain): Contents {
  return {
    tools: [...loaded.parts.scan.declared].map(([name, { effect }]) => ({ name, effect: effect ?? '' })),
    personas: withUnread(loaded.parts.personas, unreadItems(loaded, 'persona')).map(listed),
    taskPages: pagesOf(tasksOf(loaded), ({ file }) => file),
  };
}

export function tasksOfPage(loaded: LoadedDomain, { from, to }: Pick<Page, 'from' | 'to'>): readonly ListedItem[] {
  return tasksOf(loaded).slice(from, to).map(listed);
}

type Named = { readonly id: string; readonly description?: string | undefined; readonly draft?: boolean | undefined };
type Entry = Placed<Named> | Unread;

/** Lists of tasks, made once for all pages of a domain. */
const taskLists = new WeakMap<LoadedDomain, readonly Entry[]>();

function tasksOf(loaded: LoadedDomain): readonly Entry[] {
  const known = taskLists.get(loaded);
  if (known) return known;
  const tasks = withUnread(loaded.parts.tasks, unreadItems(loaded, 'task'));
  taskLists.set(loaded, tasks);
  return tasks;
}

function listed(entry: Entry): ListedItem {
  if ('error' in entry) {
    const { message, hint } = entry.error;
    const error = [message, hint].filter(Boolean).join(' ');
    return { id: entry.id, description: message, at: placeAt(entry.error), isDraft: false, error };
  }
  const { id, description = '', draft = false } = entry.value;
  return { id, description, at: placeOf(entry), isDraft: draft };
}

/** Returns items with drafts last. An item that cannot be read stays where its text is. */
function withUnread(items: readonly Placed<Named>[], unread: readonly Unread[]): readonly Entry[] {
  const entries: Entry[] = items.toSorted((one, other) => Number(isDraft(one)) - Number(isDraft(other)));
  for (const each of unread) {
    const next = entries.findIndex((entry) => 'value' in entry && (isDraft(entry) || isBehind(entry, each)));
    entries.splice(next === -1 ? entries.length : next, 0, each);
  }
  return entries;
}

function isBehind(item: Placed<Named>, { file, line }: Unread): boolean {
  return item.file === file ? placeOf(item).line > line : item.file > file;
}
