import { counted } from '../counted.ts';
import type { Verdict } from '../event.ts';
import { conditionHolds, equalJson, scopeOf } from '../expression.ts';
import type { Json } from '../json.ts';
import { callsOf, type MadeCall } from '../rules/calls.ts';
import type { RolloutState } from '../state.ts';
import type { Receipt } from '../task.ts';

/** Whether the calls that the task names have succeeded as often as it says. A call that failed gives no receipt. */
export function receiptsVerdict(receipts: readonly Receipt[], state: RolloutState): Verdict {
  const succeeded = callsOf(state.messages).filter(({ failed }) => !failed);
  const checked = receipts.map((receipt) => {
    const found = succeeded.filter((call) => isFor(receipt, call));
    const isMet = receipt.times === undefined ? found.length > 0 : found.length === receipt.times;
    return { receipt, found, isMet };
  });
  const missed = checked.filter(({ isMet }) => !isMet);
  return {
    verifier: 'receipts',
    held: missed.length === 0,
    detail:
      missed.length === 0
        ? `${counted(receipts.length, 'receipt')} ${receipts.length === 1 ? 'is' : 'are'} as expected`
        : missed.map(({ receipt, found }) => described(receipt, found.length)).join('; '),
    evidence: checked.flatMap(({ found }) => found.map(({ step }) => step)),
    met: receipts.length - missed.length,
    of: receipts.length,
  };
}

function isFor(receipt: Receipt, { tool, args, result }: MadeCall): boolean {
  if (tool !== receipt.tool) return false;
  const wanted = Object.entries(receipt.arguments ?? {});
  if (!wanted.every(([name, value]) => equalJson(args[name], value as Json))) return false;
  return receipt.when === undefined || conditionHolds(receipt.when, scopeOf({ args, result })) === true;
}

function described({ tool, arguments: wanted, when, times }: Receipt, count: number): string {
  const which = [...(wanted ? [JSON.stringify(wanted)] : []), ...(when === undefined ? [] : [`where ${when}`])].join(
    ' ',
  );
  const expected = times === undefined ? 'at least once' : times === 0 ? 'never' : `${times} times`;
  return `${tool}${which === '' ? '' : ` ${which}`} succeeded ${count} times, expected ${expected}`;
}
