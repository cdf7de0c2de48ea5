import { performance } from 'node:perf_hooks';
import { taskIn } from '../../core/domain/taskVariant.ts';
import type { RolloutState } from '../../core/events/state.ts';
import type { Setting } from '../../core/rollout/rollout.ts';
import { impossible } from '../../core/values/impossible.ts';
import { openDatabase } from '../../core/world/database.ts';
import { Fault } from '../files/fault.ts';
import { play } from '../rollout/driver.ts';
import { goldWorld } from '../rollout/goldWorld.ts';
import type { Step } from '../rollout/ports.ts';
import type { Gold } from '../rollout/verification.ts';
import { DomainCode, type DomainCodeOptions } from './domainCode.ts';
import { MarkedCalls } from './markedCalls.ts';
import { Questions } from './questions.ts';
import { ServedRollout, type Start } from './servedRollout.ts';
import { claimText } from './workerChannel.ts';
import type { MarkWriter } from './workerMarker.ts';
import type { ToWorker, WorkerGold } from './workerMessage.ts';
import { portsOf } from './workerPorts.ts';

export type HostOptions = DomainCodeOptions & { readonly mark: MarkWriter };

/** The time that rollouts are folded before messages are read again, in ms. */
const turnMs = 20;

/** Bytes of events that wait at most. */
const flushAt = 64 * 1024;

/** The longest delay of events while others follow, in ms. The supervisor measures calls by their arrival. */
const flushMs = 100;

/** Folds the rollouts that the supervisor starts, many at once: the one driver loop, domain code, model-free seats. */
export class WorkerHost {
  readonly #options: HostOptions;
  readonly #served = new Map<number, ServedRollout>();
  readonly #starting: ServedRollout[] = [];
  readonly #calls: MarkedCalls;
  readonly #code: DomainCode;
  readonly #questions = new Questions((question, rollout, about) => {
    this.#options.writer.post({ type: 'question', question, rollout, about });
    this.#planFlush();
  });
  #setting: Setting | null = null;
  /** Gold worlds that were reported, by number. */
  readonly #golds = new WeakMap<Gold, number>();
  #nextGold = 1;
  #isFlushPlanned = false;
  /** Since when the first of the events waits that wait. */
  #waitingSince = 0;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#calls = new MarkedCalls(options.mark, options.writer);
    this.#code = new DomainCode(options, this.#calls);
  }

  /** The rollout whose domain code is running, for the log. */
  get running(): number | null {
    return this.#calls.running;
  }

  /** Marks the call that something thrown outside of every call came from, if it came from one. */
  blame(): void {
    this.#calls.blame();
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case 'prepare': {
        const { domain, world, places } = message;
        this.#code.places = places;
        this.#setting = { domain, world: { agent: openDatabase(world.agent), user: openDatabase(world.user) } };
        this.#options.writer.send({ type: 'prepared' });
        return;
      }
      case 'start':
        this.#begin(message);
        return;
      case 'step':
        this.#served.get(message.rollout)?.permit();
        return;
      case 'cancel':
        this.#served.get(message.rollout)?.cancel();
        this.#questions.cancel(message.rollout);
        return;
      case 'stopInside':
        this.#options.inspector.stopInside(message.rollout);
        return;
      case 'answer':
        this.#questions.answer(message.question, message.value);
        return;
      case 'refusal':
        this.#questions.refuse(message.question, new Fault(message.failure, { reason: message.reason }));
        return;
      default:
        impossible('message', message);
    }
  }

  #begin(start: Start): void {
    const served = new ServedRollout(start);
    this.#served.set(start.rollout, served);
    this.#starting.push(served);
    // Never here: as long as messages arrive, the runtime reads on, and neither timers nor the heartbeat have a turn.
    if (this.#starting.length === 1) setImmediate(() => this.#startWaiting());
  }

  /**
   * Starts what waits. A rollout that waits for nothing is folded in one go, so that what it made is garbage before
   * the next one begins; now and then the event loop has its turn.
   */
  #startWaiting(): void {
    const from = performance.now();
    while (this.#starting.length > 0 && performance.now() - from < turnMs) {
      const [served] = this.#starting;
      if (served) void this.#serve(served);
      this.#starting.shift();
    }
    if (this.#starting.length > 0) setImmediate(() => this.#startWaiting());
  }

  async #serve(served: ServedRollout): Promise<void> {
    const { rollout, task: id, from, wantsGold } = served.start;
    const { writer, inspector } = this.#options;
    try {
      const setting = this.#setting;
      if (!setting) throw new Error('a rollout was started before the worker was prepared');
      const task = taskIn(setting.domain, id);
      if (!task) throw new Error(`this domain has no task ${id}`);
      const ports = portsOf(served, {
        setting,
        code: this.#code,
        ask: (about) => this.#questions.ask(rollout, about),
        isInspected: () => inspector.isOpen,
      });
      const played = { setting, task, ports };
      const state = await this.#fold(served, play(played, from));
      const { gold: looked = null, custom = [] } = served.evidence ?? {};
      const done = wantsGold ? await goldWorld(played, state) : looked;
      writer.post({ type: 'closed', rollout, evidence: { gold: done && this.#workerGold(done), custom } });
      this.#planFlush();
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      writer.send({ type: 'crashed', rollout, message });
    } finally {
      this.#served.delete(rollout);
    }
  }

  /** Drains the generator, sends what is new, and gives the state at the end. */
  async #fold(served: ServedRollout, steps: ReturnType<typeof play>): Promise<RolloutState> {
    const { rollout, from, known, pace } = served.start;
    const shared = Math.max(known, 'type' in from ? 0 : from.length);
    const { writer } = this.#options;
    let last: RolloutState | null = null;
    let before = performance.now();
    for (let index = 0; ; index++) {
      if (pace === 'step' && index >= shared) {
        writer.flush();
        await served.permission();
        before = performance.now(); // a pause is not part of what a step took
      }
      let next = steps.next();
      while (!next.done && next.value instanceof Promise) next = steps.next(await next.value);
      if (next.done) break;
      const { n, event, state } = next.value as Step;
      last = state;
      const now = performance.now();
      if (n >= known) {
        const reads = event.type === 'toolReturned' ? served.takeReads() : null;
        if (reads) writer.post({ type: 'reads', rollout, n, reads });
        if (writer.size === 0) this.#waitingSince = now;
        writer.event(rollout, Math.round((now - before) * 1000) / 1000, claimText(n, event));
        // A reply took long outside of the worker.
        const isLong = now - before > flushMs && !event.type.endsWith('Replied');
        if (isLong || now - this.#waitingSince > flushMs) writer.flush();
        this.#planFlush();
      }
      before = now;
    }
    if (!last) throw new Error('a rollout has at least its start');
    return last;
  }

  #planFlush(): void {
    const { writer } = this.#options;
    if (writer.size > flushAt) writer.flush();
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      writer.flush();
    });
  }

  #workerGold(gold: Gold): WorkerGold {
    const known = this.#golds.get(gold);
    if (known !== undefined) return { id: known };
    const id = this.#nextGold++;
    this.#golds.set(gold, id);
    const actions = gold.steps.map(({ turn, content, writes }) => ({ turn, content, writes }));
    return { id, actions, ...(gold.failed === undefined ? {} : { failed: gold.failed }) };
  }
}
