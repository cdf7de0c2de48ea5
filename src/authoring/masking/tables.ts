import Papa from 'papaparse';
import { keyedIn } from './keyedLines.ts';
import { assignedIn, type Cell, elementsIn, htmlTablesIn, valuesOfTable } from './markup.ts';
import { isHeading, type NamedValue, valuesOf } from './namedValue.ts';

/** Returns the values of tables in Markdown, CSV, HTML and of terminals, of XML, of YAML, and of `name=value`. */
export function namedValuesIn(text: string): readonly NamedValue[] {
  return [
    ...signs.flatMap((sign) => (text.includes(sign) ? separatedIn(text, sign) : [])),
    ...columnIn(text),
    ...(text.includes('|') ? drawnIn(text) : []),
    ...(/ {2}/.test(text) ? alignedIn(text) : []),
    ...(text.includes('<') ? [...elementsIn(text), ...htmlTablesIn(text)] : []),
    ...(text.includes(':') ? keyedIn(text) : []),
    ...(text.includes('=') ? assignedIn(text) : []),
  ];
}

const name = String.raw`[\p{L}_][^",;|\t\n]{0,40}`;
const headingOf = (sign: string) =>
  new RegExp(`^[ ]*(?:"${name}"|(?:${name})?)(?:${sign}[ ]*(?:"${name}"|(?:${name})?))+$`, 'gmu');
/** Matches a line that may be the heading of a table, by the sign between its cells. */
const headings = { ',': headingOf(','), ';': headingOf(';'), '\t': headingOf('\t') } as const;
type Sign = keyof typeof headings;
const signs = Object.keys(headings) as readonly Sign[];

/** Returns the values of tables whose cells have a sign between them. Other text may be before and behind a table. */
function separatedIn(text: string, sign: Sign): readonly NamedValue[] {
  const plain = text.replace(/\r\n?/g, '\n');
  const line = headings[sign];
  line.lastIndex = 0;
  const found: NamedValue[] = [];
  for (let head = line.exec(plain); head; head = line.exec(plain)) {
    const table = tableFrom(plain.slice(head.index), sign);
    for (const each of table.values) found.push(each);
    if (table.values.length > 0) line.lastIndex = head.index + table.length;
  }
  return found;
}

/** Whether cells are a row: one may have too many, where a text with the sign is not in quotes. */
function isRow(cells: readonly string[], columns: readonly string[], isFirst: boolean): boolean {
  if (cells.length === columns.length) return true;
  return cells.length > 1 && (!isFirst || columns.every((each) => /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(each)));
}

/** Reads the table that a text begins with. */
function tableFrom(text: string, sign: string): { readonly values: readonly NamedValue[]; readonly length: number } {
  const values: NamedValue[] = [];
  let columns: readonly string[] | null = null;
  let length = 0;
  Papa.parse<readonly string[]>(text, {
    ...{ delimiter: sign, newline: '\n', fastMode: false },
    step: ({ data: cells, meta: { cursor } }, parser) => {
      if (columns === null && isHeading(cells)) columns = cells;
      else if (columns !== null && isRow(cells, columns, values.length === 0)) values.push(...valuesOf(columns, cells));
      else return parser.abort();
      length = cursor;
    },
  });
  return { values, length };
}

/** Returns the values of a table of one column, which a whole text is. */
function columnIn(text: string): readonly NamedValue[] {
  const [first = '', ...rest] = text.trim().split(/\r?\n/);
  const [, field] = /^"?([a-z][A-Za-z\d_.]{2,40})"?$/.exec(first) ?? [];
  if (field === undefined) return [];
  return rest.map((line) => ({ value: line.trim().replace(/^"(.*)"$/, '$1'), field, within: '', beside: [] }));
}

/** Returns the values of tables that are drawn with strokes, as Markdown and the terminals of databases do. */
function drawnIn(text: string): readonly NamedValue[] {
  const found: NamedValue[] = [];
  let rows: (readonly Cell[])[] = [];
  let isRuled = false;
  const end = (): void => {
    // Without a rule the strokes may be signs of a sentence.
    for (const each of valuesOfTable(rows)) found.push({ ...each, mayBeProse: each.mayBeProse === true || !isRuled });
    [rows, isRuled] = [[], false];
  };
  for (const line of text.split(/\r?\n/)) {
    const cells = line
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((each) => ({ text: each.trim().replace(/^(\*\*|__|`)(.*)\1$/, '$2'), isHead: false }));
    if (/^[\s|+:=-]+$/.test(line) && /[-=]/.test(line)) {
      isRuled = true;
      continue;
    }
    if (cells.length !== rows[0]?.length) end();
    if (cells.length > 1) rows.push(cells);
  }
  end();
  return found;
}

/** Returns the values of tables with columns of a fixed width: two spaces or more are between the cells. */
function alignedIn(text: string): readonly NamedValue[] {
  const found: NamedValue[] = [];
  let columns: readonly Column[] | null = null;
  for (const line of text.split(/\r?\n/)) {
    if (columns && /^[\s=-]+$/.test(line) && /[-=]/.test(line)) continue;
    const cells: readonly string[] | null = columns && cellsIn(line, columns);
    if (columns && cells)
      found.push(
        ...valuesOf(
          columns.map(({ name }) => name),
          cells,
        ),
      );
    else columns = columnsIn(line);
  }
  return found;
}

/** A column and where its heading begins. */
type Column = { readonly name: string; readonly start: number };

function columnsIn(line: string): readonly Column[] | null {
  const columns = [...line.matchAll(/\S+(?: \S+)*/g)].map(({ 0: name, index }) => ({ name, start: index }));
  return isHeading(columns.map(({ name }) => name)) && columns.every(({ name }) => name !== '') ? columns : null;
}

/** Returns the cells of a row by the places of the columns, or in order; null for a line that is not a row. */
function cellsIn(line: string, columns: readonly Column[]): readonly string[] | null {
  const isAligned = columns.every(({ start }) => start === 0 || start >= line.length || line[start - 1] === ' ');
  const ordered = line.trim().split(/ {2,}/);
  if (ordered.length === columns.length) return ordered;
  if (!isAligned || ordered.length < 2) return null;
  return columns.map(({ start }, at) => line.slice(start, columns[at + 1]?.start));
}
