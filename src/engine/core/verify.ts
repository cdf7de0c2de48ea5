import { diffDatabases, readView, sameDatabase } from './database.ts';
import type { World } from './domain.ts';
import type { Verdict } from './event.ts';
import type { Json, JsonObject } from './json.ts';
import { utterancesOf } from './message.ts';
import type { RolloutState } from './state.ts';
import type { Assertion, Task, VerifierName } from './task.ts';

/**
 * What the verifiers of a basis say of a rollout that has ended. Each decides from the world, not from
 * the words; only `communicate` reads what the agent said.
 * @param gold the world after the gold actions, from the same start
 */
export function verdictsOf(
  basis: readonly VerifierName[],
  task: Task,
  state: RolloutState,
  gold: World,
): readonly Verdict[] {
  return basis.map((verifier) => verdictOf(verifier, task, state, gold));
}

function verdictOf(verifier: VerifierName, task: Task, state: RolloutState, gold: World): Verdict {
  switch (verifier) {
    case 'database':
      return databaseVerdict(state.world, gold, state.next);
    case 'assertions':
      return assertionsVerdict(task.assertions, state);
    case 'communicate':
      return communicateVerdict(task.communicate, state);
  }
}

function databaseVerdict(world: World, gold: World, step: number): Verdict {
  const sides = (['agent', 'user'] as const).filter((side) => !sameDatabase(world[side], gold[side]));
  if (sides.length === 0)
    return { verifier: 'database', held: true, detail: 'the final database is the expected one', evidence: [] };
  const changes = sides.flatMap((side) => diffDatabases(gold[side], world[side]));
  const shown = changes
    .slice(0, 3)
    .map((change) => `${change.path.join('.')} is ${show(change.after)}, expected ${show(change.before)}`);
  const more = changes.length > 3 ? ` (and ${changes.length - 3} more)` : '';
  return { verifier: 'database', held: false, detail: `${shown.join('; ')}${more}`, evidence: [step - 1] };
}

function assertionsVerdict(assertions: readonly Assertion[], state: RolloutState): Verdict {
  const failed = assertions.flatMap((assertion) => {
    const problem = assertionProblem(assertion, stateNamed(assertion.in, state));
    return problem ? [problem] : [];
  });
  return {
    verifier: 'assertions',
    held: failed.length === 0,
    detail: failed.length === 0 ? `${assertions.length} assertions held` : failed.join('; '),
    evidence: [state.next - 1],
  };
}

function communicateVerdict(texts: readonly string[], state: RolloutState): Verdict {
  const said = utterancesOf(state.messages).filter(({ role }) => role === 'agent');
  const plain = (text: string) => text.toLowerCase().replaceAll(',', '');
  const missing = texts.filter((text) => !said.some(({ content }) => plain(content).includes(plain(text))));
  return {
    verifier: 'communicate',
    held: missing.length === 0,
    detail:
      missing.length === 0
        ? 'everything that had to be said was said'
        : `the agent never said ${missing.map((text) => `"${text}"`).join(', ')}`,
    evidence: said.slice(-1).map(({ step }) => step),
  };
}

function stateNamed(name: string, state: RolloutState): Json | undefined {
  if (name === 'agent' || name === 'user') return readView(state.world[name]);
  return state.sources[name];
}

function assertionProblem(assertion: Assertion, root: Json | undefined): string | null {
  const where = `${assertion.in === 'agent' ? '' : `${assertion.in}:`}${assertion.path}`;
  if (root === undefined) return `${where}: there is no state of "${assertion.in}"`;
  const found = at(root, assertion.path);
  if (assertion.exists !== undefined && (found !== undefined) !== assertion.exists) {
    return `${where} ${assertion.exists ? 'is missing' : `is ${show(found)}, expected nothing there`}`;
  }
  if (assertion.equals !== undefined && !equal(found, assertion.equals as Json)) {
    return `${where} is ${show(found)}, expected ${show(assertion.equals as Json)}`;
  }
  if (assertion.contains !== undefined && !contains(found, assertion.contains as Json)) {
    return `${where} is ${show(found)}, which does not contain ${show(assertion.contains as Json)}`;
  }
  return null;
}

/** The value at a path such as `entities[name=Ann].observations[0]`, or undefined. */
export function at(root: Json, path: string): Json | undefined {
  const parts = path.match(/[^.[\]]+|\[[^\]]*\]/g) ?? [];
  return parts.reduce<Json | undefined>((value, part) => {
    if (typeof value !== 'object' || value === null) return undefined;
    if (!part.startsWith('[')) return (value as JsonObject)[part];
    const inner = part.slice(1, -1);
    const [field, wanted] = inner.split('=', 2);
    if (wanted === undefined || field === undefined) return (value as readonly Json[])[Number(inner)];
    return Object.values(value).find((each) => isObject(each) && String(each[field]) === wanted);
  }, root);
}

function contains(found: Json | undefined, part: Json): boolean {
  if (typeof found === 'string') return typeof part === 'string' && found.includes(part);
  if (Array.isArray(found)) return found.some((each) => equal(each, part) || contains(each, part));
  if (!isObject(found) || !isObject(part)) return false;
  return Object.entries(part).every(([key, value]) => equal(found[key], value));
}

function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || a === undefined || b === undefined)
    return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => equal((a as JsonObject)[key], (b as JsonObject)[key]))
  );
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const show = (value: Json | undefined) => (value === undefined ? 'missing' : JSON.stringify(value));
