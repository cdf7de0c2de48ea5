import { namesValue } from '../dialogue/dialogue.ts';
import type { Message } from '../events/message.ts';
import { callsOf } from '../rules/calls.ts';
import { naming } from '../rules/rowNames.ts';
import { leavesOf } from '../text/value.ts';
import { isObject, type Json } from '../values/json.ts';

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

/** Whether a text says the title or name that a tool returned beside the value of an argument, as `confirmed` accepts. */
export function saysName(text: string, argument: string, slots: Readonly<Record<string, string>>): boolean {
  const prefix = `${argument}.`;
  return Object.entries(slots).some(
    ([slot, beside]) =>
      slot.startsWith(prefix) &&
      naming.test(slot.slice(prefix.length)) &&
      /\p{L}{2}/u.test(beside) &&
      namesValue(text, beside),
  );
}

/** All objects within a value, the outer ones first. */
export function objectsIn(value: Json): readonly Readonly<Record<string, Json>>[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}
