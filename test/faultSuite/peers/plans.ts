import { caseName } from '../cases.ts';
import { chatFaults } from '../chatFaults.ts';
import type { Calls } from '../endpoint.ts';
import type { Plan } from '../plan.ts';
import { streamedFaults, streamFaults } from '../streamFaults.ts';
import { toolFaults } from '../toolFaults.ts';

/**
 * Every fault that can be injected at the agent's endpoint or the tool server. Those of other seats have no counterpart, and
 * a framework that asks for streams gets the faults of whole answers in a stream.
 */
export const injections: readonly Plan[] = [
  ...toolFaults.map((fault): Plan => ({ type: 'tool', fault })),
  ...chatFaults
    .toSorted((a, b) => Number(a.outcomes.unchanged !== undefined) - Number(b.outcomes.unchanged !== undefined))
    .concat(streamFaults.filter((fault) => !streamedFaults.includes(fault)))
    .filter(({ seats }) => seats.includes('agent'))
    .map((fault): Plan => ({ type: 'chat', fault, seat: 'agent', nth: 0 })),
];

/** Rollouts of one fault. The agent of the first of them does not do its work. */
const perFault = 3;
/** The number of the first rollout without a fault. */
const firstClean = 900_000;

/** Whether the agent of a case leaves its work undone, so that its reward is 0. */
export const isWrong = (at: number) => at % perFault === 0;
export const dueReward = (at: number) => (isWrong(at) ? 0 : 1);

/** Returns the agent's calls in the desk of a peer: it reads the visits of its case, and notes one. */
export const peerCalls: Calls = (name, isWrong) => [
  ['visits', { case: name }],
  ['visit', { case: isWrong ? `${name}-later` : name }],
];
/** The number of requests to the agent's model in a rollout without a fault. */
const requests = 3;

/** Returns the injection of a case; undefined for one that is left alone. */
export const injectionOf = (at: number) => (at < firstClean ? injections[Math.floor(at / perFault)] : undefined);

/** Returns the plan of a case: its injection, at one of the requests of the agent. */
export function planOf(at: number): Plan | undefined {
  const plan = injectionOf(at);
  if (plan?.type !== 'chat' || plan.fault.fits !== undefined) return plan;
  return { ...plan, nth: (at + Math.floor(at / perFault)) % requests };
}

/** Returns the cases of a batch: some faults, and as many rollouts that are left alone as one fault has. */
export function casesOf(faults: readonly number[]): readonly number[] {
  const [first = 0] = faults;
  const rollouts = (from: number) => Array.from({ length: perFault }, (_, at) => from + at);
  return [...faults.flatMap((fault) => rollouts(fault * perFault)), ...rollouts(firstClean + first * perFault)];
}

export const namesOf = (cases: readonly number[]) => cases.map(caseName);
