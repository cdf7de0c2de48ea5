import { parse } from 'yaml';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { yamlScalar } from '../../engine/shell/source/edit.ts';

/** Columns that a line of a new value fills at most, where it can be broken or written in another way. */
const width = 110;

/** The context of a new value: the indentation of its lines, and the line ending of the file. */
export type BlockLayout = { readonly indent: number; readonly eol: string };

/** A value on one line, in the brackets of JSON. */
export function flowText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item as Json)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return yamlScalar(value as string | number | boolean | null);
  const entries = Object.entries(value).map(([key, each]) => `${yamlScalar(key)}: ${flowText(each)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

/**
 * `key: value` of a block, its further lines indented below the key.
 * @param place of the key
 */
export function pairText(key: string, value: Json, place: BlockLayout): string {
  const name = yamlScalar(key, false);
  const text = belowKey(value, { ...place, indent: place.indent + 2 }, place.indent + name.length + 2);
  return text.startsWith(place.eol) ? `${name}:${text}` : `${name}: ${text}`;
}

/** A value behind `key:`: on that line, or on separate lines, which begin with the end of the first. */
function belowKey(value: Json, place: BlockLayout, column: number): string {
  if (typeof value === 'string') return stringText(value, place, column);
  if (typeof value !== 'object' || value === null) return String(value);
  const isSmall = Array.isArray(value) ? value.every(isScalar) : Object.keys(value).length === 0;
  const flow = isSmall ? flowText(value) : null;
  if (flow !== null && (column + flow.length <= width || value === null || Object.keys(value).length === 0))
    return flow;
  return `${place.eol}${' '.repeat(place.indent)}${blockText(value, place)}`;
}

/** A value of a block from where it begins; its further lines are indented as far. */
export function blockText(value: Json, place: BlockLayout): string {
  const { indent, eol } = place;
  const next = `${eol}${' '.repeat(indent)}`;
  if (Array.isArray(value) && value.length > 0) return value.map((item) => itemText(item as Json, place)).join(next);
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
    return Object.entries(value as JsonObject)
      .map(([key, each]) => pairText(key, each, place))
      .join(next);
  return typeof value === 'string' ? stringText(value, place, indent) : flowText(value);
}

/** `- value` of a block: a collection in brackets where that fits on the line. */
export function itemText(value: Json, { indent, eol }: BlockLayout, mayUseBrackets = true): string {
  const isCollection = typeof value === 'object' && value !== null;
  const flow = isCollection ? flowText(value) : null;
  if (flow !== null && (indent + 2 + flow.length <= width || flow.length <= 2) && (mayUseBrackets || flow.length <= 2))
    return `- ${flow}`;
  return `- ${blockText(value, { indent: indent + 2, eol })}`;
}

/** A text in a block: on one line, folded where it is long, and with its own lines where it has several. */
function stringText(value: string, place: BlockLayout, column: number): string {
  const line = yamlScalar(value, false);
  if (!value.includes('\n') && column + line.length <= width) return line;
  return blockScalar(value.includes('\n') ? '|' : '>', value, place) ?? line;
}

/**
 * A text as a block scalar of the given style, from its sign on; null where it can't be one.
 * @param place of its lines
 */
export function blockScalar(style: '|' | '>', value: string, { indent, eol }: BlockLayout): string | null {
  if (
    value.trim() === '' ||
    /^[ \t\n]/.test(value) ||
    /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(value)
  )
    return null;
  const chomping = value.endsWith('\n\n') ? '+' : value.endsWith('\n') ? '' : '-';
  const body = value.endsWith('\n') ? value.slice(0, -1) : value;
  const lines = style === '|' ? body.split('\n') : foldedLines(body, width - indent);
  if (lines === null) return null;
  const written = lines.map((line) => (line === '' ? '' : `${' '.repeat(indent)}${line}`)).join('\n');
  const header = `${style}${chomping}`;
  if (parse(`a: ${header}\n${written}\n`)?.a !== value) return null;
  return `${header}${eol}${written.replaceAll('\n', eol)}`;
}

/** Words filled into lines; null where white space would not come back as it was. */
function foldedLines(text: string, columns: number): string[] | null {
  if (/\n|\s\s|\s$/.test(text)) return null;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const isScalar = (value: Json): boolean => typeof value !== 'object' || value === null;
