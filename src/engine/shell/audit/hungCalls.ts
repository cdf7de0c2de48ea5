import type { Task } from '../../core/domain/task.ts';
import type { Tool } from '../../core/domain/tool.ts';
import type { Failure } from '../../core/events/event.ts';
import type { ToolCall } from '../../core/events/message.ts';
import { canonicalJson, type JsonObject } from '../../core/values/json.ts';
import type { RolloutClosed } from '../liveRollout.ts';
import { isHung, type Stage } from './stage.ts';
import { type Repeated, repeat, type Sample, type Tried } from './toolRepeats.ts';

type Call = { readonly tool: string; readonly arguments: JsonObject | string };
type HungCall = Call & { readonly task: Task; readonly failure: Failure };

/** Calls of one tool that reach its time limit before an audit leaves out all others. */
const callsPerTool = 2;

const keyOf = (call: Call) => canonicalJson([call.tool, call.arguments]);

/**
 * The calls of an audit that reached the time limit of their tool. Such a call is not made again, and after two different
 * ones no other of the tool, because each takes the whole limit.
 */
export class HungCalls {
  readonly #calls = new Map<string, HungCall>();
  readonly #playing = new Map<Task, AbortController>();

  /** Plays the gold rollout of a task; null where it turns out meanwhile that it is left out. */
  async playGold(stage: Stage, task: Task): Promise<RolloutClosed | null> {
    const { signal } = this.#begin(task);
    const closed = await stage.play({ task, agent: 'gold', signal });
    this.#playing.delete(task);
    if (signal.aborted) return null;
    const call = unfinishedCall(closed);
    if (call) this.#note({ tool: call.name, arguments: call.arguments, task }, closed.failure);
    // They wait in the worker that the call blocked, and would make the same call.
    for (const [other, playing] of this.#playing) if (this.leftOutTool(other) !== null) playing.abort();
    return closed;
  }

  #begin(task: Task): AbortController {
    const playing = new AbortController();
    this.#playing.set(task, playing);
    return playing;
  }

  /** Makes a sample's call twice. */
  async repeat(stage: Stage, sample: Sample): Promise<Repeated> {
    const repeated = await repeat(stage, sample);
    this.#note({ ...sample, tool: sample.tool.name }, repeated.failure);
    return repeated;
  }

  #note({ tool, arguments: args, task }: Omit<HungCall, 'failure'>, failure: Failure | null): void {
    if (!isHung(failure)) return;
    const call = { tool, arguments: args, task, failure };
    if (!this.isLeftOut(call)) this.#calls.set(keyOf(call), call);
  }

  /** Whether a call is not made. */
  isLeftOut(call: Call): boolean {
    const ofTool = [...this.#calls.values()].filter(({ tool }) => tool === call.tool);
    return this.#calls.has(keyOf(call)) || ofTool.length >= callsPerTool;
  }

  /** Returns the tool for which a gold action of a task is not made; null where all can be made. */
  leftOutTool({ actions }: Task): string | null {
    const found = actions.find((action) => this.isLeftOut({ ...action, arguments: action.arguments as JsonObject }));
    return found?.tool ?? null;
  }

  /** Returns the calls as results of the tools' samples. */
  tried(tools: readonly Tool[]): readonly Tried[] {
    return [...this.#calls.values()].flatMap((call) => {
      const tool = tools.find(({ name }) => name === call.tool);
      if (!tool || typeof call.arguments === 'string') return [];
      const one = { events: [], states: null, content: '', failure: call.failure, mismatch: null };
      const sample = { tool, task: call.task, arguments: call.arguments, from: [], reading: null };
      return [{ sample, one, other: one, changes: null }];
    });
  }
}

/** Returns the last call of a rollout if it has no result. */
function unfinishedCall({ arrived }: RolloutClosed): ToolCall | null {
  const last = arrived.findLast(({ event }) => event.type === 'toolCalled' || event.type === 'toolReturned')?.event;
  return last?.type === 'toolCalled' ? (last.call as ToolCall) : null;
}
