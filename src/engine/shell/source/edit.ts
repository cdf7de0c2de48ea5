import { parse } from 'yaml';
import { type Edit, type Fix, type Location, placeAt } from '../files/diagnostic.ts';
import { nearest } from './nearest.ts';

/** The fix that puts another word where one is, in the same quotes; undefined where more is there. */
export function replacing(at: Location, old: string, text: string): Fix | undefined {
  const written = at.endColumn - at.column;
  if (at.line !== at.endLine) return undefined;
  const title = `Change ${old} to ${text}`;
  if (written === old.length) return { title, edits: [{ ...placeAt(at), text: yamlScalar(text) }] };
  if (written !== old.length + 2) return undefined;
  return { title, edits: [{ ...placeAt(at), column: at.column + 1, endColumn: at.endColumn - 1, text }] };
}

/** A fix of one edit; undefined if nothing has to be edited. */
export function fixOf(title: string, edit: Edit | null): Fix | undefined {
  return edit === null ? undefined : { title, edits: [edit] };
}

/**
 * The fix that puts the word which was most likely meant where a misspelt one is; undefined where none is close.
 * @param limit letters that may differ
 */
export function respelt(at: Location, word: string, candidates: Iterable<string>, limit?: number): Fix | undefined {
  const meant = nearest(word, candidates, limit);
  return meant === undefined ? undefined : replacing(at, word, meant);
}

/** The fix that puts a value between quotes. */
export function quoted(at: Location): Fix | undefined {
  if (at.line !== at.endLine || at.column === at.endColumn) return undefined;
  const place = placeAt(at);
  const edits = [
    { ...place, endColumn: place.column, text: '"' },
    { ...place, column: place.endColumn, text: '"' },
  ];
  return { title: 'Put it in quotes', edits };
}

/** The place of a part of a text on one line; the whole where the text has several lines or escapes. */
export function within(at: Location, text: string, offset: number, length: number): Location {
  const written = at.endColumn - at.column;
  const quote = written === text.length ? 0 : written === text.length + 2 ? 1 : null;
  if (at.line !== at.endLine || quote === null) return at;
  const column = at.column + quote + Math.min(offset, text.length);
  return { ...at, column, endColumn: Math.min(column + length, at.endColumn) };
}

/**
 * A value as YAML on one line: a text is plain where it means itself, else in double quotes.
 * @param isFlow whether it is, or may be, in brackets
 */
export function yamlScalar(value: string | number | boolean | null, isFlow = true): string {
  return typeof value !== 'string' || isPlain(value, isFlow) ? String(value) : JSON.stringify(value);
}

/** Whether a text means itself without quotes, for readers of YAML 1.1 as well. */
function isPlain(text: string, isFlow: boolean): boolean {
  if (!/^[^\s'"#&*!|>%@`{}[\],?:-](?:.*\S)?$/.test(text) || /^(?:y|n|yes|no|on|off|true|false|null|~)$/i.test(text))
    return false;
  if (/[\n\t]|: |:$| #/.test(text) || (isFlow && /[{}[\],]/.test(text))) return false;
  // A number, or a date that other readers make one of.
  if (/^[\d.+]/.test(text) && !/[a-z]{2}/i.test(text)) return false;
  try {
    const read: unknown = parse(isFlow ? `[${text}]` : text);
    return (isFlow ? (read as readonly unknown[])[0] : read) === text;
  } catch {
    return false;
  }
}
