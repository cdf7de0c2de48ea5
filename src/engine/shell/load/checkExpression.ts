import { parseExpression, pathsIn } from '../../core/expression.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Location } from '../diagnostic.ts';
import { didYouMean } from './nearest.ts';
import type { Bases, Note } from './note.ts';

export type ExpressionContext = {
  readonly kind: 'rule' | 'task';
  /** Names that the expression can start with. */
  readonly names: readonly string[];
  /** Arguments that `args` may have; empty where they are not known. */
  readonly args: readonly string[];
  readonly bases: Bases;
  readonly note: Note;
};

/** Notes what is wrong with an expression, at its place in the file. */
export function checkExpression(
  text: string,
  at: Location,
  { kind, names, args, bases, note }: ExpressionContext,
): void {
  const parsed = parseExpression(text);
  if ('problem' in parsed) {
    const message = `This is not an expression: ${parsed.problem}.`;
    const hint = 'docs/rule-language.md says how one is written.';
    note(within(at, text, parsed.at, 1), 'error', `${kind}/bad-expression`, message, hint);
    return;
  }
  for (const { name, keys, at: offset } of pathsIn(parsed.expression)) {
    const place = within(at, text, offset, name.length);
    const [key] = keys;
    if (!names.includes(name)) {
      const hint = didYouMean(name, names, `Here an expression can start with ${names.join(', ')}.`);
      note(place, 'error', `${kind}/unknown-name`, `${name} is not known here.`, hint);
    } else if (name === 'args' && typeof key === 'string' && args.length > 0 && !args.includes(key)) {
      const hint = didYouMean(key, args, `Their arguments are ${args.join(', ')}.`);
      note(place, 'error', `${kind}/unknown-argument`, `None of the tools of this check has an argument ${key}.`, hint);
    } else if ((name === 'db' || name === 'user') && typeof key === 'string') {
      checkTable(key, name === 'db' ? bases.agent : bases.user, place, kind, note);
    }
  }
}

/** A table that the database does not have from the start may still be made by a tool: a warning. */
function checkTable(table: string, base: JsonObject, at: Location, kind: 'rule' | 'task', note: Note): void {
  const tables = Object.keys(base);
  if (tables.length === 0 || tables.includes(table)) return;
  const hint = didYouMean(table, tables, `It has ${tables.join(', ')}.`);
  note(at, 'warning', `${kind}/unknown-table`, `The database has no ${table}.`, hint);
}

/** The place of a part of a text on one line; the whole where the text has several lines or escapes. */
function within(at: Location, text: string, offset: number, length: number): Location {
  const written = at.endColumn - at.column;
  const quote = written === text.length ? 0 : written === text.length + 2 ? 1 : null;
  if (at.line !== at.endLine || quote === null) return at;
  const column = at.column + quote + Math.min(offset, text.length);
  return { ...at, column, endColumn: Math.min(column + length, at.endColumn) };
}
