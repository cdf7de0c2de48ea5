import { byRole, isAnswered, type ModelRole } from '../../core/evaluation/measure.ts';
import { moneyOf, type Prices } from '../../core/evaluation/metrics.ts';
import type { ExternalSeats } from '../externalSeats.ts';
import { cancelled, Fault } from '../files/fault.ts';
import type { SideNote } from '../files/sideNote.ts';

/** The most tokens and money that the models of a batch may use. */
export type Budget = { readonly tokens?: number | undefined; readonly money?: number | undefined };

export type Meter = {
  /** Whether the budget is used up, or cannot be enforced. Nothing new starts then. */
  readonly isSpent: () => boolean;
  /** Whether there is a budget, and an answer did not report its usage. */
  readonly isUncountable: () => boolean;
  readonly metered: (externalSeats: ExternalSeats) => ExternalSeats;
  readonly spent: () => { readonly tokens: number; readonly money: number };
  /** The number of answers that did not report their usage, so that a budget cannot be enforced. */
  readonly uncounted: () => number;
};

/**
 * Counts the tokens of every model call, and what they cost. The call that spends the budget is the last one: what it
 * and others under way answer is kept, and a rollout that asks again is cancelled, to continue with another budget. An
 * answer that does not say what it used ends a budget, too.
 */
export function openMeter(budget: Budget, prices: Prices): Meter {
  const used = byRole(() => ({ input: 0, output: 0 }));
  let uncounted = 0;
  const spent = () => ({
    tokens: Object.values(used).reduce((total, { input, output }) => total + input + output, 0),
    money: moneyOf(used, prices) ?? 0,
  });
  const hasBudget = budget.tokens !== undefined || budget.money !== undefined;
  const isUncountable = () => hasBudget && uncounted > 0;
  const isSpent = () => {
    if (isUncountable()) return true;
    const { tokens, money } = spent();
    return tokens >= (budget.tokens ?? Number.POSITIVE_INFINITY) || money >= (budget.money ?? Number.POSITIVE_INFINITY);
  };
  const count = (role: ModelRole, call: SideNote | undefined) => {
    if (!call?.request) return;
    if (!call.usage) uncounted += 1;
    used[role].input += call.usage?.input ?? 0;
    used[role].output += call.usage?.output ?? 0;
  };
  const counting =
    <Given extends readonly unknown[], Answered extends { readonly call?: SideNote }>(
      role: ModelRole,
      ask: (...given: Given) => Promise<Answered>,
    ) =>
    async (...given: Given): Promise<Answered> => {
      if (isSpent()) throw cancelled();
      try {
        const answered = await ask(...given);
        count(role, answered.call);
        return answered;
      } catch (error) {
        // What was refused after it came, by the guard of a simulated user or as cut off, was answered all the same.
        if (error instanceof Fault && error.note && isAnswered(error.note)) count(role, error.note);
        throw error;
      }
    };
  const metered = <T extends Omit<ExternalSeats, 'forRollout'>>(externalSeats: T): T => ({
    ...externalSeats,
    agent: counting('agent', externalSeats.agent),
    user: counting('user', externalSeats.user),
    simulate: counting('tools', externalSeats.simulate),
    ...(externalSeats.judge ? { judge: counting('judge', externalSeats.judge) } : {}),
  });
  return {
    isSpent,
    isUncountable,
    metered: (externalSeats) => {
      const { forRollout } = externalSeats;
      return { ...metered(externalSeats), ...(forRollout ? { forRollout: (log) => metered(forRollout(log)) } : {}) };
    },
    spent,
    uncounted: () => uncounted,
  };
}
