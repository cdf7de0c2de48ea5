import type { Span } from './valueIndex.ts';

/** A value of a text that a column or an element names, and what it is in. */
export type NamedValue = Span & {
  readonly field: string;
  readonly within: string;
  /** The names of the other columns of its table. */
  readonly beside: readonly string[];
};

/** Returns the values of tables in Markdown and CSV, and of elements in XML. */
export function namedValuesIn(text: string): readonly NamedValue[] {
  return [...rowsIn(text), ...elementsIn(text)];
}

type Cell = Span & { readonly text: string };

function cellsOf(line: string, start: number, sign: string): readonly Cell[] {
  let at = start;
  return line.split(sign).map((part) => {
    const from = at + part.length - part.trimStart().length;
    at += part.length + sign.length;
    const bare = part.trim().replace(/^"(.*)"$/, '$1');
    const first = from + (part.trim().startsWith('"') && bare !== part.trim() ? 1 : 0);
    return { text: bare, start: first, end: first + bare.length };
  });
}

const isHeader = (cells: readonly Cell[]) =>
  cells.length > 1 && cells.every(({ text }) => /^[\p{L}_][\p{L}\p{N}_ -]{0,30}$|^$/u.test(text));

function rowsIn(text: string): readonly NamedValue[] {
  const lines = [...text.matchAll(/[^\n]+/g)].map(({ 0: line, index }) => ({ line, start: index }));
  return ['|', ',', ';', '\t'].flatMap((sign) => {
    const found: NamedValue[] = [];
    let header: readonly Cell[] = [];
    for (const { line, start } of lines) {
      const cells = line.includes(sign) ? cellsOf(line, start, sign) : [];
      const isRow = header.length > 1 && cells.length === header.length;
      if (!isRow) header = isHeader(cells) ? cells : [];
      else
        for (const [column, cell] of cells.entries()) {
          const field = header[column]?.text ?? '';
          const beside = header.map((each) => each.text).filter((each) => each !== field);
          if (cell.text !== '') found.push({ start: cell.start, end: cell.end, field, within: '', beside });
        }
    }
    return found;
  });
}

function elementsIn(text: string): readonly NamedValue[] {
  const found: NamedValue[] = [];
  const open: { readonly name: string; readonly end: number; hasParts: boolean }[] = [];
  for (const { 1: close, 2: name = '', 3: empty, index, 0: tag } of text.matchAll(
    /<(\/?)([\p{L}_][\p{L}\p{N}_:-]{0,60})(?:\s[^<>]{0,500})?(\/?)>/gu,
  )) {
    const parent = open.at(-1);
    if (close === '/') {
      if (parent?.name !== name) continue;
      open.pop();
      const field = name.replace(/^.*:/, '');
      const within = open.at(-1)?.name ?? '';
      if (!parent.hasParts && index > parent.end)
        found.push({ start: parent.end, end: index, field, within, beside: [] });
    } else {
      if (parent) parent.hasParts = true;
      if (empty !== '/') open.push({ name, end: index + tag.length, hasParts: false });
    }
  }
  return found;
}
