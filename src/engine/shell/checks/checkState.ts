import { factOf, type Task } from '../../core/domain/task.ts';
import { calendarDay } from '../../core/text/calendar.ts';
import { leavesOf } from '../../core/text/value.ts';
import { isObject, type JsonObject, valueAt } from '../../core/values/json.ts';
import { respelt } from '../source/edit.ts';
import { type Placed, placeOf } from '../source/items.ts';
import { didYouMean } from '../source/nearest.ts';
import type { Bases, Note } from '../source/note.ts';

/** A task's time must be one, and its own state must go into places that the database has. */
export function checkState(placed: Placed<Task>, bases: Bases, hasUserSide: boolean, note: Note): void {
  const { now, state } = placed.value;
  const problem = now === undefined ? null : nowProblem(now);
  if (problem) note(placeOf(placed, 'now'), 'error', 'task/wrong-date', problem.message, problem.hint);
  checkDates(placed, note);
  // Earlier entries may create what later ones go into.
  const created: string[] = [];
  for (const [index, { side, path, value }] of state.entries()) {
    if (side === 'user' && !hasUserSide) {
      const message = "This value is for the user's side, but the domain has no user database.";
      const hint = 'Name one in domain.yaml: userDatabase: user.json. Or remove `side: user`.';
      note(placeOf(placed, 'state', index), 'error', 'task/no-user-database', message, hint);
      continue;
    }
    const needed = value === null ? path.length : path.length - 1;
    const depth = path.slice(0, needed).findIndex((_, at) => valueAt(bases[side], path.slice(0, at + 1)) === undefined);
    const own = [side, ...path, ''].join('\0');
    const isCreated = created.some((earlier) => own.startsWith(earlier));
    if (value !== null) created.push(own);
    if (isCreated) continue;
    if (depth < 0) checkParent(placed, index, bases, note);
    if (depth < 0) checkKind(placed, index, bases, note);
    if (depth < 0) continue;
    const parent = valueAt(bases[side], path.slice(0, depth)) as JsonObject;
    const part = String(path[depth]);
    const where = depth === 0 ? `the ${side} database` : path.slice(0, depth).join('.');
    const message = `There is no ${part} in ${where}.`;
    const hint = didYouMean(part, Object.keys(parent ?? {}), 'Check the path against the database.');
    const at = placeOf(placed, 'state', index, 'path', depth);
    note(at, 'error', 'task/unknown-path', message, hint, respelt(at, part, Object.keys(parent ?? {})));
  }
}

/** Checks that the parent of a path can hold members: a text or a number cannot. */
function checkParent(placed: Placed<Task>, index: number, bases: Bases, note: Note): void {
  const { side = 'agent', path = [] } = placed.value.state[index] ?? {};
  const parent = valueAt(bases[side], path.slice(0, -1));
  if (typeof parent === 'object' && parent !== null) return;
  const message = `${path.slice(0, -1).join('.')} is ${JSON.stringify(parent)} in the ${side} database, so it has no fields.`;
  const at = placeOf(placed, 'state', index, 'path', path.length - 1);
  note(at, 'error', 'task/unknown-path', message, 'Check the path against the database.');
}

/** Notes a number, a text or a truth value where all rows of the table have another of these. */
function checkKind(placed: Placed<Task>, index: number, bases: Bases, note: Note): void {
  const { side = 'agent', path = [], value } = placed.value.state[index] ?? {};
  const table = path.length < 3 ? undefined : valueAt(bases[side], path.slice(0, -2));
  const field = path.at(-1) ?? '';
  const given = kindOf(value);
  const column = isObject(table)
    ? Object.values(table)
        .slice(0, sampled)
        .map((row) => kindOf(isObject(row) ? row[field] : null))
    : [];
  const [kind = null, ...others] = new Set(column.filter((each) => each !== null));
  if (given === null || kind === null || others.length > 0 || given === kind) return;
  const message = `${path.join('.')} gets ${given}, and ${field} is ${kind} in the rows of ${path.slice(0, -2).join('.')}.`;
  const hint = 'Write a number as 1, a text as "1".';
  note(placeOf(placed, 'state', index, 'value'), 'warning', 'task/type-mismatch', message, hint);
}

/** Rows that show what kind of values a field has. */
const sampled = 200;

const kinds: Readonly<Record<string, string>> = { number: 'a number', string: 'a text', boolean: 'true or false' };
const kindOf = (value: unknown) => kinds[typeof value] ?? null;

/** Returns why a text cannot be the time of tasks. A date in words could not be compared with those of a database. */
export function nowProblem(text: string): { readonly message: string; readonly hint: string } | null {
  const day = calendarDay(text, 'UTC');
  const isIso = /^\d{4}-\d{2}-\d{2}(?:[T ]|$)/.test(text);
  if (isIso && 'day' in day) return null;
  if (isIso && 'problem' in day && day.problem === 'does not exist')
    return { message: `now is "${text}", but that date or time does not exist.`, hint: 'Correct it.' };
  return {
    message: `now is "${text}", which is not a date and time in ISO 8601.`,
    hint: 'Write it as 2026-01-05T09:00:00Z.',
  };
}

/** Whether a text is a date that exists and can be read in one way only. */
function isDate(text: string): boolean {
  return 'day' in calendarDay(text, 'UTC');
}

/** Texts of the task that are written as dates must be dates. */
function checkDates(placed: Placed<Task>, note: Note): void {
  const { state, actions, user } = placed.value;
  const check = (value: unknown, ...path: readonly PropertyKey[]) => {
    for (const leaf of leavesOf(value)) {
      if (!/^\d{4}-\d{2}-\d{2}(?:T|$)/.test(leaf) || isDate(leaf)) continue;
      const message = `${leaf} looks like a date, but that day does not exist.`;
      note(placeOf(placed, ...path), 'warning', 'task/wrong-date', message, 'Correct the date.');
    }
  };
  for (const [index, { value }] of state.entries()) check(value, 'state', index, 'value');
  for (const [name, fact] of Object.entries(user.known)) check(factOf(fact).value, 'user', 'known', name);
  for (const [index, action] of actions.entries())
    for (const [name, value] of Object.entries(action.arguments)) check(value, 'actions', index, 'arguments', name);
}
