import type { EndState, Task } from '../domain/task.ts';
import type { Verdict } from '../events/event.ts';
import { callsIn, isUnreadable } from '../events/message.ts';
import type { RolloutState } from '../events/state.ts';
import { shownValue } from '../text/value.ts';
import { isObject, type Json } from '../values/json.ts';
import { getAt } from '../world/database.ts';
import { plainJson } from './objectRows.ts';
import { sameValue } from './pythonEquality.ts';

/** A problem with one attribute; `raises` if the evaluator of ACEBench could not continue. */
type Problem = { readonly text: string; readonly raises?: true };

/**
 * Whether the objects hold at the end what they should (after the end-to-end check of ACEBench): as many objects as
 * expected; each attribute of an object that the expected one of the same name also has, equal to it, dictionaries for
 * the expected keys only. An expected object that none is called after is passed over, as there (its issue 25); a
 * diagnostic says so.
 */
export function endStateVerdicts({ endState }: Task, state: RolloutState): readonly Verdict[] {
  if (!endState) return [];
  const { gold, compared } = endState;
  const evidence = [state.next - 1];
  const names = hasBegun(state, endState) ? Object.keys(compared) : [];
  if (names.length !== gold.length) {
    const detail = `${names.length} objects were used, expected ${gold.length}`;
    return [{ verifier: 'endState', held: false, detail, evidence, met: 0, of: Math.max(1, gold.length) }];
  }
  const matched = gold.flatMap((each) => {
    const name = nameOf(each, names);
    const attributes = name === null ? [] : (compared[name] ?? []);
    return attributes.flatMap((attribute) => problemAt(state, name ?? '', attribute, each[name ?? ''] ?? {}));
  });
  const problems = matched.flatMap(({ problem }) => problem ?? []);
  const raised = problems.find(({ raises }) => raises);
  const verdict: Verdict = {
    verifier: 'endState',
    held: problems.length === 0,
    detail: (raised ? [raised] : problems).map(({ text }) => text).join('; ') || 'the objects hold what they should',
    evidence,
    ...(raised ? { unknown: true as const } : {}),
    met: matched.length - problems.length,
    of: matched.length,
  };
  return [verdict, ...passedOver(gold, names, evidence)];
}

/** The diagnostic beside it: expected objects that were not compared, since none is called so. */
function passedOver(gold: EndState['gold'], names: readonly string[], evidence: number[]): readonly Verdict[] {
  const strange = gold.filter((each) => nameOf(each, names) === null).map((each) => Object.keys(each).join(' and '));
  if (strange.length === 0) return [];
  const detail = `not compared, since no object is called so: ${strange.join(', ')} (there are ${names.join(', ')})`;
  return [{ verifier: 'endState:names', held: false, detail, evidence, diagnostic: true, met: 0, of: strange.length }];
}

function nameOf(gold: EndState['gold'][number], names: readonly string[]): string | null {
  const [name, ...more] = Object.keys(gold);
  return name !== undefined && more.length === 0 && names.includes(name) ? name : null;
}

/** Nothing for an attribute that the object has not. */
function problemAt(
  { world }: RolloutState,
  name: string,
  attribute: string,
  gold: Readonly<Record<string, Json>>,
): readonly { readonly problem: Problem | null }[] {
  const value = getAt(world.agent, [name, attribute]);
  if (value === undefined) return [];
  const place = `${name}.${attribute}`;
  const expected = gold[attribute];
  if (expected === undefined) return [{ problem: { text: `${place} is not among the expected attributes` } }];
  return [{ problem: difference(place, expected, plainJson(value)) }];
}

function difference(place: string, expected: Json, made: Json): Problem | null {
  if (!isObject(expected))
    return sameValue(expected, made) ? null : { text: `${place} is ${shown(made)}, expected ${shown(expected)}` };
  for (const [key, value] of Object.entries(expected)) {
    if (!isObject(made)) return withoutKeys(place, key, made);
    if (!Object.hasOwn(made, key)) return { text: `${place}.${key} is missing, expected ${shown(value)}` };
    if (!sameValue(value, made[key]))
      return { text: `${place}.${key} is ${shown(made[key])}, expected ${shown(value)}` };
  }
  return null;
}

/**
 * Returns the problem of a value that is not the expected dictionary. ACEBench looks the key up in it anyway, and
 * Python raises an error unless the value is a list or a text without the key.
 */
function withoutKeys(place: string, key: string, made: Json): Problem {
  const isThere = (Array.isArray(made) || typeof made === 'string') && made.includes(key);
  const isLookedInto = Array.isArray(made) || typeof made === 'string';
  const text = `${place} is ${shown(made)}, expected a dictionary`;
  return isLookedInto && !isThere ? { text } : { text: `${text}; ACEBench can't compare them`, raises: true };
}

/** Whether the agent has made the objects: ACEBench has none before the first response that it could carry out. */
function hasBegun({ messages, started }: RolloutState, { since }: EndState): boolean {
  return messages.some((message, at) => {
    const calls = message.role === 'agent' ? callsIn(message) : [];
    const rest = messages.slice(at + 1);
    const end = rest.findIndex(({ role }) => role !== 'tool');
    const results = rest.slice(0, end < 0 ? rest.length : end);
    if (calls.length === 0 || results.length === 0 || isUnreadable(message, started.callSyntax)) return false;
    return since === 'call' || results.every((result) => result.role === 'tool' && !result.isError);
  });
}

const shown = (value: Json | undefined) => shownValue(value, 200);
