import type { SeededFault } from '../domain/seededFault.ts';
import type { Task } from '../domain/task.ts';
import { randomStream, rolloutKey } from '../values/random.ts';
import type { RolloutState } from './state.ts';

const none: readonly CallFault[] = [];

/** A fault of a call, and its place among the faults of the task. */
export type CallFault = { readonly index: number; readonly fault: SeededFault };

/**
 * Returns the faults of the next call of a tool, in the order of the task. They depend on the task, the seed and the
 * conversation so far, so that a rollout that is resumed has the same ones.
 */
export function callFaults(task: Task, state: RolloutState, tool: string): readonly CallFault[] {
  if (!task.faults) return none;
  const nth = 1 + state.messages.filter((message) => message.role === 'tool' && message.name === tool).length;
  return task.faults.flatMap((fault, index) => {
    if (fault.tool !== tool || (fault.calls && !fault.calls.includes(nth))) return [];
    if (fault.times !== undefined && state.injectedFaults.filter((each) => each === index).length >= fault.times)
      return [];
    const isDrawn = randomStream(...rolloutKey(state.started), 'fault', index, nth).chance(fault.chance);
    return isDrawn ? [{ index, fault }] : [];
  });
}
