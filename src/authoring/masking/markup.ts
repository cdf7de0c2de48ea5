import { isPersonalField } from './fields.ts';
import { isHeading, type NamedValue, valuesOf, withParts } from './namedValue.ts';
import { decoded, withoutEntities } from './valuesWithin.ts';

const assignment =
  /(?<![^\s?&;,({[<])(?<field>[\p{L}_][\p{L}\p{N}_.:-]{0,60})=(?:"(?<double>[^"<>\n]{1,200})"|'(?<single>[^'<>\n]{1,200})'|(?<bare>[^\s&;,"'<>#]{1,200}(?:(?: [^\s&;,"'<>#=]{1,60}){1,4}(?=[;,|] ?[\p{L}_]+=))?))/gu;

/** Returns the values of parameters of an address, of attributes of an element, and of fields of a log. */
export function assignedIn(text: string, within = ''): readonly NamedValue[] {
  const all = [...text.matchAll(assignment)].flatMap(({ groups = {} }) => {
    const { field = '', bare = '' } = groups;
    const quoted = groups['double'] ?? groups['single'];
    return quoted === undefined ? plainOf(bare).map((value) => ({ field, value })) : [{ field, value: quoted }];
  });
  const fields = [...new Set(all.map(({ field }) => field))].slice(0, 100);
  return withParts(all.map((each) => ({ ...each, within, beside: fields.filter((field) => field !== each.field) })));
}

/** Returns what a parameter means. A plus may be a space, so that both readings are returned. */
function plainOf(parameter: string): readonly string[] {
  const value = decoded(parameter) ?? parameter;
  const spaced = value.includes('@') ? value : value.replace(/(?<=\S)\+/g, ' ');
  return [...new Set([spaced, value])];
}

const tag = /<(\/?)([\p{L}_][\p{L}\p{N}_:-]{0,60})(\s[^<>]{0,500}?)?(\/?)>/gu;

/** Returns the values of elements and attributes of XML. */
export function elementsIn(text: string): readonly NamedValue[] {
  const found: NamedValue[] = [];
  const outside: NamedValue[] = [];
  const open: { readonly name: string; readonly end: number; readonly values: NamedValue[]; hasParts: boolean }[] = [];
  for (const { 1: close, 2: name = '', 3: attributes = '', 4: empty, index, 0: whole } of text.matchAll(tag)) {
    const parent = open.at(-1);
    const field = name.replace(/^.*:/, '');
    if (close === '/') {
      if (parent?.name !== name) continue;
      open.pop();
      for (const each of withParts(parent.values)) found.push(each);
      const outer = open.at(-1);
      const value = text.slice(parent.end, index).trim();
      if (!parent.hasParts && value !== '')
        (outer?.values ?? outside).push({ value: withoutCdata(value), field, within: outer?.name ?? '', beside: [] });
    } else {
      if (parent) parent.hasParts = true;
      found.push(...assignedIn(attributes, field));
      if (empty !== '/') open.push({ name, end: index + whole.length, values: [], hasParts: false });
    }
  }
  return [...found, ...withParts(outside), ...open.flatMap(({ values }) => values)];
}

const withoutCdata = (value: string) => value.replace(/^<!\[CDATA\[(.*)\]\]>$/s, '$1');

/** A cell of a table of HTML, or a term of a list with its description. */
export type Cell = { readonly text: string; readonly isHead: boolean };

const cellNames = new Map([
  ['th', true],
  ['dt', true],
  ['td', false],
  ['dd', false],
]);

/** Returns the values of tables of HTML, whose names are in their first row or before each value, and of its lists. */
export function htmlTablesIn(text: string): readonly NamedValue[] {
  if (!/<(?:table|tr|dl)\b/i.test(text)) return [];
  const found: NamedValue[] = [];
  let table: Cell[][] = [];
  let open: { readonly isHead: boolean; readonly start: number } | null = null;
  for (const { 1: close, 2: name = '', index, 0: whole } of text.matchAll(tag)) {
    const kind = name.toLowerCase();
    const isHead = cellNames.get(kind);
    if (isHead === undefined && !/^(?:table|tr|dl|thead|tbody|tfoot)$/.test(kind)) continue;
    // The end of a cell may be left out.
    if (open) table.at(-1)?.push({ text: plainText(text.slice(open.start, index)), isHead: open.isHead });
    open = isHead === undefined || close === '/' ? null : { isHead, start: index + whole.length };
    if (kind === 'table' || kind === 'dl') {
      found.push(...valuesOfTable(table));
      table = [];
    }
    if (close !== '/' && (kind === 'tr' || kind === 'dt')) table.push([]);
  }
  return [...found, ...valuesOfTable(table)];
}

/**
 * Returns the values of a table, whose names are in the first row, or in the first cell of each: that which has more names
 * of personal data.
 */
export function valuesOfTable(rows: readonly (readonly Cell[])[]): readonly NamedValue[] {
  const [first = []] = rows;
  const columns = first.map(({ text }) => text);
  const fields = rows.map(([head]) => head?.text.replace(/:$/, '') ?? '');
  const [across, down] = [columns, fields].map((names) => names.filter(isPersonalField).length);
  const isHead = first.length > 1 && first.every((cell) => cell.isHead);
  const hasColumns = rows.length > 1 && isHeading(columns) && (isHead || Number(across) >= Number(down));
  if (hasColumns)
    return rows.slice(1).flatMap((row) =>
      valuesOf(
        columns,
        row.map(({ text }) => text),
      ),
    );
  return rows.flatMap(([, ...cells], at): readonly NamedValue[] => {
    const field = fields[at] ?? '';
    const beside = fields.slice(0, mostBeside).filter((each) => each !== field);
    const mayBeProse = !rows[at]?.[0]?.isHead;
    return cells.flatMap(({ text: value }) => (value === '' ? [] : [{ value, field, within: '', beside, mayBeProse }]));
  });
}

/** The most names of other values that are looked at. */
const mostBeside = 100;

function plainText(html: string): string {
  return withoutEntities(html.replace(/<[^<>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}
