import type { Random } from '../../src/engine/core/random.ts';
import { isFullSuite } from '../support/suite.ts';
import { chatFaults, type Seat } from './chatFaults.ts';
import type { Plan } from './plan.ts';
import { streamFaults } from './streamFaults.ts';
import { toolFaults } from './toolFaults.ts';

/** Every fault at every seat that it may be injected at, in a fixed order. */
export const injections: readonly Plan[] = [
  ...[...chatFaults, ...streamFaults].flatMap((fault) =>
    fault.seats.map((seat): Plan => ({ type: 'chat', fault, seat, nth: 0 })),
  ),
  ...toolFaults.map((fault): Plan => ({ type: 'tool', fault })),
].filter(({ fault }) => isFullSuite || fault.isSlow !== true);

/** How often a seat is asked in a rollout without a fault. */
const requests: Readonly<Record<Seat, number>> = { agent: 5, user: 2, judge: 1, tool: 1 };

/** Returns the plan of a case: every injection comes as often as any other, at a request that `random` chooses. */
export function planFor(number: number, random: Random): Plan {
  // A step that has no factor with the number of injections goes through all of them, in no order of kinds.
  const plan = injections[(number * 59) % injections.length] as Plan;
  if (plan.type === 'tool') return plan;
  const { fault, seat } = plan;
  const most = fault.fits === undefined ? requests[seat] : 1;
  return { ...plan, nth: random.integer(most) };
}
