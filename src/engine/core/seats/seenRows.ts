import { namesValue } from '../dialogue/dialogue.ts';
import type { Message } from '../events/message.ts';
import { callsOf } from '../rules/calls.ts';
import { namesInTable, naming } from '../rules/rowNames.ts';
import { leavesOf } from '../text/value.ts';
import { isObject, type Json } from '../values/json.ts';
import { type Database, readView } from '../world/database.ts';

/**
 * Returns what a seat's tools returned beside the values of a call's arguments, for the slots of a template: after a
 * tool returned `{"loan_id": "L7", "title": "Dune"}`, the argument `loan_id: L7` has the slot `loan_id.title`. All
 * results that have the value in a field of the argument's name count, later fields over earlier ones; where there are
 * none, the last that has it in any field.
 */
export function slotsBeside(
  messages: readonly Message[],
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const rows = callsOf(messages).flatMap(({ result }) => objectsIn(result));
  const slots = Object.entries(values).flatMap(([argument, value]) => {
    const own = rows.filter((each) => each[argument] === value);
    const row =
      own.length > 0 ? Object.assign({}, ...own) : rows.findLast((each) => Object.values(each).includes(value));
    return Object.entries((row ?? {}) as Readonly<Record<string, Json>>).flatMap(([field, beside]) =>
      beside === null || typeof beside === 'object' ? [] : [[`${argument}.${field}`, leavesOf(beside).join('')]],
    );
  });
  return Object.fromEntries(slots);
}

/**
 * Whether a text says the title or name that a tool returned beside the value of an argument, as `confirmed` accepts.
 * @param names what the row is called, which a tool can return under another key
 */
export function saysName(
  text: string,
  argument: string,
  slots: Readonly<Record<string, string>>,
  names: readonly string[] = [],
): boolean {
  const prefix = `${argument}.`;
  return Object.entries(slots).some(
    ([slot, beside]) =>
      slot.startsWith(prefix) &&
      (naming.test(slot.slice(prefix.length)) || names.includes(beside)) &&
      /\p{L}{2}/u.test(beside) &&
      namesValue(text, beside),
  );
}

/** Returns what people call the row that an argument is the id of, without what they call other rows of its table. */
export function ownNames(id: string, argument: string, database: Database | undefined): readonly string[] {
  const rows = database ? namesInTable(id, argument, [readView(database)]) : [];
  const others = new Set(rows.flatMap((row) => (row.id === id ? [] : [row.text])));
  return rows.flatMap((row) => (row.id === id && !others.has(row.text) ? [row.text] : []));
}

/** All objects within a value, the outer ones first. */
export function objectsIn(value: Json): readonly Readonly<Record<string, Json>>[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}
