import type { Location } from '../engine/shell/files/diagnostic.ts';
import { isDraft } from '../engine/shell/load/drafts.ts';
import type { LoadedDomain } from '../engine/shell/load/loadedDomain.ts';
import { type Placed, placeOf } from '../engine/shell/source/items.ts';
import { type Page, pagesOf } from './symbols/pages.ts';

/** A task or a persona in a list; nothing counts a draft until it is accepted. */
export type ListedItem = {
  readonly id: string;
  readonly description: string;
  readonly at: Location;
  readonly isDraft: boolean;
};

/** The contents of a domain without its tasks. There may be thousands of tasks, so they are requested page by page. */
export type Contents = {
  readonly tools: readonly { readonly name: string; readonly effect: string }[];
  readonly personas: readonly ListedItem[];
  readonly taskPages: readonly Page[];
};

/** Returns what a domain has, with the pages of its tasks. */
export function contentsOfDomain(loaded: LoadedDomain): Contents {
  const { scan, personas } = loaded.parts;
  return {
    tools: [...scan.declared].map(([name, { effect }]) => ({ name, effect: effect ?? '' })),
    personas: draftsLast(personas).map(listed),
    taskPages: pagesOf(draftsLast(loaded.parts.tasks), ({ file }) => file),
  };
}

export function tasksOfPage({ parts }: LoadedDomain, { from, to }: Pick<Page, 'from' | 'to'>): readonly ListedItem[] {
  return draftsLast(parts.tasks).slice(from, to).map(listed);
}

type Named = { readonly id: string; readonly description?: string | undefined; readonly draft?: boolean | undefined };

function listed<T extends Named>(placed: Placed<T>): ListedItem {
  const { id, description = '', draft = false } = placed.value;
  return { id, description, at: placeOf(placed), isDraft: draft };
}

function draftsLast<T extends Named>(items: readonly Placed<T>[]): readonly Placed<T>[] {
  return items.toSorted((one, other) => Number(isDraft(one)) - Number(isDraft(other)));
}
