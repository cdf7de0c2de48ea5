import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

type Bar = RefObject<HTMLElement | null>;

/** Moves the focus to the search of a filter bar. */
export function focusSearch(bar: Bar): void {
  bar.current?.querySelector<HTMLElement>('vscode-text-field')?.focus();
}

/** `/` and Ctrl+F lead to the search, wherever the focus is. */
export function useFindKey(bar: Bar): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('vscode-text-field');
      const isFind = event.key === 'f' && (event.ctrlKey || event.metaKey);
      if (!isFind && (event.key !== '/' || isTyping)) return;
      event.preventDefault();
      event.stopPropagation();
      focusSearch(bar);
    };
    document.addEventListener('keydown', onKeyDown, { capture: true });
    return () => document.removeEventListener('keydown', onKeyDown, { capture: true });
  }, [bar]);
}
