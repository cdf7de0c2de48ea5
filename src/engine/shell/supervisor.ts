import type { Domain } from '../core/domain/domain.ts';
import { externalSource } from '../core/domain/tool.ts';
import type { Failure } from '../core/events/event.ts';
import type { Setting } from '../core/rollout/rollout.ts';
import { acceptEvents, throwIfLate } from './acceptedEvents.ts';
import { CheckedRollout } from './checkedFold/checkedRollout.ts';
import { ForgedMessage } from './checkedFold/forgedMessage.ts';
import type { LoadedDomain } from './domain/loadDomain.ts';
import { Fault } from './files/fault.ts';
import { redacted, redactedPart } from './keys/secrets.ts';
import type { LiveRollout, RolloutClosed, RolloutRequest } from './liveRollout.ts';
import { type Fitness, fitnessOf, unfitFault } from './load/fitness.ts';
import { settingOf } from './replay.ts';
import { RolloutWriter } from './rolloutWriter.ts';
import { closedOf, isDue, type SupervisedRollout, supervisedRollout } from './supervisedRollout.ts';
import { SharedTools } from './tools/sharedTools.ts';
import { type AnswerPorts, answerRecorded, answerWorker } from './workerAnswers.ts';
import type { WorkerEvent } from './workers/workerMessage.ts';
import { type Worker, type WorkerDeath, Workers, type WorkerWord } from './workers.ts';

/** Holds keys, clients, recordings and workers; runs nothing of the domain, and folds again what its workers say. */
export type Supervisor = {
  /** The whole domain, its tools described. */
  readonly domain: Domain;
  readonly loaded: LoadedDomain;
  /** @param onEvents receives events after they are on the disk */
  readonly start: (request: RolloutRequest, onEvents?: (events: readonly WorkerEvent[]) => void) => LiveRollout;
  readonly close: () => Promise<void>;
};

export type SupervisorOptions = {
  /** The number of child processes that share the rollouts. */
  readonly workers?: number;
  /** Whether a JavaScript debugger may attach to them. */
  readonly inspectable?: boolean;
  readonly log?: (text: string) => void;
  /** The time limit for loading a domain's code, in ms. */
  readonly loadMs?: number | undefined;
  /**
   * The longest time, in ms, that its process may send nothing about a rollout, in addition to the longest time limit
   * of a tool.
   */
  readonly silenceMs?: number | undefined;
  /**
   * The time by which its code may exceed its time limit by the clock of this process, in ms; two seconds by default.
   */
  readonly graceMs?: number | undefined;
};

/** Starts the workers of a domain and describes its tools. Throws a `Fault` when the domain's code can't be loaded. */
export async function openSupervisor(domain: LoadedDomain, options: SupervisorOptions = {}): Promise<Supervisor> {
  const supervision = new Supervision(domain, options);
  await supervision.open();
  return supervision;
}

class Supervision implements Supervisor {
  #nextRollout = 1;
  readonly #workers: Workers<SupervisedRollout>;
  readonly #writer = new RolloutWriter((live, error) => this.#giveUp(live, error));
  readonly #live = new Map<number, SupervisedRollout>();
  readonly #options: SupervisorOptions;
  readonly #tools: SharedTools;
  #knownSetting: Setting | null = null;
  #fitness: Fitness | null = null;

