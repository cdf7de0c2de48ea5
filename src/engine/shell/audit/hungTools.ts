import type { Task } from '../../core/domain/task.ts';
import type { Failure } from '../../core/events/event.ts';
import type { ToolCall } from '../../core/events/message.ts';
import type { RolloutClosed } from '../liveRollout.ts';
import type { Placed } from '../source/items.ts';
import type { Repeated } from './toolRepeats.ts';

/** The tools that reached their time limit. An audit does not call them again: each call would take the whole limit. */
export class HungTools {
  readonly #failures = new Map<string, Failure>();

  /** Notes the tool whose call ended a rollout. */
  noteRollout({ failure, arrived }: RolloutClosed): void {
    const returned = new Set(arrived.flatMap(({ event }) => (event.type === 'toolReturned' ? [event.callId] : [])));
    const last = arrived.findLast(({ event }) => event.type === 'toolCalled')?.event;
    const call = last?.type === 'toolCalled' ? (last.call as ToolCall) : undefined;
    if (call && !returned.has(call.id)) this.note(call.name, failure);
  }

  /** Notes why a call of a tool has no result. */
  note(tool: string, failure: Failure | null): void {
    if (failure?.code.endsWith('/hung')) this.#failures.set(tool, failure);
  }

  /** Returns the tool among the gold actions of a task that is not called again. */
  calledBy({ actions }: Task): string | undefined {
    return actions.find(({ tool }) => this.#failures.has(tool))?.tool;
  }

  /** Returns the result of a call that is not made; null for a tool that may be called. */
  resultOf(tool: string): Repeated | null {
    const failure = this.#failures.get(tool);
    return failure ? { events: [], states: null, content: '', failure, mismatch: null } : null;
  }
}

/** Returns the tasks that first call some tool, in order. Played one by one, each tool reaches its time limit once. */
export function firstCallers(tasks: readonly Placed<Task>[]): readonly Placed<Task>[] {
  const called = new Set<string>();
  return tasks.filter(({ value }) => {
    const isFirst = value.actions.some(({ tool }) => !called.has(tool));
    for (const { tool } of value.actions) called.add(tool);
    return isFirst;
  });
}
