import type { World } from '../domain/domain.ts';
import { exactly, type FieldComparison } from '../domain/fieldComparison.ts';
import type { Assertion } from '../domain/task.ts';
import type { Verdict } from '../events/event.ts';
import type { RolloutState } from '../events/state.ts';
import {
  conditionHolds,
  equalJson,
  evaluateExpression,
  parseExpression,
  type Scope,
  scopeOf,
  takesRowsOf,
} from '../expression/expression.ts';
import { readings } from '../expression/readings.ts';
import { callsOf } from '../rules/calls.ts';
import { stateValue } from '../rules/seen.ts';
import { counted } from '../text/counted.ts';
import { shownValue } from '../text/value.ts';
import { canonicalJson, isObject, type Json, type JsonObject, showPath } from '../values/json.ts';
import { readView } from '../world/database.ts';
import { comparable, firstDifference } from './volatile.ts';

/** Names that an assertion's expression (`that`) can start with. */
export const assertionNames = ['state', 'db', 'user', 'calls', 'now', 'timeZone'] as const;

/** Whether an assertion looks into the state of a tool source, which has to be read from outside. */
export function isExternalState(name: string): boolean {
  return name !== 'agent' && name !== 'user';
}

/** Under which name the state that an assertion looks into is recorded: that of its source, or of the call it makes. */
export function sourceKey({ in: source, call }: Assertion): string {
  return call ? `${source}:${call.by}.${call.tool}(${canonicalJson(call.arguments as JsonObject)})` : source;
}

const afterGold = ' after the gold actions';

/** Under which name the state of a source after the gold actions is recorded. */
const goldKey = (source: string) => `${source}${afterGold}`;

/** Returns a state under the name of its source, by which `volatile` and `compare` name a state that is a list. */
export function underSource(key: string, state: Json): JsonObject {
  return { [goldSource(key) ?? key.replace(/:.*$/s, '')]: state };
}

/** The source whose state after the gold actions has this name, or null for another state. */
export function goldSource(key: string): string | null {
  return key.endsWith(afterGold) ? key.slice(0, -afterGold.length) : null;
}

/** The names of all states that an assertion compares, in the order in which they are read. */
export function sourceKeys(assertion: Assertion): readonly string[] {
  return [sourceKey(assertion), ...(assertion.sameAs === 'gold' ? [goldKey(assertion.in)] : [])];
}

/** Names of the fields of a source that differ from rollout to rollout, as domain.yaml declares them. */
export type VolatileOf = (source: string) => readonly string[];

/** Whether everything that the task asserts holds of the state at the end. */
export function assertionsVerdict(
  assertions: readonly Assertion[],
  state: RolloutState,
  volatileOf: VolatileOf = () => [],
  compare: FieldComparison = exactly,
): Verdict {
  const failed = assertions.flatMap((assertion) => assertionProblem(assertion, state, volatileOf, compare) ?? []);
  const isUnclear = failed.length > 0 && failed.every(({ unclear }) => unclear);
  return {
    verifier: 'assertions',
    held: failed.length === 0,
    detail:
      failed.length === 0
        ? `${counted(assertions.length, 'assertion')} held`
        : failed.map(({ text }) => text).join('; '),
    evidence: [state.next - 1],
    ...(isUnclear ? { unknown: true as const } : {}),
    met: assertions.length - failed.length,
    of: assertions.length,
  };
}

function stateNamed(assertion: Assertion, state: RolloutState): Json | undefined {
  const { in: name, call } = assertion;
  if (call) return state.sources[sourceKey(assertion)];
  return name === 'agent' || name === 'user' ? readView(state.world[name]) : state.sources[name];
}

/** A problem with an assertion; `unclear` if wrong data prevents its evaluation. */
type Problem = { readonly text: string; readonly unclear: boolean };

function assertionProblem(
  assertion: Assertion,
  state: RolloutState,
  volatileOf: VolatileOf,
  compare: FieldComparison,
): Problem | null {
  const root = stateNamed(assertion, state);
  const prefix = assertion.in === 'agent' ? '' : `${sourceKey(assertion)}${assertion.call ? ' ' : ':'}`;
  if (root === undefined)
    return violated(`${prefix}${assertion.path ?? assertion.that}: there is no state of "${assertion.in}"`);
  if (assertion.that !== undefined) return unfulfilled(assertion.that, prefix, root, assertion, state);
  const problem = pathProblem(assertion, prefix, root);
  if (problem !== null) return violated(problem);
  if (assertion.sameAs === undefined) return null;
  const gold = state.sources[goldKey(assertion.in)];
  if (gold === undefined)
    return violated(`${prefix}${assertion.path ?? ''}: there is no state of "${assertion.in}" after gold`);
  const difference = goldProblem(assertion, [root, gold], volatileOf(assertion.in), compare);
  return difference === null ? null : violated(difference);
}

const violated = (text: string): Problem => ({ text, unclear: false });

