import type { Verdict } from '../event.ts';
import type { Json, JsonObject } from '../json.ts';
import { callsIn } from '../message.ts';
import type { RolloutState } from '../state.ts';
import type { GoldAction } from '../task.ts';

/**
 * Whether every gold action was called at some time, by whichever seat, and whatever came of it (after tau2-bench).
 * Without `compare` only the arguments of the call that was made are compared, so one with fewer arguments matches.
 */
export function actionsVerdict(actions: readonly GoldAction[], state: RolloutState): Verdict {
  const made = state.messages.flatMap((message) => callsIn(message).map((call) => ({ call, step: message.step })));
  const found = actions.map((action) => made.find(({ call }) => isFor(action, call.name, call.arguments)));
  const missing = actions.filter((_, at) => found[at] === undefined);
  return {
    verifier: 'actions',
    held: missing.length === 0,
    detail:
      missing.length === 0
        ? `${actions.length} gold actions were called`
        : missing.map(({ tool, arguments: values }) => `${tool}(${JSON.stringify(values)}) was not called`).join('; '),
    evidence: found.flatMap((each) => (each ? [each.step] : [])),
    met: actions.length - missing.length,
    of: actions.length,
  };
}

function isFor({ tool, arguments: wanted, compare }: GoldAction, name: string, given: JsonObject | string): boolean {
  if (tool !== name) return false;
  const values = typeof given === 'string' ? {} : given;
  const compared = compare ?? Object.keys(values);
  return compared.every(
    (key) =>
      Object.hasOwn(values, key) === Object.hasOwn(wanted, key) &&
      sameValue(values[key], wanted[key] as Json | undefined),
  );
}

/** Equality as Python knows it: true is 1. */
function sameValue(one: Json | undefined, other: Json | undefined): boolean {
  if (typeof one === 'boolean' || typeof other === 'boolean')
    return typeof one !== 'string' && typeof other !== 'string' && isPlain(one) && isPlain(other)
      ? Number(one) === Number(other)
      : false;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, at) => sameValue(each, other[at]));
  if (isObject(one) && isObject(other)) {
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && sameValue(one[key], other[key]))
    );
  }
  return one === other;
}

const isPlain = (value: Json | undefined) => typeof value === 'boolean' || typeof value === 'number';
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
