import type { GoldAction } from '../domain/task.ts';
import type { Verdict } from '../events/event.ts';
import { callsIn } from '../events/message.ts';
import { filledActions, succeededIn } from '../events/quotedResults.ts';
import type { RolloutState } from '../events/state.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { sameValue } from './pythonEquality.ts';

/**
 * Whether every gold action was called at some time, by whichever seat, and whatever came of it (after tau2-bench).
 * Without `compare` only the arguments of the call that was made are compared, so one with fewer arguments matches.
 */
export function actionsVerdict(actions: readonly GoldAction[], state: RolloutState): Verdict {
  const made = state.messages.flatMap((message) => callsIn(message).map((call) => ({ call, step: message.step })));
  const wanted = filledActions(actions, () => succeededIn(state.messages));
  const found = wanted.map((action) => made.find(({ call }) => isFor(action, call.name, call.arguments)));
  const missing = wanted.filter((_, at) => found[at] === undefined);
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