/** The first difference between the state at the end and the state after the gold actions, or null. */
function goldProblem(
  { in: source, path }: Assertion,
  states: readonly [Json, Json],
  volatile: readonly string[],
  compare: FieldComparison,
) {
  const keys = [source, ...(path === undefined ? [] : keysOf(path))];
  const [own = '', expected = ''] = states.map((state) => {
    const found = path === undefined ? state : (at(state, path) ?? null);
    // `volatile` and `compare` name fields, so the value is compared under its source and the keys of its path.
    const placed = keys.reduceRight<Json>((value, key) => ({ [key]: value }), found);
    return comparable([placed], volatile, compare).texts[0];
  });
  const found = firstDifference(own, expected, compare);
  if (!found) return null;
  const inside = showPath([source, ...found.path.slice(keys.length)]).slice(showPath([source]).length);
  const where = `${source}${path === undefined ? '' : `.${path}`}${inside}`;
  return `${where} is ${shownValue(found.before)}; after the gold actions it is ${shownValue(found.after)}`;
}

/** Returns the keys and indices of a path such as `entities[name=Ann].observations[0]`. */
function keysOf(path: string): readonly string[] {
  return Array.from(path.matchAll(/\[([^\]]*)\]|[^.[\]]+/g), ([key, inBrackets]) => inBrackets ?? key);
}

function unfulfilled(
  that: string,
  prefix: string,
  root: Json,
  assertion: Assertion,
  state: RolloutState,
): Problem | null {
  const names = scopeIn(state, state.world, root);
  const verdict = conditionHolds(that, names);
  if (typeof verdict === 'object') {
    const unclear = verdict.unclearDate !== undefined && !isOfRollout(verdict.unclearDate, assertion, state);
    return { text: `${prefix}${that} cannot be evaluated: ${verdict.problem}`, unclear };
  }
  if (verdict) return null;
  const parsed = parseExpression(that);
  const read = 'problem' in parsed ? [] : readings(parsed.expression, names);
  return violated(`${prefix}${that} does not hold${read.length > 0 ? `: ${read.join(', ')}` : ''}`);
}

/** The names that the expression of an assertion can read, in one of the rollout's worlds. */
function scopeIn(state: RolloutState, world: World, root: Json | undefined): Scope {
  return (name) => {
    switch (name) {
      case 'state':
        return root;
      case 'db':
      case 'user':
      case 'now':
      case 'timeZone':
        return stateValue(name, { ...state, world });
      case 'calls':
        return callsOf(state.messages);
      default:
        return undefined;
    }
  };
}

/**
 * Returns whether a date that cannot be read came into the data during the rollout. Then the assertion is violated: an
 * agent that writes such a date must not leave its own reward open. The state of a source outside is not known at the
 * start, so there the arguments of the agent's calls decide.
 */
function isOfRollout(date: string, assertion: Assertion, state: RolloutState): boolean {
  if (isExternalState(assertion.in))
    return callsOf(state.messages).some(({ args }) => JSON.stringify(args).includes(JSON.stringify(date)));
  const root = readView(state.start[assertion.in === 'user' ? 'user' : 'agent']);
  const before = conditionHolds(assertion.that ?? '', scopeIn(state, state.start, root));
  return typeof before !== 'object' || before.unclearDate !== date;
}

function pathProblem(assertion: Assertion, prefix: string, root: Json): string | null {
  const where = `${prefix}${assertion.path ?? ''}`;
  const found = assertion.path === undefined ? root : at(root, assertion.path);
  if (assertion.exists !== undefined && (found !== undefined) !== assertion.exists) {
    return `${where} ${assertion.exists ? 'is missing' : `is ${shownValue(found)}, expected nothing there`}`;
  }
  if (assertion.equals !== undefined && !equalJson(found, assertion.equals as Json)) {
    return `${where} is ${shownValue(found)}, expected ${shownValue(assertion.equals as Json)}`;
  }
  if (assertion.contains !== undefined && !contains(found, assertion.contains as Json)) {
    return `${where} is ${shownValue(found)}, which does not contain ${shownValue(assertion.contains as Json)}`;
  }
  return null;
}

/**
 * Returns the expression of what is at a path such as `entities[name=Ann].observations[0]`. A key with dashes, such as
 * `orders.W-17.status`, is a key and no subtraction.
 * @param root the name of what the path is read from
 */
export function pathExpression(root: string, path: string): string {
  const text = path.replaceAll(/(^|\.)(\w+(?:-+\w+)+)(?=$|[.[])/g, '["$2"]');
  return `${root}${text.startsWith('[') ? '' : '.'}${text}`;
}

/** Whether an assertion takes rows of the state of a source, so that the state has to be a list or a table. */
export function takesRows({ that, path, call }: Assertion): boolean {
  const text = that ?? (path === undefined ? undefined : pathExpression('state', path));
  if (text === undefined || call) return false;
  const parsed = parseExpression(text);
  return 'expression' in parsed && takesRowsOf('state', parsed.expression);
}

/** The value at a path, or undefined. */
function at(root: Json, path: string): Json | undefined {
  const evaluated = evaluateExpression(pathExpression('root', path), scopeOf({ root }));
  if ('problem' in evaluated || evaluated.value === null) return undefined;
  return evaluated.value;
}

function contains(found: Json | undefined, part: Json): boolean {
  if (typeof found === 'string') return typeof part === 'string' && found.includes(part);
  if (Array.isArray(found)) return found.some((each) => equalJson(each, part) || contains(each, part));
  if (!isObject(found) || !isObject(part)) return false;
  return Object.entries(part).every(([key, value]) => equalJson(found[key], value));
}
