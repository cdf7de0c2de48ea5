import { basename } from 'node:path';

/** Items that cross to the extension host in one message, or are under one row. */
export const pageSize = 500;

/** A part of a list of items: those from one number to before another. */
export type Page = { readonly name: string; readonly file: string; readonly from: number; readonly to: number };

type Run = { readonly file: string; readonly from: number; readonly to: number };

/** Cuts a list into pages. Small files that follow each other share a page, and a large one has several. */
export function pagesOf<T>(items: readonly T[], fileOf: (item: T) => string): readonly Page[] {
  const pages: Page[] = [];
  let open: Run[] = [];
  const close = () => {
    const [first, last] = [open[0], open.at(-1)];
    open = [];
    if (!first || !last) return;
    const name = first === last ? nameOf(first.file) : `${nameOf(first.file)} – ${nameOf(last.file)}`;
    pages.push({ name, file: first.file, from: first.from, to: last.to });
  };
  for (const run of runsOf(items, fileOf)) {
    if (run.to - (open[0] ?? run).from > pageSize) close();
    if (run.to - run.from > pageSize) pages.push(...piecesOf(run));
    else open.push(run);
  }
  close();
  return pages;
}

const nameOf = (file: string) => basename(file, '.task.yaml');

/** Items of one file that follow each other. */
function runsOf<T>(items: readonly T[], fileOf: (item: T) => string): readonly Run[] {
  const starts = items.flatMap((item, at) => (at === 0 || fileOf(item) !== fileOf(items[at - 1] as T) ? [at] : []));
  return starts.map((from, index) => ({
    file: fileOf(items[from] as T),
    from,
    to: starts[index + 1] ?? items.length,
  }));
}

function piecesOf({ file, from, to }: Run): readonly Page[] {
  return Array.from({ length: Math.ceil((to - from) / pageSize) }, (_, nth): Page => {
    const [start, end] = [from + nth * pageSize, Math.min(to, from + (nth + 1) * pageSize)];
    return { name: `${nameOf(file)} ${start - from + 1}–${end - from}`, file, from: start, to: end };
  });
}
