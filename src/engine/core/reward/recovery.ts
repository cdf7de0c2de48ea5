import { utterancesOf } from '../events/message.ts';
import type { CardItem } from '../events/reportCard.ts';
import type { RolloutState } from '../events/state.ts';
import { callsOf, isTransient, type MadeCall } from '../rules/calls.ts';
import { canonicalJson } from '../values/json.ts';
import { isProperEnd, isUnscorable, notEvaluated } from './reward.ts';

/** Times that a call that fails may be tried unchanged: an outage may pass, a refusal stays. */
const tries = { transient: 3, lasting: 1 } as const;
const repetitions = 3;

export const notOver = 'failed and the agent did not get over it';

/**
 * Returns how the agent got over what went wrong: calls that failed, and going in circles. Where nothing went wrong
 * there is no item, and the layer is unknown.
 */
export function recoveryItems(state: RolloutState): readonly CardItem[] {
  const calls = callsOf(state.messages).filter(({ by }) => by === 'agent');
  const failures = Map.groupBy(
    calls.filter(({ failed }) => failed),
    keyOf,
  );
  return [...[...failures.values()].flatMap((same) => afterFailure(same, calls, state)), ...circles(state)];
}

function afterFailure(same: readonly MadeCall[], calls: readonly MadeCall[], state: RolloutState): readonly CardItem[] {
  const last = same.at(-1);
  if (!last) return [];
  const item = (verdict: CardItem['verdict'], reason: string): readonly CardItem[] => [
    { name: last.tool, verdict, reason, evidence: same.map(({ step }) => step) },
  ];
  const allowed = isTransient(String(last.result)) ? tries.transient : tries.lasting;
  const succeeded = calls.some(({ failed, tool, step }) => !failed && tool === last.tool && step > last.step);
  const isRepaired = calls.some((call) => !call.failed && keyOf(call) === keyOf(last) && call.step > last.step);
  if (same.length > allowed && !isRepaired)
    return item('violated', `${last.tool} failed ${same.length} times with the same arguments`);
  if (succeeded) return item('held', `${last.tool} failed and then succeeded`);
  const wentOn = state.messages.some(({ role, step }) => role === 'agent' && step > last.step);
  const isOver = state.ended !== null && isProperEnd(state.ended.reason);
  if (wentOn && isOver) return item('held', `${last.tool} failed and the agent found another way`);
  if (state.ended !== null && isUnscorable(state.ended)) return item('unknown', `${last.tool} failed: ${notEvaluated}`);
  return item('violated', `${last.tool} ${notOver}`);
}

function circles({ messages }: RolloutState): readonly CardItem[] {
  const said = Map.groupBy(
    utterancesOf(messages).filter(({ role }) => role === 'agent'),
    ({ content }) => content.trim().toLowerCase(),
  );
  return [...said.values()]
    .filter((same) => same.length >= repetitions)
    .map((same) => ({
      name: 'circles',
      verdict: 'violated',
      reason: `the agent said the same ${same.length} times`,
      evidence: same.map(({ step }) => step),
    }));
}

const keyOf = ({ tool, args }: MadeCall) => `${tool} ${canonicalJson(args)}`;
