import { readsAsError } from '../../engine/core/events/errorText.ts';
import type { RolloutEvent } from '../../engine/core/events/event.ts';
import { excerpt } from '../../engine/core/text/excerpt.ts';
import { canonicalJson, isObject, type Json } from '../../engine/core/values/json.ts';
import { exactJsonOf } from '../../engine/core/values/largeIntegers.ts';
import { type MadeCall, madeCalls } from './neededCalls.ts';
import { isIdLike } from './quotedIds.ts';

/** Differences that are named at most. */
const mostNamed = 3;

/**
 * Returns how a rollout differs from the conversation that its task was drafted from, each in a sentence: equal calls must
 * succeed alike and return what the log has, and the conversation must end by a hand-over in both or in neither. Results
 * may have more fields than the log, and other ids where a call created them.
 */
export function differencesFrom(
  conversation: readonly RolloutEvent[],
  rollout: readonly RolloutEvent[],
): readonly string[] {
  const repeated = madeCalls(rollout);
  const found = lastOfEach(madeCalls(conversation)).flatMap((logged) => {
    const made = repeated.findLast((each) => isSame(each, logged));
    const difference = made && differenceOf(logged, made, isNewIn(conversation, logged), isNewIn(rollout, made));
    return difference ? [difference] : [];
  });
  const [isHandedOff, isToBe] = [rollout, conversation].map(endsByHandOver);
  const end =
    isHandedOff === isToBe
      ? []
      : [
          `the conversation ${isToBe ? 'ends' : 'does not end'} by a hand-over, and its rollout ${isToBe ? 'does not' : 'does'}`,
        ];
  return [...found.slice(0, mostNamed), ...end];
}

const endsByHandOver = (events: readonly RolloutEvent[]) =>
  events.some((event) => event.type === 'rolloutEnded' && event.reason === 'handedOff');

const isSame = (one: MadeCall, other: MadeCall) =>
  one.by === other.by && one.tool === other.tool && canonicalJson(one.arguments) === canonicalJson(other.arguments);

const lastOfEach = (calls: readonly MadeCall[]) =>
  calls.filter((call, at) => !calls.slice(at + 1).some((each) => isSame(each, call)));

const isFailed = ({ isError, content }: MadeCall) => isError || readsAsError(content);

type IsNew = (value: string) => boolean;

/** Whether nothing before the result of a call has a value. */
function isNewIn(events: readonly RolloutEvent[], { n }: MadeCall): IsNew {
  const before = JSON.stringify(events.slice(0, n + 1));
  return (value) => !before.includes(value);
}

function differenceOf(logged: MadeCall, made: MadeCall, isNewLogged: IsNew, isNewMade: IsNew): string | null {
  const { tool } = logged;
  if (isFailed(logged) && isFailed(made)) return null;
  if (isFailed(logged))
    return `${tool} fails in the conversation ("${excerpt(logged.content)}") and not in the rollout`;
  if (isFailed(made)) return `${tool} fails in the rollout ("${excerpt(made.content)}") and not in the conversation`;
  const isCreated = (one: Json, other: Json) =>
    [one, other].every(isIdLike) && isNewLogged(String(one)) && isNewMade(String(other));
  const difference = firstDifference(readAs(logged.content), readAs(made.content), [], isCreated);
  if (difference === null) return null;
  const { path, one, other } = difference;
  const where = path.length > 0 ? `${path.join('.')} ` : '';
  return `${tool} returns ${where}${shown(one)} in the conversation and ${shown(other)} in the rollout`;
}

/** The value of a result; a text without what is written differently for the same. */
const readAs = (content: string): Json => exactJsonOf(content) ?? content.replace(/\s+/g, ' ').trim();

const shown = (value: Json | undefined) => (value === undefined ? 'nothing' : excerpt(canonicalJson(value)));

type Difference = { readonly path: readonly string[]; readonly one: Json; readonly other: Json | undefined };

/** The first value of `one` that `other` does not have at its place. */
function firstDifference(
  one: Json,
  other: Json | undefined,
  path: readonly string[],
  isCreated: (one: Json, other: Json) => boolean,
): Difference | null {
  if (other !== undefined && isObject(one) && isObject(other)) {
    for (const [key, value] of Object.entries(one)) {
      const found = firstDifference(value, other[key], [...path, key], isCreated);
      if (found) return found;
    }
    return null;
  }
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    for (const [at, value] of one.entries()) {
      const found = firstDifference(value, other[at], [...path, String(at)], isCreated);
      if (found) return found;
    }
    return null;
  }
  const isEqual = other !== undefined && (canonicalJson(one) === canonicalJson(other) || String(one) === String(other));
  return isEqual || (other !== undefined && isCreated(one, other)) ? null : { path, one, other };
}
