import type { Receipt } from '../domain/task.ts';
import type { Verdict } from '../events/event.ts';
import type { RolloutState } from '../events/state.ts';
import {
  conditionHolds,
  equalJson,
  parseExpression,
  pathsIn,
  scopeOf,
  type Unevaluated,
} from '../expression/expression.ts';
import { callsOf, type MadeCall } from '../rules/calls.ts';
import { timeZoneOf } from '../text/calendar.ts';
import { counted } from '../text/counted.ts';
import type { Json } from '../values/json.ts';

/** Whether the calls that the task names have succeeded as often as it says. A call that failed gives no receipt. */
export function receiptsVerdict(receipts: readonly Receipt[], state: RolloutState): Verdict {
  const succeeded = callsOf(state.messages).filter(({ failed }) => !failed);
  const checked = receipts.map((receipt) => {
    const matches = succeeded.map((call) => ({ call, match: matchOf(receipt, call, state) }));
    const found = matches.flatMap(({ call, match }) => (match === true ? [call] : []));
    const unclear = matches.flatMap(({ match }) => (typeof match === 'object' ? [match.problem] : []));
    // A date that the agent wrote in a call leaves no reward open and earns none.
    const isByAgent = unclear.length > 0 && readsArguments(receipt.when);
    const isOpen = !isByAgent && unclear.length > 0 && couldDiffer(receipt, found.length, unclear.length);
    const isWrong = isByAgent && receipt.times !== undefined;
    const isEnough = receipt.times === undefined ? found.length > 0 : found.length === receipt.times;
    return { receipt, found, isMet: isEnough && !isOpen && !isWrong, isOpen, unclear };
  });
  const missed = checked.filter(({ isMet }) => !isMet);
  const isUnclear = missed.length > 0 && missed.every(({ isOpen }) => isOpen);
  return {
    verifier: 'receipts',
    held: missed.length === 0,
    detail:
      missed.length === 0
        ? `${counted(receipts.length, 'receipt')} ${receipts.length === 1 ? 'is' : 'are'} as expected`
        : missed.map(({ receipt, found, unclear }) => described(receipt, found.length, unclear)).join('; '),
    evidence: checked.flatMap(({ found }) => found.map(({ step }) => step)),
    ...(isUnclear ? { unknown: true as const } : {}),
    met: receipts.length - missed.length,
    of: receipts.length,
  };
}

/** Whether the verdict depends on calls of which wrong data keeps the condition from being evaluated. */
function couldDiffer({ times }: Receipt, found: number, unclear: number): boolean {
  return times === undefined ? found === 0 : found <= times && times <= found + unclear;
}

/** Returns whether a receipt asks for a call, or why wrong data leaves that open. */
function matchOf(receipt: Receipt, { tool, args, result }: MadeCall, { started }: RolloutState): boolean | Unevaluated {
  if (tool !== receipt.tool) return false;
  const wanted = Object.entries(receipt.arguments ?? {});
  if (!wanted.every(([name, value]) => equalJson(args[name], value as Json))) return false;
  if (receipt.when === undefined) return true;
  const holds = conditionHolds(receipt.when, scopeOf({ args, result, timeZone: timeZoneOf(started) }));
  return typeof holds === 'object' && holds.unclearDate === undefined ? false : holds;
}

function readsArguments(when = ''): boolean {
  const parsed = parseExpression(when);
  return 'expression' in parsed && pathsIn(parsed.expression).some(({ name }) => name === 'args');
}

function described(
  { tool, arguments: wanted, when, times }: Receipt,
  count: number,
  unclear: readonly string[],
): string {
  const which = [...(wanted ? [JSON.stringify(wanted)] : []), ...(when === undefined ? [] : [`where ${when}`])].join(
    ' ',
  );
  const expected = times === undefined ? 'at least once' : times === 0 ? 'never' : counted(times, 'time');
  return `${tool}${which === '' ? '' : ` ${which}`} succeeded ${counted(count, 'time')}, expected ${expected}${unclear.length > 0 ? ` (not clear for ${counted(unclear.length, 'call')}: ${unclear[0]})` : ''}`;
}
