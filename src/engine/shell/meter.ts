import { moneyOf, type Prices } from '../core/metrics.ts';
import type { Outside } from './outside.ts';
import type { ModelCall } from './seats/openai.ts';

/** What the models of a batch may use at most. */
export type Budget = { readonly tokens?: number | undefined; readonly money?: number | undefined };

export type Meter = {
  readonly metered: (outside: Outside) => Outside;
  readonly spent: () => { readonly tokens: number; readonly money: number };
  /** Answers that did not say what they used, so that no budget can be kept on them. */
  readonly uncounted: () => number;
  /** Aborts with the call that spends the budget. */
  readonly signal: AbortSignal;
};

/** Counts the tokens of every model call, and what they cost. */
export function openMeter(budget: Budget, prices: Prices): Meter {
  const seats = { agent: { input: 0, output: 0 }, user: { input: 0, output: 0 } };
  const abort = new AbortController();
  let uncounted = 0;
  const spent = () => ({
    tokens: seats.agent.input + seats.agent.output + seats.user.input + seats.user.output,
    money: moneyOf(seats, prices) ?? 0,
  });
  const count = (seat: 'agent' | 'user', call: ModelCall | undefined) => {
    if (!call) return;
    if (!call.usage) uncounted += 1;
    seats[seat].input += call.usage?.input ?? 0;
    seats[seat].output += call.usage?.output ?? 0;
    const { tokens, money } = spent();
    if (tokens >= (budget.tokens ?? Number.POSITIVE_INFINITY) || money >= (budget.money ?? Number.POSITIVE_INFINITY))
      abort.abort();
  };
  return {
    metered: (outside) => ({
      ...outside,
      agent: async (...given) => {
        const answered = await outside.agent(...given);
        count('agent', answered.call);
        return answered;
      },
      user: async (...given) => {
        const answered = await outside.user(...given);
        count('user', answered.call);
        return answered;
      },
    }),
    spent,
    uncounted: () => uncounted,
    signal: abort.signal,
  };
}
