import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { pathsVisible } from '../../core/domain/simulatedTool.ts';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import { runsInWorker, type Tool } from '../../core/domain/tool.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { cancelled } from '../files/fault.ts';
import type { ToolContext } from '../rollout/ports.ts';
import type { Conclusive } from '../rollout/verification.ts';
import { ReadObserver } from './readObserver.ts';
import type { ToWorker } from './workerMessage.ts';

export type Start = Extract<ToWorker, { readonly type: 'start' }>;

/** One rollout under way in a worker. */
export class ServedRollout {
  readonly start: Start;
  /** The inputs to the verdicts, once they exist. */
  evidence: Conclusive | null = null;
  isCancelled = false;
  /** Made when something waits that a cancelled rollout does not need. */
  #abort: AbortController | null = null;
  /** Steps that the supervisor has allowed and the rollout has not taken. */
  #permits = 0;
  #wake: (() => void) | null = null;
  #observer: ReadObserver | null = null;

  constructor(start: Start) {
    this.start = start;
  }

  /** Allows one more step. */
  permit(): void {
    this.#permits++;
    this.#wake?.();
  }

  cancel(): void {
    this.isCancelled = true;
    this.#abort?.abort();
    this.#wake?.();
  }

  /** Waits until a step is allowed; a cancelled rollout needs no permission. */
  async permission(): Promise<void> {
    while (this.#permits === 0 && !this.isCancelled) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#permits > 0) this.#permits--;
  }

  /** Lets time pass, unless the rollout is cancelled meanwhile. */
  async pause(ms: number): Promise<void> {
    if (this.isCancelled) throw cancelled();
    this.#abort ??= new AbortController();
    try {
      await setTimeoutPromise(ms, undefined, { signal: this.#abort.signal });
    } catch {
      throw cancelled();
    }
  }

  /**
   * Returns what notes the rows that a call reads; one call may be made more than once. Null where the supervisor did not
   * ask for them, or where they can't be known.
   */
  observe(tool: Tool, values: JsonObject, { world }: ToolContext): ReadObserver | null {
    const { owner } = tool;
    const { simulation } = sourceOf(tool);
    if (!this.start.reads || (!runsInWorker(tool) && !simulation)) return null;
    this.#observer ??= new ReadObserver();
    if (simulation)
      for (const path of pathsVisible(simulation, values, world[owner])) this.#observer.whole(owner, path);
    return this.#observer;
  }

  /** Returns what the last call read, and forgets it. */
  takeReads(): ReadObserver['reads'] | null {
    const reads = this.#observer?.reads ?? null;
    this.#observer = null;
    return reads;
  }
}
