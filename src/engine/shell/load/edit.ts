import { type Edit, type Fix, type Location, placeAt } from '../diagnostic.ts';

/** The fix that puts another word where one stands, in the same quotes; undefined where more stands there. */
export function replacing(at: Location, old: string, text: string): Fix | undefined {
  const written = at.endColumn - at.column;
  if (at.line !== at.endLine) return undefined;
  const title = `Change ${old} to ${text}`;
  if (written === old.length)
    return { title, edits: [{ ...placeAt(at), text: isPlain(text) ? text : JSON.stringify(text) }] };
  if (written !== old.length + 2) return undefined;
  return { title, edits: [{ ...placeAt(at), column: at.column + 1, endColumn: at.endColumn - 1, text }] };
}

/** A fix of one edit; undefined where there is none to make. */
export function fixOf(title: string, edit: Edit | null): Fix | undefined {
  return edit === null ? undefined : { title, edits: [edit] };
}

/** A value as YAML on one line. */
export function scalarText(value: string | number | boolean): string {
  return typeof value !== 'string' || isPlain(value) ? String(value) : JSON.stringify(value);
}

/** Whether a text means itself in YAML without quotes. */
const isPlain = (text: string) =>
  /^[A-Za-z][\w ./-]*$/.test(text) && !/^(?:true|false|null|yes|no|on|off)$/i.test(text) && !text.endsWith(' ');
