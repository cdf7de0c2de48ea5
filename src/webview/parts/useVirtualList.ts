import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

export type VirtualListOptions = {
  readonly count: number;
  /** Identity of a row, which its measured height is kept under. */
  readonly keyOf: (index: number) => number;
  /** A row that stays in the document wherever the list is scrolled to, so that it can keep the focus; -1 for none. */
  readonly kept: number;
  /** Height in pixels of a row that was never shown. */
  readonly estimate: (index: number) => number;
};

export type VirtualList = {
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** Rows that are in the document now. */
  readonly items: readonly VirtualItem[];
  /** Height of all rows, in pixels. */
  readonly height: number;
  /** Rows that fit into the view at once, at least 1. */
  readonly perPage: () => number;
  readonly measure: (element: Element | null) => void;
  readonly scrollTo: (index: number, align: 'auto' | 'start' | 'center') => void;
};

/** Keeps only those rows of a long list in the document that are on the screen, whatever their heights. */
export function useVirtualList({ count, keyOf, kept, estimate }: VirtualListOptions): VirtualList {
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const options: VirtualizerOptions<HTMLDivElement, Element> = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: estimate,
    getItemKey: keyOf,
    overscan: 6,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined),
    rangeExtractor: ({ startIndex, endIndex, overscan, count: all }) => {
      const first = Math.max(0, startIndex - overscan);
      const last = Math.min(all - 1, endIndex + overscan);
      const shown = Array.from({ length: last - first + 1 }, (_, at) => first + at);
      if (kept < 0 || kept >= all || (kept >= first && kept <= last)) return shown;
      return kept < first ? [kept, ...shown] : [...shown, kept];
    },
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, Element>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    scroller,
    items: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    perPage: () => {
      const { range } = virtualizer;
      return range === null ? 1 : Math.max(1, range.endIndex - range.startIndex - 1);
    },
    measure: virtualizer.measureElement,
    scrollTo: (index, align) => virtualizer.scrollToIndex(index, { align }),
  };
}
