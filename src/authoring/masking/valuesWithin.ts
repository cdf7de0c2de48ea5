import { type Json, type JsonObject, jsonOf } from '../../engine/core/values/json.ts';
import { isTooDeep } from '../../engine/core/values/nesting.ts';
import { pythonLiteral } from '../../engine/core/values/pythonLiteral.ts';
import type { Span } from './valueIndex.ts';

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

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