  constructor(domain: LoadedDomain, options: SupervisorOptions) {
    this.#options = options;
    this.#tools = new SharedTools(domain, (text) => options.log?.(redacted(text)));
    this.#workers = new Workers(domain, {
      inspectable: options.inspectable ?? false,
      loadMs: options.loadMs,
      silenceMs: options.silenceMs,
      isDue,
      onWord: (worker, word) => this.#received(worker, word),
      onDeath: (death) => this.#takeOver(death),
    });
  }

  get domain(): Domain {
    return this.#workers.domain;
  }

  get #setting(): Setting {
    this.#knownSetting ??= { ...settingOf(this.loaded), domain: this.domain };
    return this.#knownSetting;
  }

  get loaded(): LoadedDomain {
    return this.#workers.loaded;
  }

  async open(): Promise<void> {
    try {
      const externalTools = await this.#tools.describe();
      await this.#workers.open(this.#options.workers ?? 1, externalTools, this.#tools.hosted);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  start(request: RolloutRequest, onEvents?: (events: readonly WorkerEvent[]) => void): LiveRollout {
    const { promise, resolve, reject } = Promise.withResolvers<RolloutClosed>();
    const live = supervisedRollout(
      { id: this.#nextRollout++, request, settle: resolve, fail: reject, onEvents },
      this.#tools,
      (text) => this.#options.log?.(text),
    );
    this.#live.set(live.id, live);
    const launched = this.#launchIfFit(live);
    launched.catch((error: unknown) => this.#giveUp(live, error));
    return {
      closed: promise,
      step: () => {
        live.steps += 1;
        if (live.ending) this.#end(live);
        else if (live.isStarted) live.worker?.process.send({ type: 'step', rollout: live.id });
      },
      cancel: () => {
        live.abort.abort();
        if (live.ending) this.#end(live);
        live.worker?.process.send({ type: 'cancel', rollout: live.id });
      },
      cancelCalls: () => live.calls.abort(),
      abandon: () => this.#abandon(live),
      inside: {
        isOpen: () => live.worker?.process.isInspected ?? false,
        open: () => live.worker?.process.inspect() ?? Promise.resolve('no worker folds this rollout'),
        close: () => live.worker?.process.uninspect(),
        stopAtCall: () => live.worker?.process.send({ type: 'stopInside', rollout: live.id }),
      },
    };
  }

  async close(): Promise<void> {
    for (const live of this.#live.values()) live.abort.abort();
    this.#workers.close();
    await Promise.all([...this.#live.values()].map((live) => this.#release(live)));
    this.#tools.close();
  }

  /** A task with errors is not run, and others of its domain are. */
  async #launchIfFit(live: SupervisedRollout): Promise<void> {
    this.#fitness ??= fitnessOf(this.loaded);
    const unfit = unfitFault(this.#fitness.ofTask(live.request.task));
    if (unfit) throw unfit;
    await (live.request.recordedSources ? this.#launchRecorded(live) : this.#launch(live));
  }

  async #launch(live: SupervisedRollout): Promise<void> {
    const { request } = live;
    live.record.open();
    try {
      await live.tools.open(request.task);
    } catch (error) {
      // What a server does at the start of one rollout ends that rollout and no other.
      if (!(error instanceof Fault)) throw error;
      const { reason, failure } = error;
      this.#assign(live, [request.from].flat().concat({ type: 'rolloutEnded', reason, failure }));
      return;
    }
    if (Array.isArray(request.from)) await live.tools.restore(this.domain, request.from);
    this.#assign(live, request.from);
  }

  /**
   * The events that a fork shares with its parent come back from the worker with their states, for its own recording.
   * Requests made while there was no worker are sent after the start.
   */
  #assign(live: SupervisedRollout, from: RolloutRequest['from'], known = 0): void {
    // It may have been abandoned while its sources opened.
    if (!this.#live.has(live.id)) return;
    const worker = this.#workers.leastBusy();
    const { task, seats, pace = 'run', reads = false } = live.request;
    live.worker = worker;
    if (known === 0 || !live.check) live.check = new CheckedRollout({ setting: this.#setting, task, seats, from });
    else live.check.resume();
    worker.rollouts.set(live.id, live);
    live.isStarted = false;
    live.free = Math.max(known, Array.isArray(from) ? from.length : 0);
    const send = () => {
      if (live.worker !== worker || !this.#live.has(live.id)) return;
      const recorded = live.request.recordedSources;
      const kept = {
        ...(recorded ? { recorded: Object.keys(recorded) } : {}),
        ...(reads ? { reads } : {}),
        ...(live.request.wantsGold ? { wantsGold: true } : {}),
      };
      worker.clock.rest(live.id);
      live.startedAt = performance.now();
      live.claimedMs = 0;
      worker.process.send({ type: 'start', rollout: live.id, task: task.id, from, known, seats, pace, ...kept });
      live.isStarted = true;
      for (let step = 0; step < live.steps; step += 1) worker.process.send({ type: 'step', rollout: live.id });
      if (live.abort.signal.aborted) worker.process.send({ type: 'cancel', rollout: live.id });
    };
    worker.prepared.then(send, (error: unknown) => this.#giveUp(live, error));
  }

  #received(worker: Worker<SupervisedRollout>, message: WorkerWord): void {
    if (message.type === 'log') {
      this.#options.log?.(redacted(message.text));
      return;
    }
    const live = worker.rollouts.get(message.rollout);
    if (!live?.check) return;
    try {
      this.#follow(worker, live, live.check, message);
      worker.silentMs = 0;
    } catch (error) {
      if (!(error instanceof ForgedMessage)) throw error;
      this.#workers.condemn(worker, error.message);
    }
  }

  #follow(
    worker: Worker<SupervisedRollout>,
    live: SupervisedRollout,
    check: CheckedRollout,
    message: Exclude<WorkerWord, { type: 'log' }>,
  ): void {
    switch (message.type) {
      case 'events': {
        const ranMs = worker.clock.heard(live.id, check.limitMs !== null);
        const limitMs = acceptEvents(live, check, message.events, (accepted) => this.#writer.keep(live, accepted));
        if (limitMs === null) return;
        // Of several rollouts no one knows whose code ran: the longest limit counts.
        const longestMs = worker.rollouts.size > 1 ? this.#workers.longestLimitMs : limitMs;
        throwIfLate(ranMs, longestMs, this.#options.graceMs);
        return;
      }
      case 'reads':
        if (!live.request.reads || message.n !== check.next)
          throw new ForgedMessage(`it said what event ${message.n} read, which nothing waits for`);
        live.record.noteReads(message.n, message.reads);
        return;
      case 'question': {
        worker.clock.heard(live.id, false);
        const asked = check.ask(message.about);
        if (!answerRecorded(worker, live, check, message))
          void answerWorker(worker, live, check, message, asked, this.#answerPorts);
        return;
      }
      case 'closed':
        if (live.ending) throw new ForgedMessage('it closed a rollout twice');
        if (live.request.wantsGold) live.gold = check.goldWrites(message.evidence, worker.golds);
        live.ending = [...check.conclude(message.evidence, worker.golds)];
        this.#end(live);
        return;
      case 'crashed':
        // The domain's code shares the process with the loop, so that the failure is counted as the domain's.
        if (live.ending) throw new ForgedMessage('a rollout crashed that was closed');
        live.ending = [...check.fail(crashFailure(message.message))];
        this.#end(live);
    }
  }

  get #answerPorts(): AnswerPorts {
    return {
      domain: this.domain,
      write: (live) => this.#writer.write(live),
      giveUp: (live, error) => this.#giveUp(live, error),
    };
  }

  /** Recorded states of sources replace the sources: nothing is started. */
  async #launchRecorded(live: SupervisedRollout): Promise<void> {
    live.record.open();
    this.#assign(live, live.request.from);
  }

  #abandon(live: SupervisedRollout): void {
    if (!this.#live.has(live.id) || !this.#writer.write(live)) return;
    const closed = closedOf(live, '', 'cancelled');
    const { worker, id } = live;
    void this.#release(live).then(() => live.settle(closed));
    live.abort.abort();
    worker?.process.send({ type: 'cancel', rollout: id });
  }

  async #finish(live: SupervisedRollout, check: CheckedRollout): Promise<void> {
    if (!this.#writer.write(live)) return;
    const closed = closedOf(live, check.databaseDiff);
    await this.#release(live);
    live.settle(closed);
  }

  #giveUp(live: SupervisedRollout, error: unknown): void {
    if (!this.#live.has(live.id)) return;
    live.worker?.process.send({ type: 'cancel', rollout: live.id });
    void this.#release(live).then(() => live.fail(error));
  }

  async #release(live: SupervisedRollout): Promise<void> {
    this.#live.delete(live.id);
    live.worker?.rollouts.delete(live.id);
    this.#writer.flush(live);
    live.record.close();
    await Promise.all([live.tools.close(), live.externalSeats.close?.()]);
  }

  /**
   * The rollout that killed its worker ends with the failure, as do all of a worker that said what cannot be; the others
   * continue from their events on another worker.
   */
  #takeOver({ orphans, failure, culprit, hasSuccessor, isForged }: WorkerDeath<SupervisedRollout>): void {
    for (const live of orphans) {
      live.isStarted = false;
      if (!hasSuccessor) {
        this.#giveUp(live, new Fault(failure));
        continue;
      }
      // A rollout that is named would do the same again. One that was alone may have had nothing to do with it.
      const isAlone = culprit === null && orphans.length === 1 && (live.check?.next ?? 0) > 0;
      if (live.check && (isForged || isAlone || live.id === culprit)) {
        live.worker = null;
        // The supervisor's own verdicts stay valid, whatever the worker does after them.
        live.ending ??= [...live.check.fail(failure)];
        this.#end(live);
        continue;
      }
      if (live.record.arrived.length === 0) this.#assign(live, live.request.from);
      else this.#goOn(live);
    }
  }

  /** Brings the last events of a rollout, at once or as it is stepped. Anyone who watches may step again meanwhile. */
  #end(live: SupervisedRollout): void {
    const { pace = 'run' } = live.request;
    const goesOn = () => live.ending && (pace === 'run' || live.steps > 0 || live.abort.signal.aborted);
    while (goesOn() && live.ending && live.ending.length > 0)
      this.#writer.keep(live, live.ending.splice(0, pace === 'run' ? live.ending.length : 1));
    if (!goesOn() || !live.check) return;
    live.ending = null;
    void this.#finish(live, live.check);
  }

  /** A call that was begun, has no result and is not idempotent starts its rollout again on a fresh instance. */
  #goOn(live: SupervisedRollout): void {
    const { arrived } = live.record;
    const last = arrived.at(-1)?.event;
    const tool =
      last?.type === 'toolCalled' ? this.domain.tools.find(({ name }) => name === last.call.name) : undefined;
    if (!tool || externalSource(tool) === null || tool.idempotent) {
      this.#assign(
        live,
        arrived.map(({ event }) => event),
        arrived.length,
      );
      return;
    }
    // Anyone who steps it sees the first event again, and continues from there.
    live.steps = 0;
    this.#launch(live).catch((error: unknown) => this.#giveUp(live, error));
  }
}

function crashFailure(message: string): Failure {
  return {
    who: 'environment',
    code: 'worker/crashed',
    message: `the process that runs the domain's code cannot continue the rollout: ${redactedPart(message, 0, 2000)}`,
  };
}
