import Papa from 'papaparse';
import { decoded } from './valuesWithin.ts';

/** A value that a column, an element or a parameter names, and what it is in. */
export type NamedValue = {
  readonly value: string;
  readonly field: string;
  readonly within: string;
  /** The names of the other columns of its table, or of the other attributes or parameters. */
  readonly beside: readonly string[];
};

/** Returns the values of tables in Markdown, CSV and of databases, of XML, and of `name=value`. */
export function namedValuesIn(text: string): readonly NamedValue[] {
  return [
    ...[',', ';', '\t'].flatMap((sign) => (text.includes(sign) ? separatedIn(text, sign) : [])),
    ...columnIn(text),
    ...(text.includes('|') ? drawnIn(text) : []),
    ...(text.includes('<') ? elementsIn(text) : []),
    ...(text.includes('=') ? assignedIn(text) : []),
  ];
}

const name = String.raw`[\p{L}_][^",;|\t\n]{0,40}`;
const heading = /^[\p{L}_][\p{L}\p{N}_ .()/#-]{0,40}$|^$/u;
const isHeading = (cells: readonly string[]) =>
  cells.length > 1 && cells.some((cell) => cell.trim() !== '') && cells.every((cell) => heading.test(cell.trim()));

const valuesOf = (columns: readonly string[], cells: readonly string[]): readonly NamedValue[] =>
  cells.slice(0, columns.length).flatMap((cell, at): readonly NamedValue[] => {
    const [field, value] = [columns[at]?.trim() ?? '', cell.trim()];
    const beside = columns.map((each) => each.trim()).filter((each) => each !== field);
    return value === '' ? [] : [{ value, field, within: '', beside }];
  });

/** Returns the values of tables whose cells have a sign between them. Other text may be before and behind a table. */
function separatedIn(text: string, sign: string): readonly NamedValue[] {
  const plain = text.replace(/\r\n?/g, '\n');
  const line = new RegExp(`^[ ]*(?:"${name}"|(?:${name})?)(?:${sign}[ ]*(?:"${name}"|(?:${name})?))+$`, 'gmu');
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
  let columns: readonly string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (/^[\s|+:=-]+$/.test(line) && /[-=]/.test(line)) continue;
    const cells = line.split('|');
    if (columns.length > 1 && cells.length === columns.length) found.push(...valuesOf(columns, cells));
    else columns = isHeading(cells) ? cells : [];
  }
  return found;
}

const assignment =
  /(?<![^\s?&;,({[<])(?<field>[\p{L}_][\p{L}\p{N}_.:-]{0,60})=(?:"(?<double>[^"<>\n]{1,200})"|'(?<single>[^'<>\n]{1,200})'|(?<bare>[^\s&;,"'<>#]{1,200}))/gu;

/** Returns the values of parameters of an address, of attributes of an element, and of fields of a log. */
function assignedIn(text: string, within = ''): readonly NamedValue[] {
  const all = [...text.matchAll(assignment)].flatMap(({ groups = {} }) => {
    const { field = '', bare = '' } = groups;
    const quoted = groups['double'] ?? groups['single'];
    return quoted === undefined ? plainOf(bare).map((value) => ({ field, value })) : [{ field, value: quoted }];
  });
  const fields = [...new Set(all.map(({ field }) => field))].slice(0, 100);
  return all.map((each) => ({ ...each, within, beside: fields.filter((field) => field !== each.field) }));
}

/** Returns what a parameter means. A plus may be a space, so that both readings are returned. */
function plainOf(parameter: string): readonly string[] {
  const value = decoded(parameter) ?? parameter;
  const spaced = value.includes('@') ? value : value.replace(/(?<=\S)\+/g, ' ');
  return [...new Set([spaced, value])];
}

function elementsIn(text: string): readonly NamedValue[] {
  const found: NamedValue[] = [];
  const open: { readonly name: string; readonly end: number; hasParts: boolean }[] = [];
  for (const { 1: close, 2: name = '', 3: attributes = '', 4: empty, index, 0: tag } of text.matchAll(
    /<(\/?)([\p{L}_][\p{L}\p{N}_:-]{0,60})(\s[^<>]{0,500}?)?(\/?)>/gu,
  )) {
    const parent = open.at(-1);
    const field = name.replace(/^.*:/, '');
    if (close === '/') {
      if (parent?.name !== name) continue;
      open.pop();
      const within = open.at(-1)?.name ?? '';
      const value = text.slice(parent.end, index).trim();
      if (!parent.hasParts && value !== '') found.push({ value, field, within, beside: [] });
    } else {
      if (parent) parent.hasParts = true;
      found.push(...assignedIn(attributes, field));
      if (empty !== '/') open.push({ name, end: index + tag.length, hasParts: false });
    }
  }
  return found;
}
