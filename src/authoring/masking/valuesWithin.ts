import { decodeNamedCharacterReference } from 'decode-named-character-reference';
import { isObject, type Json, type JsonObject, jsonOf } from '../../engine/core/values/json.ts';
import { isTooDeep } from '../../engine/core/values/nesting.ts';
import { pythonLiteral } from '../../engine/core/values/pythonLiteral.ts';
import { composed } from './text/texts.ts';
import type { Span } from './text/valueIndex.ts';

/** A value in a text that has other text around it, or that Python printed. */
export type ValueWithin = Span & { readonly value: Json };

/** Returns the objects of a text: one behind other words or in a fence, one a line, or one as Python prints it. */
export function valuesWithin(text: string): readonly ValueWithin[] {
  const start = text.search(/[[{(]/);
  const end = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}'), text.lastIndexOf(')')) + 1;
  if (start < 0 || !/[{]/.test(text) || end <= start) return [];
  const whole = valueIn(text, start, end) ?? valueIn(text, text.indexOf('{'), text.lastIndexOf('}') + 1);
  if (whole) return [whole];
  return [...text.matchAll(/^[ \t]*(?<value>[[{].*[\]}])[ \t]*$/gm)].flatMap(({ 0: line, index, groups }) => {
    const at = index + line.indexOf(groups?.['value'] ?? '');
    return valueIn(text, at, at + (groups?.['value'] ?? '').length) ?? [];
  });
}

function valueIn(text: string, start: number, end: number): ValueWithin | null {
  const source = text.slice(start, end);
  const value = jsonOf(source) ?? pythonLiteral(source);
  const isData = typeof value === 'object' && value !== null && (!Array.isArray(value) || value.some(isObject));
  return isData && !isTooDeep(value) ? { start, end, value: value as Json } : null;
}

/** Returns the rows of a table whose columns are in another list than its cells: `{"columns": […], "rows": [[…]]}`. */
export function rowsOf(value: JsonObject): readonly JsonObject[] {
  const key = ['columns', 'fields', 'headers', 'header'].find((each) => Array.isArray(value[each]));
  if (key === undefined) return [];
  const columns = (value[key] as readonly Json[]).map((each) => (isObject(each) ? each['name'] : each));
  const lists = Object.entries(value).flatMap(([each, list]) => (each !== key && Array.isArray(list) ? [list] : []));
  return lists
    .flat()
    .filter((row): row is Json[] => Array.isArray(row) && row.length === columns.length)
    .map((row) => Object.fromEntries(row.map((cell, at) => [String(columns[at]), cell])));
}

/** Returns the rows of a list of rows of which the first one has the names of the columns. */
export function rowsOfList([columns, ...rows]: readonly Json[]): readonly JsonObject[] {
  const isHead = Array.isArray(columns) && columns.length > 1 && columns.every(isFieldName);
  return isHead && rows.length > 0 && rows.every((row) => Array.isArray(row)) ? rowsOf({ columns, rows }) : [];
}

/** Returns the fields that a list of pairs has: `[{"key": "name", "value": "X"}]`; null for another list. */
export function pairsIn(list: readonly Json[]): JsonObject | null {
  const pairs = list.flatMap((each): readonly (readonly [string, Json])[] => {
    if (!isObject(each)) return [];
    const { value = each['values'] } = each;
    const name = ['key', 'name', 'field', 'label', 'title', 'property', 'id'].find((key) => isFieldName(each[key]));
    return name === undefined || value === undefined ? [] : [[String(each[name]), plainValue(value)]];
  });
  return pairs.length > 0 && pairs.length === list.length ? Object.fromEntries(pairs) : null;
}

const isFieldName = (value: Json | undefined) => typeof value === 'string' && /^\p{L}[^\n]{0,60}$/u.test(value);

/** Returns the value of a property that has others beside it, such as its time or its type. */
export function plainValue(value: Json): Json {
  const { value: own, stringValue = own } = isObject(value) ? value : {};
  return stringValue === undefined || typeof stringValue === 'object' ? value : stringValue;
}

/** Returns the pieces of a text with percent signs for other signs, as in addresses, and what each means. */
export function encodedIn(text: string): readonly (Span & { readonly plain: string })[] {
  if (!text.includes('%')) return [];
  return [...text.matchAll(/[\p{L}\p{N}_.~!*'+-]{0,200}(?:%[\dA-F]{2}[\p{L}\p{N}_.~!*'+-]{0,200}){1,200}/giu)].flatMap(
    ({ 0: piece, index }) => {
      const plain = decoded(piece);
      return plain === null || plain === piece ? [] : [{ start: index, end: index + piece.length, plain }];
    },
  );
}

/** Returns what a piece of an address means; null where its percent signs are not of one. */
export function decoded(piece: string): string | null {
  try {
    return decodeURIComponent(piece).normalize('NFC');
  } catch {
    return null;
  }
}

const entity = /&(?:#\d{2,6}|#x[\da-f]{2,6}|[a-z]{2,8});/giu;
const besideEntities = /(?:[\p{L}\p{M}'’-]{1,60}|&(?:#\d{2,6}|#x[\da-f]{2,6}|[a-z]{2,8});){1,40}/giu;

/** Returns the sign that an entity of HTML means; the entity itself where it means none. */
function signOf(written: string): string {
  const [, hex, decimal, name = ''] = /^&(?:#x([\da-f]+)|#(\d+)|(\w+));$/i.exec(written) ?? [];
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  if (code <= 0x10ffff) return String.fromCodePoint(code);
  return decodeNamedCharacterReference(name) || written;
}

/** Returns a text with the signs that entities of HTML mean. */
export const withoutEntities = (text: string): string => (text.includes('&') ? text.replace(entity, signOf) : text);

/** Returns the words of a text that have entities of HTML for some of their letters, and what each means. */
export function entitiesIn(text: string): readonly (Span & { readonly plain: string })[] {
  if (text.search(entity) < 0) return [];
  return [...text.matchAll(besideEntities)].flatMap(({ 0: piece, index }) => {
    const found: (Span & { readonly plain: string })[] = [];
    let [start, at, plain, isWritten] = [index, index, '', false];
    const end = (): void => {
      if (isWritten) found.push({ start, end: at, plain: composed(plain) });
      [plain, isWritten] = ['', false];
    };
    for (const part of piece.match(/&[^;]*;|[^&]+/g) ?? []) {
      const isEntity = part.startsWith('&');
      const sign = isEntity ? signOf(part) : part;
      // A space or a sign of punctuation ends a word, and a sign without a width does not.
      if (isEntity && !/^[\p{L}\p{M}'’]$/u.test(sign) && composed(sign) !== '') {
        end();
        start = at + part.length;
      } else [plain, isWritten] = [plain + sign, isWritten || isEntity];
      at += part.length;
    }
    end();
    return found;
  });
}
