import { fieldsOf } from '../events/message.ts';
import { leavesOf } from '../text/value.ts';
import { isObject, type Json } from '../values/json.ts';
import type { Random } from '../values/random.ts';

/** The slots that a template has for the result of a call: `{result}`, and for a field of it `{result.due}`. */
export function resultSlots(content: string): Record<string, string> {
  return { ...Object.fromEntries(slotsOf('result', fieldsOf(content))), result: content };
}

function slotsOf(name: string, value: Json): readonly (readonly [name: string, value: string])[] {
  if (isObject(value)) return Object.entries(value).flatMap(([key, each]) => slotsOf(`${name}.${key}`, each));
  return value === null ? [] : [[name, leavesOf(value).join(', ')]];
}

const slot = /\{([\w.]+)\}/g;

/** One of these templates of a lexicon whose every `{slot}` has a value, filled in; null if every template lacks a value. */
export function fromTemplate(
  templates: readonly string[] | undefined,
  values: Readonly<Record<string, string>>,
  random: Random,
): string | null {
  const usable = (templates ?? []).filter((template) =>
    [...template.matchAll(slot)].every(([, name = '']) => Object.hasOwn(values, name)),
  );
  if (usable.length === 0) return null;
  return random.pick(usable).replace(slot, (whole, name: string) => values[name] ?? whole);
}
