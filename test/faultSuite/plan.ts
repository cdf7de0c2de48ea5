import type { ChatFault, Seat } from './chatFaults.ts';
import type { ToolFault } from './toolFaults.ts';

/** The injection into a rollout: one fault, at one of its requests. */
export type Plan = ChatPlan | ToolPlan;
export type ChatPlan = {
  readonly type: 'chat';
  readonly fault: ChatFault;
  readonly seat: Seat;
  /** The index of the request, from 0, among those of the seat that the fault can be injected into. */
  readonly nth: number;
};
export type ToolPlan = { readonly type: 'tool'; readonly fault: ToolFault };

export const nameOf = (plan: Plan): string =>
  plan.type === 'tool' ? `MCP: ${plan.fault.name}` : `${plan.seat}: ${plan.fault.name}`;

/** Returns the plan of a seat's requests, if it is one. */
export const chatPlace = (plan: Plan, seat: Seat): ChatPlan | undefined =>
  plan.type === 'chat' && plan.seat === seat ? plan : undefined;

/** Returns the fault of a tool's calls, if the plan has one. */
export const toolPlace = (plan: Plan, tool: string): ToolFault | undefined =>
  plan.type === 'tool' && plan.fault.tool === tool ? plan.fault : undefined;
