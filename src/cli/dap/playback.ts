import type { Step } from '../../engine/shell/driver.ts';
import { UsageError } from '../io.ts';
import type { Breakpoints, Hit } from './breakpoints.ts';
import type { Configuration } from './configuration.ts';
import type { Debuggee } from './debuggee.ts';
import type { Edit } from './edit.ts';

/** Why a session stands where it does. `rule` is the one that a breakpoint is on. */
export type Stop = {
  readonly reason: Hit['reason'] | 'entry' | 'step' | 'pause' | 'fork' | 'end';
  readonly text: string;
  /** Numbers of the breakpoints that were hit. */
  readonly ids?: readonly number[];
  readonly rule?: string;
};

/** Who is told what happens. */
export type Watcher = {
  /** The cursor went forward. */
  readonly onStep: () => void;
  /** The rollout was left for a fork; the edit is not answered yet. */
  readonly onLeave: () => void;
  /** The fork's cursor stands after the edit. */
  readonly onFork: (words: string) => void;
  readonly onStop: (stop: Stop) => void;
  /** There is nothing to stop at any more. */
  readonly onOver: () => void;
  readonly onFailure: (text: string) => void;
  /** The seat that waits for a person's turn. */
  readonly awaited: () => 'agent' | 'user' | null;
};

const isRunning = 'the rollout is running: pause it first';

/** Moves over the steps of a debuggee, one movement at a time, and says where it stops and why. Knows no protocol. */
export class Playback {
  readonly debuggee: Debuggee;
  readonly #breakpoints: Breakpoints;
  readonly #configuration: Configuration;
  readonly #watcher: Watcher;
  #stop: Stop = { reason: 'entry', text: '' };
  /** Settled by `pause`, while a movement or a fork is under way. */
  #running: PromiseWithResolvers<'paused'> | null = null;
  #isOver = false;
  #isToldTheEnd = false;

  constructor(debuggee: Debuggee, breakpoints: Breakpoints, configuration: Configuration, watcher: Watcher) {
    this.debuggee = debuggee;
    this.#breakpoints = breakpoints;
    this.#configuration = configuration;
    this.#watcher = watcher;
  }

  /** Where the session stands, or stood last. */
  get stop(): Stop {
    return this.#stop;
  }

  /** Stops at the start, or goes on to the first stop. */
  begin(request: 'launch' | 'attach'): Promise<void> {
    this.#watcher.onStep();
    const { stopOnEntry, noDebug } = this.#configuration;
    const entry = request === 'attach' ? 'the start of the recording' : 'before the first message';
    const isEntry = !noDebug && (request === 'attach' || stopOnEntry);
    const stop = this.#hit() ?? (isEntry ? { reason: 'entry' as const, text: entry } : null);
    if (!stop) return this.#run(() => null);
    this.#stopAt(stop);
    return Promise.resolve();
  }

  /** Goes on to the next breakpoint; from the end, ends the session. */
  continue(): Promise<void> {
    return this.#isAtEnd ? this.#end() : this.#run(() => null);
  }

  toNextTurn(): Promise<void> {
    return this.#run(({ event }) => (event.type === 'agentReplied' ? 'the next turn' : null));
  }

  toNextStep(): Promise<void> {
    return this.#run(({ event }) => event.type);
  }

  toEndOfTurn(): Promise<void> {
    const isEnd = ({ state }: Step) => state.phase.type === 'agentAwaited' || state.ended !== null;
    return this.#run((step) => (isEnd(step) ? 'the end of the turn' : null));
  }

  back(): void {
    this.refuseWhileRunning();
    const isMoved = this.debuggee.back();
    this.#stopAt({ reason: 'step', text: isMoved ? 'one step back' : 'the start' });
  }

  /** Back to the breakpoint before, else to the start. */
  reverse(): void {
    this.refuseWhileRunning();
    let hit: Hit | null = null;
    while (!hit && this.debuggee.back()) hit = this.#hit();
    this.#stopAt(hit ?? { reason: 'entry', text: 'the start' });
  }

  pause(): void {
    this.#running?.resolve('paused');
  }

  /** Throws a `UsageError` when a movement is under way. */
  refuseWhileRunning(): void {
    if (this.#running) throw new UsageError(isRunning);
  }

  /** Forks and stands after the edit. What it gives tells the watcher, once the edit itself is answered. */
  async fork(edit: Edit): Promise<() => void> {
    this.refuseWhileRunning();
    this.#running = Promise.withResolvers();
    try {
      const { words, from } = await this.debuggee.fork(edit);
      this.#watcher.onLeave();
      return () => {
        this.#isToldTheEnd = false;
        this.#watcher.onFork(words);
        this.#stopAt({ reason: 'fork', text: `forked: goes on from ${from}` });
      };
    } finally {
      this.#running = null;
    }
  }

  /** Ends what runs; what was recorded is kept. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.debuggee.close();
  }

  /** Goes forward until a breakpoint, a pause, the end, or where `until` says. */
  async #run(until: (step: Step) => string | null): Promise<void> {
    this.refuseWhileRunning();
    const running = Promise.withResolvers<'paused'>();
    this.#running = running;
    const stop = await this.#next(until, running.promise);
    this.#running = null;
    if (this.#isOver) return;
    if (stop) this.#stopAt(stop);
    else await this.#stopAtEnd();
  }

  async #next(until: (step: Step) => string | null, paused: Promise<'paused'>): Promise<Stop | null> {
    const { debuggee } = this;
    for (;;) {
      const found = await Promise.race([paused, debuggee.ready()]);
      if (this.#isOver || found === false) return null;
      if (found === 'paused') {
        const seat = this.#watcher.awaited();
        return { reason: 'pause', text: seat ? `paused in the turn of the ${seat}` : 'paused' };
      }
      debuggee.next();
      this.#watcher.onStep();
      const hit = this.#hit();
      if (hit) return hit;
      const there = debuggee.current && until(debuggee.current);
      // At the last step the rollout has a reward to be told, whatever the step was for.
      if (there && debuggee.current?.event.type !== 'rewarded') return { reason: 'step', text: there };
    }
  }

  /** Whether the rollout stands at its end, and that was said. */
  get #isAtEnd(): boolean {
    const { current, cursor, steps } = this.debuggee;
    return current?.event.type === 'rewarded' || (this.#isToldTheEnd && cursor === steps.length - 1);
  }

  /** Stops at the end, so that one can step back from it; to continue from there ends the session. */
  async #stopAtEnd(): Promise<void> {
    const { current, failure } = this.debuggee;
    if (failure) this.#watcher.onFailure(`the rollout can't go on: ${failure}`);
    this.#isToldTheEnd = true;
    if (this.#configuration.noStopAtEnd || this.#configuration.noDebug) return this.#end();
    const reward = current?.state.reward;
    const text = reward ? `reward ${reward.value ?? 'none'}: ${reward.reason}` : 'the end of the recording';
    this.#stopAt({ reason: 'end', text: failure ?? text });
  }

  async #end(): Promise<void> {
    await this.close();
    this.#watcher.onOver();
  }

  #hit(): Hit | null {
    const { current } = this.debuggee;
    return current && !this.#configuration.noDebug ? this.#breakpoints.hitAt(current) : null;
  }

  #stopAt(stop: Stop): void {
    this.#stop = stop;
    this.#watcher.onStop(stop);
  }
}
