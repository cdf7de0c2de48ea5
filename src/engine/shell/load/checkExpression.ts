import { parseExpression, pathsIn } from '../../core/expression.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Fix, Location } from '../diagnostic.ts';
import { respelt, within } from './edit.ts';
import { didYouMean } from './nearest.ts';
import type { Bases, Note } from './note.ts';

export type ExpressionContext = {
  readonly kind: 'rule' | 'task';
  /** Names that the expression can start with. */
  readonly names: readonly string[];
  /** Arguments that `args` may have; empty where they are not known. */
  readonly args: readonly string[];
  readonly bases: Bases;
  /** Names of the lists of phrases. */
  readonly phrases?: readonly string[];
  readonly note: Note;
};

/** Notes what is wrong with an expression, at its place in the file. */
export function checkExpression(
  text: string,
  at: Location,
  { kind, names, args, bases, phrases = [], note }: ExpressionContext,
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
      const fix = respelt(place, name, names);
      note(place, 'error', `${kind}/unknown-name`, `${name} is not known here.`, hint, fix);
    } else if (name === 'args' && typeof key === 'string' && args.length > 0 && !args.includes(key)) {
      const hint = didYouMean(key, args, `Their arguments are ${args.join(', ')}.`);
      const message = `None of the tools of this check has an argument ${key}.`;
      const fix = memberFix(text, at, { name, key, offset }, args);
      note(place, 'error', `${kind}/unknown-argument`, message, hint, fix);
    } else if (name === 'phrases' && typeof key === 'string' && !phrases.includes(key)) {
      const all = phrases.length === 0 ? 'Write its phrases into phrases.yaml.' : `Its lists are ${phrases.join(', ')}.`;
      const hint = didYouMean(key, phrases, all);
      const fix = memberFix(text, at, { name, key, offset }, phrases);
      note(place, 'error', `${kind}/unknown-phrases`, `phrases.yaml has no list ${key}.`, hint, fix);
    } else if ((name === 'db' || name === 'user') && typeof key === 'string') {
      const base = name === 'db' ? bases.agent : bases.user;
      const fix = memberFix(text, at, { name, key, offset }, Object.keys(base));
      checkTable(key, base, place, kind, note, fix);
    }
  }
}

/** The nearest name in place of the first member of a path that is written with a dot. */
function memberFix(
  text: string,
  at: Location,
  { name, key, offset }: { readonly name: string; readonly key: string; readonly offset: number },
  candidates: readonly string[],
): Fix | undefined {
  const from = offset + name.length + 1;
  if (text[from - 1] !== '.' || !text.startsWith(key, from)) return undefined;
  const place = within(at, text, from, key.length);
  return place === at ? undefined : respelt(place, key, candidates);
}

/** A table that the database does not have from the start may still be made by a tool: a warning. */
function checkTable(
  table: string,
  base: JsonObject,
  at: Location,
  kind: 'rule' | 'task',
  note: Note,
  fix: Fix | undefined,
): void {
  const tables = Object.keys(base);
  if (tables.length === 0 || tables.includes(table)) return;
  const hint = didYouMean(table, tables, `It has ${tables.join(', ')}.`);
  note(at, 'warning', `${kind}/unknown-table`, `The database has no ${table}.`, hint, fix);
}
