import type { JSX, RefObject } from 'preact';
import { useImperativeHandle, useLayoutEffect, useRef } from 'preact/hooks';
import type { Note } from '../messages/protocol.ts';
import type { Entry } from '../models/entries.ts';
import { useVirtualList } from '../parts/useVirtualList.ts';
import type { Actions } from './actions.ts';
import { KeptEntryRow } from './entryRow.tsx';

/** The operations of the list that the view around it uses. */
export type ListHandle = {
  /** Brings the entry at an index of the list into view and gives it the focus. */
  readonly focus: (index: number, align: 'auto' | 'start' | 'center') => void;
  /** Brings it into view alone. */
  readonly show: (index: number) => void;
};

export type EntryListProps = {
  readonly entries: readonly Entry[];
  readonly handle: RefObject<ListHandle | null>;
  /** Number of the entry that is in the tab order. */
  readonly current: number | null;
  readonly open: ReadonlySet<number>;
  readonly notes: ReadonlyMap<number, Note>;
  readonly evidence: ReadonlyMap<number, readonly string[]>;
  readonly actions: Actions;
  readonly isBusy: boolean;
  readonly onCurrent: (n: number) => void;
  readonly onToggle: (n: number) => void;
};

/** Heights in pixels of entries that were never shown. */
const estimates: Readonly<Record<Entry['speaker'], number>> = { agent: 76, user: 76, tool: 150, engine: 64 };

/**
 * The entries, as a feed: one is in the tab order, keys move between them, and those that are not on the screen are
 * not in the document, except for that one.
 */
export function EntryList(props: EntryListProps): JSX.Element {
  const { entries, current, open, notes, evidence, actions } = props;
  const found = entries.findIndex(({ n }) => n === current);
  const kept = entries.length === 0 ? -1 : Math.max(0, found);
  const list = useVirtualList({
    count: entries.length,
    keyOf: (index) => entries[index]?.n ?? -1,
    kept,
    estimate: (index) => estimates[entries[index]?.speaker ?? 'engine'],
  });
  const wanted = useRef<number | null>(null);
  const focus: ListHandle['focus'] = (index, align) => {
    const entry = entries[Math.max(0, Math.min(entries.length - 1, index))];
    if (!entry) return;
    wanted.current = entry.n;
    list.scrollTo(entries.indexOf(entry), align);
    props.onCurrent(entry.n);
    focusWanted();
  };
  const focusWanted = (): void => {
    const row = list.scroller.current?.querySelector<HTMLElement>(`[data-n="${wanted.current}"] > article`);
    if (wanted.current === null || !row) return;
    wanted.current = null;
    row.focus({ preventScroll: true });
  };
  useLayoutEffect(focusWanted);
  useImperativeHandle(props.handle, () => ({ focus, show: (index) => list.scrollTo(index, 'start') }));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!(event.target as HTMLElement).matches('article')) return;
    const next = movedBy(event, kept, entries.length, list.perPage());
    if (next === null) {
      if (event.key !== 'Enter' || current === null) return;
      event.preventDefault();
      props.onToggle(entries[kept]?.n ?? current);
      return;
    }
    event.preventDefault();
    focus(next, event.key === 'Home' || event.key === 'End' ? 'start' : 'auto');
  };
  return (
    <div class="scroller" ref={list.scroller}>
      <div
        class="feed"
        role="feed"
        aria-label="Conversation"
        aria-busy={props.isBusy}
        onKeyDown={onKeyDown}
        style={{ height: `${list.height}px` }}
      >
        {list.items.map(({ index, key, start }) => {
          const entry = entries[index];
          if (!entry) return null;
          return (
            <div
              key={key}
              class="row"
              role="presentation"
              data-index={index}
              data-n={entry.n}
              ref={list.measure}
              style={{ transform: `translateY(${start}px)` }}
            >
              <KeptEntryRow
                entry={entry}
                position={index + 1}
                of={entries.length}
                notes={notes}
                evidence={evidence}
                isCurrent={index === kept}
                isOpen={open.has(entry.n)}
                actions={actions}
                onCurrent={props.onCurrent}
                onToggle={props.onToggle}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The index that a key moves to; null for a key that moves nowhere. */
function movedBy({ key }: KeyboardEvent, from: number, count: number, page: number): number | null {
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: from + 1,
    ArrowUp: from - 1,
    PageDown: from + page,
    PageUp: from - page,
    Home: 0,
    End: count - 1,
  };
  return moves[key] ?? null;
}
