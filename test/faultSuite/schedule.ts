import { type Random, randomStream } from '../../src/engine/core/values/random.ts';
import type { ChatFault, Message, Seat } from './chatFaults.ts';
import { injections } from './injections.ts';
import type { Plan } from './plan.ts';

/** A rollout of the suite, as drawn at random. */
export type Scheduled = {
  /** The fault, at one of the requests; undefined for a rollout that is left alone. */
  readonly plan: Plan | undefined;
  /** Whether its agent leaves its work undone, so that its reward is 0. */
  readonly isWrong: boolean;
};

/**
 * Yields rollouts endlessly. Each injection comes once before any comes again. Their order, the request, the due reward
 * and whether a rollout is left alone are drawn from separate streams, so they are independent of each other.
 */
export function* scheduleOf(seed: number): Generator<Scheduled, never> {
  const [order, requests, work, rest] = (['order', 'requests', 'work', 'rest'] as const).map((name) =>
    randomStream(seed, 'faults', name),
  ) as [Random, Random, Random, Random];
  const isWrong = () => work.chance(1 / 3);
  for (;;)
    for (const plan of shuffled(injections, order)) {
      while (rest.chance(1 / 7)) yield { plan: undefined, isWrong: isWrong() };
      yield { plan: atRequest(plan, requests), isWrong: isWrong() };
    }
}

/** Returns a list in an order that `random` draws (Fisher and Yates). */
function shuffled<Item>(items: readonly Item[], random: Random): readonly Item[] {
  const left = [...items];
  return items.map(() => left.splice(random.integer(left.length), 1)[0] as Item);
}

/** The number of texts of each model in a rollout without a fault. The agent also calls four tools. */
const texts: Readonly<Record<Seat, number>> = { agent: 1, user: 2, judge: 1, tool: 1 };
const text: Message = { role: 'assistant', content: 'Yes.' };
const call: Message = { role: 'assistant', content: null, tool_calls: [] };

/** Returns at how many requests of a rollout without a fault one can be injected. */
export function requestsOf({ fits = () => true }: ChatFault, seat: Seat): number {
  return (fits(text) ? texts[seat] : 0) + (seat === 'agent' && fits(call) ? 4 : 0);
}

function atRequest(plan: Plan, random: Random): Plan {
  return plan.type === 'tool' ? plan : { ...plan, nth: random.integer(requestsOf(plan.fault, plan.seat)) };
}
