import { unscoredText } from '../../../engine/core/events/displayText.ts';
import type { Reward } from '../../../engine/core/reward/reward.ts';
import { rewardInWords } from '../../../engine/shell/domain/reasonInWords.ts';
import { breaks } from '../../../engine/shell/files/breaks.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { UsageError } from '../../terminal/io.ts';
import type { Breakpoints, Hit } from '../breakpoints/breakpoints.ts';
import type { Configuration } from '../rollout/configuration.ts';
import type { Debuggee } from '../rollout/debuggee.ts';
import type { Edit, Edited } from '../rollout/edit.ts';
import { nameOf } from '../rollout/frames.ts';
import { type Destination, replyUpTo } from './destinations.ts';

/** Runs after a request is answered. */
export type Then = () => void | Promise<void>;

/** Makes a fork, and returns a description of its change and of where it continues from. */
type MakeFork = () => Promise<Pick<Edited, 'words' | 'from'>>;

/** The reason for a stop. `rule` is the one that a breakpoint is on. */
export type Stop = {
  readonly reason: Hit['reason'] | 'entry' | 'step' | 'goto' | 'pause' | 'fork' | 'sample' | 'end';
  readonly text: string;
  /** Numbers of the breakpoints that were hit. */
  readonly ids?: readonly number[];
  readonly rule?: string;
  /** The kind of exception. */
  readonly exception?: string;
};

/** Receives the events of a playback. */
export type PlaybackObserver = {
  /** The cursor went forward. */
  readonly onStep: () => void;
  /** A log breakpoint was reached. */
  readonly onLog: (text: string) => void;
  /** The rollout was left for a fork; the edit is not answered yet. */
  readonly onLeave: () => void;
  /** The fork's cursor is after the edit. */
  readonly onFork: (words: string) => void;
  readonly onStop: (stop: Stop) => void;
  /** There is nothing to stop at after that. */
  readonly onOver: () => void;
  readonly onFailure: (text: string) => void;
  /** The seat that waits for a person's turn. */
  readonly awaited: () => 'agent' | 'user' | null;
  /** Receives the seat whose turn a person was asked for before, where a movement reaches that step. */
  readonly onAwaited: (seat: 'agent' | 'user') => void;
};

const isRunning = 'the rollout is running: pause it first';

/** The time spent on existing steps before pending requests are read, in milliseconds: one may be a pause. */
const breathMs = 50;

/**
 * Moves over the steps of a debuggee, one movement at a time, and reports where and why it stops. Independent of the
 * protocol.
 */
export class Playback {
  readonly debuggee: Debuggee;
  readonly #breakpoints: Breakpoints;
  readonly #configuration: Configuration;
  readonly #observer: PlaybackObserver;
  #stop: Stop = { reason: 'entry', text: '' };
  /** Settled by `pause`, while a movement or a fork is under way. The first movement is that to the first stop. */
  #running: PromiseWithResolvers<'paused'> | null = Promise.withResolvers();
  #isOver = false;
  #isToldTheEnd = false;

  constructor(debuggee: Debuggee, breakpoints: Breakpoints, configuration: Configuration, observer: PlaybackObserver) {
    this.debuggee = debuggee;
    this.#breakpoints = breakpoints;
    this.#configuration = configuration;
    this.#observer = observer;
  }

  /** Returns where the session is, or was last. */
  get stop(): Stop {
    return this.#stop;
  }

  /** Whether a movement or a fork is under way. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Stops at the start, or continues to the first stop. */
  begin(request: 'launch' | 'attach'): Promise<void> {
    this.#forward();
    const { stopOnEntry, noDebug } = this.#configuration;
    const { cursor } = this.debuggee;
    const at = cursor > 0 ? `step ${cursor} of the recording` : 'the start of the recording';
    const entry = request === 'attach' ? at : 'before the first message';
    const isEntry = !noDebug && (request === 'attach' || stopOnEntry);
    const stop = this.#hit() ?? (isEntry ? { reason: 'entry' as const, text: entry } : null);
    if (!stop) return this.#run(() => null);
    this.#running = null;
    this.#stopAt(stop);
    return Promise.resolve();
  }

  /** Continues to the next breakpoint; from the end, ends the session. */
  continue(): Promise<void> {
    return this.#isAtEnd ? this.#end() : this.#run(() => null);
  }

  toNextTurn(): Promise<void> {
    return this.#run(({ event }) => (event.type === 'agentReplied' ? 'the next turn' : null));
  }

  toNextStep(): Promise<void> {
    return this.#run(nameOf);
  }

  toEndOfTurn(): Promise<void> {
    const isEnd = ({ state }: Step) => state.phase.type === 'agentAwaited' || state.ended !== null;
    return this.#run((step) => (isEnd(step) ? 'the end of the turn' : null));
  }

  back(): void {
    const isMoved = this.debuggee.back();
    this.#stopAt({ reason: 'step', text: isMoved ? 'one step back' : 'the start' });
  }

