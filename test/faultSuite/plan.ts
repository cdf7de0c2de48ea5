import type { Random } from '../../src/engine/core/random.ts';
import { isFullSuite } from '../support/suite.ts';
import { type ChatFault, chatFaults, type Seat } from './chatFaults.ts';
import { type ToolFault, toolFaults } from './toolFaults.ts';

/** What is done to a rollout: one fault, at one of its requests. */
export type Plan = ChatPlan | ToolPlan;
export type ChatPlan = {
  readonly type: 'chat';
  readonly fault: ChatFault;
  readonly seat: Seat;
  /** Which of the requests of the seat that can be struck, from 0. */
  readonly nth: number;
};
export type ToolPlan = { readonly type: 'tool'; readonly fault: ToolFault };

/** Every fault at every seat that it may strike, in a fixed order. */
export const strikes: readonly Plan[] = [
  ...chatFaults.flatMap((fault) => fault.seats.map((seat): Plan => ({ type: 'chat', fault, seat, nth: 0 }))),
  ...toolFaults.map((fault): Plan => ({ type: 'tool', fault })),
].filter(({ fault }) => isFullSuite || fault.isSlow !== true);

/** How often a seat is asked in a rollout that nothing strikes. */
const requests: Readonly<Record<Seat, number>> = { agent: 5, user: 2, judge: 1, tool: 1 };

/** Returns the plan of a case: every strike comes as often as any other, at a request that `random` chooses. */
export function planFor(number: number, random: Random): Plan {
  // A step that has no factor with the number of strikes goes through all of them, in no order of kinds.
  const plan = strikes[(number * 59) % strikes.length] as Plan;
  if (plan.type === 'tool') return plan;
  const { fault, seat } = plan;
  const most = fault.fits === undefined ? requests[seat] : 1;
  return { ...plan, nth: random.integer(most) };
}

export const nameOf = (plan: Plan): string =>
  plan.type === 'tool' ? `MCP: ${plan.fault.name}` : `${plan.seat}: ${plan.fault.name}`;

/** Returns the plan of a seat's requests, if it is one. */
export const chatPlace = (plan: Plan, seat: Seat): ChatPlan | undefined =>
  plan.type === 'chat' && plan.seat === seat ? plan : undefined;

/** Returns the fault of a tool's calls, if the plan has one. */
export const toolPlace = (plan: Plan, tool: string): ToolFault | undefined =>
  plan.type === 'tool' && plan.fault.tool === tool ? plan.fault : undefined;