  /** Back to the breakpoint before, else to the start. */
  async reverse(): Promise<void> {
    this.#running ??= Promise.withResolvers();
    const paused = isSettled(this.#running.promise);
    const breathe = breaks(breathMs);
    let stop: Stop | null = null;
    while (!stop && this.debuggee.back()) {
      stop = this.#hit();
      await breathe();
      if (this.#isOver) return;
      if (!stop && paused()) stop = { reason: 'pause', text: 'paused' };
    }
    this.#stopAt(stop ?? { reason: 'entry', text: 'the start' });
  }

  pause(): void {
    this.#running?.resolve('paused');
  }

  /**
   * Decides on a movement. Until what it gives is done, every other one is refused, with a `UsageError`: requests may
   * arrive together, and each is answered before it moves.
   */
  async claim(decide: (playback: Playback) => Then | Promise<Then>): Promise<Then> {
    if (this.#running) throw new UsageError(isRunning);
    const claimed = Promise.withResolvers<'paused'>();
    this.#running = claimed;
    const release = () => {
      if (this.#running === claimed) this.#running = null;
    };
    try {
      const then = await decide(this);
      return async () => {
        try {
          await then();
        } finally {
          release();
        }
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Goes to a destination that a person chose. Throws a `UsageError` if it can no longer be reached. */
  goTo(destination: Destination): Then {
    switch (destination.type) {
      case 'step':
        return this.#toStep(destination.step);
      case 'turn':
        return this.toTurn(destination.turn);
      case 'call':
        return () => this.#toCall(destination.callId);
    }
  }

  /** Goes to a turn (from 1). One that is recorded costs nothing; to a later one the rollout runs on. */
  toTurn(turn: number): Then {
    const { debuggee } = this;
    const { steps, isLive } = debuggee;
    const recorded = steps.find(({ event, state }) => event.type === 'agentReplied' && state.turn === turn);
    if (recorded) return this.#toStep(recorded.n);
    const last = steps.at(-1)?.state.turn ?? 0;
    if (!isLive || !Number.isInteger(turn) || turn < 1) throw new UsageError(noTurn(turn, last));
    return () => {
      debuggee.moveTo(debuggee.steps.length - 1);
      this.#observer.onStep();
      const isThere = ({ event, state }: Step) => event.type === 'agentReplied' && state.turn === turn;
      return this.#run((step) => (isThere(step) ? `turn ${turn}` : null), 'goto');
    };
  }

  #toStep(step: number): Then {
    const there = this.debuggee.steps[step];
    if (!there) throw new UsageError(`step ${step} no longer exists`);
    return () => {
      this.debuggee.moveTo(step);
      this.#observer.onStep();
      const text = there.event.type === 'agentReplied' ? `turn ${there.state.turn}` : `step ${step}`;
      this.#stopAt({ reason: 'goto', text });
    };
  }

  /** Continues to a call of the message under way; where it is not made after all, to the next message. */
  #toCall(callId: string): Promise<void> {
    return this.#run(({ event }) => {
      if (event.type === 'toolCalled' && event.call.id === callId) return `${event.call.name} is called`;
      const isOver = event.type === 'agentReplied' || event.type === 'userReplied' || event.type === 'rolloutEnded';
      return isOver ? 'the call was not made' : null;
    });
  }

  /** Forks and is after the edit. What it gives tells the observer, once the edit itself is answered. */
  fork(edit: Edit): Promise<Then> {
    return this.branch(() => this.debuggee.fork(edit), { rule: this.#ruleInView });
  }

  /** The rule where the session is. */
  get #ruleInView(): string | undefined {
    const event = this.debuggee.current?.event;
    if (event?.type !== 'rulesChecked') return undefined;
    return this.#stop.rule ?? event.verdicts.find(({ verdict }) => verdict === 'violated')?.rule;
  }

  /**
   * Makes a fork and is where it begins. What it gives tells the observer, once the request itself is answered.
   * @param goesOn whether it continues at once, to the next breakpoint or to the turn of a person
   * @param rule the one that a person looks at, which stays in view
   */
  async branch(
    make: MakeFork,
    { goesOn = false, rule }: { goesOn?: boolean; rule?: string | undefined } = {},
  ): Promise<Then> {
    const { words, from } = await this.#leaveFor(make);
    return async () => {
      this.#observer.onFork(words);
      if (goesOn) await this.#run(() => null);
      else this.#stopAt({ reason: 'fork', text: `forked: continues from ${from}`, ...(rule ? { rule } : {}) });
    };
  }

  /**
   * Lets the seat answer again whose answer a frame shows: in a fork, with new random numbers. It stops at the
   * new answer.
   * @param frame as a client numbers it; without one, where the session is
   */
  async resample(frame: number | undefined): Promise<Then> {
    const { steps, cursor } = this.debuggee;
    if (frame && !steps[frame - 1])
      throw new UsageError('this row is of another rollout: choose one of the call stack');
    const reply = replyUpTo(steps, steps[(frame ?? 0) - 1]?.n ?? cursor);
    if (!reply) throw new UsageError('no seat has answered yet: step to an answer of the agent or of the user');
    const { words } = await this.#leaveFor(() => this.debuggee.fork({ type: 'sample', step: reply.n }));
    return () => {
      this.#observer.onFork(words);
      return this.#run((step) => `re-sampled: ${nameOf(step)}`, 'sample');
    };
  }

  /** Leaves the rollout for its fork. */
  async #leaveFor(make: MakeFork): ReturnType<MakeFork> {
    if (this.#isOver) throw new UsageError('the session has ended: attach to the recording to continue from it');
    const left = await make();
    this.#isToldTheEnd = false;
    this.#observer.onLeave();
    return left;
  }

  /** Continues without a request, because a person's turn was typed before it was requested. */
  goOn(): Promise<void> {
    this.#observer.onLeave();
    this.debuggee.moveTo(this.debuggee.steps.length - 1);
    return this.toNextStep();
  }

  /** Ends what is running; the recording is kept. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.debuggee.close();
  }

  /** Goes forward until a breakpoint, a pause, the end, or where `until` says. */
  async #run(until: (step: Step) => string | null, reason: Stop['reason'] = 'step'): Promise<void> {
    this.#running ??= Promise.withResolvers();
    const stop = await this.#next(until, this.#running.promise);
    if (this.#isOver) return;
    if (stop) this.#stopAt(stop.reason === 'step' ? { ...stop, reason } : stop);
    else await this.#stopAtEnd();
  }

  async #next(until: (step: Step) => string | null, paused: Promise<'paused'>): Promise<Stop | null> {
    const { debuggee } = this;
    const breathe = breaks(breathMs);
    for (;;) {
      await breathe();
      const awaited = debuggee.cursor === debuggee.steps.length - 1 ? this.#observer.awaited() : null;
      if (awaited) this.#observer.onAwaited(awaited);
      const found = await Promise.race([paused, debuggee.ready()]);
      if (this.#isOver || found === false) return null;
      if (found === 'paused') {
        const seat = this.#observer.awaited();
        return { reason: 'pause', text: seat ? `paused in the turn of the ${seat}` : 'paused' };
      }
      debuggee.next();
      this.#forward();
      const hit = this.#hit();
      if (hit) return hit;
      const there = debuggee.current && until(debuggee.current);
      // At the last step the rollout has a reward to report, whatever the step was for.
      if (there && debuggee.current?.event.type !== 'rewarded') return { reason: 'step', text: there };
    }
  }

  /** Whether the rollout is at its end, and that was said. */
  get #isAtEnd(): boolean {
    const { current, cursor, steps } = this.debuggee;
    return current?.event.type === 'rewarded' || (this.#isToldTheEnd && cursor === steps.length - 1);
  }

  #rewardText({ value, reason }: Reward): string {
    const why = rewardInWords(this.debuggee.domain, reason);
    return value === null ? unscoredText(why) : `reward ${value}: ${why}`;
  }

  /** Stops at the end, so that one can step back from it; to continue from there ends the session. */
  async #stopAtEnd(): Promise<void> {
    const { current, failure } = this.debuggee;
    if (failure) this.#observer.onFailure(`the rollout cannot continue: ${failure}`);
    this.#isToldTheEnd = true;
    if (this.#configuration.noStopAtEnd || this.#configuration.noDebug) return this.#end();
    const reward = current?.state.reward;
    const text = reward ? this.#rewardText(reward) : 'the end of the recording';
    this.#stopAt({ reason: 'end', text: failure ?? text });
  }

  async #end(): Promise<void> {
    await this.close();
    this.#observer.onOver();
  }

  /** The cursor went forward: what is shown of the step, and what log breakpoints say about it. */
  #forward(): void {
    this.#observer.onStep();
    const { current, steps } = this.debuggee;
    if (!current || this.#configuration.noDebug) return;
    for (const text of this.#breakpoints.logsAt(current, steps)) this.#observer.onLog(text);
  }

  #hit(): Hit | null {
    const { current } = this.debuggee;
    return current && !this.#configuration.noDebug ? this.#breakpoints.hitAt(current, this.debuggee.steps) : null;
  }

  #stopAt(stop: Stop): void {
    this.#running = null;
    this.#stop = stop;
    this.#observer.onStop(stop);
  }
}

function isSettled(promise: Promise<unknown>): () => boolean {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  return () => settled;
}

function noTurn(turn: number, last: number): string {
  if (!Number.isInteger(turn) || turn < 1) return 'name a turn by its number, from 1: /turn 3';
  return `there is no turn ${turn}: the rollout has ${last === 0 ? 'none' : `turns 1 to ${last}`}`;
}
