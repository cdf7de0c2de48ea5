import type { Domain } from '../core/domain/domain.ts';
import type { Task } from '../core/domain/task.ts';
import { externalSource } from '../core/domain/tool.ts';
import type { ModelRole } from '../core/evaluation/measure.ts';
import type { EventOf, EventType, Failure, RolloutEvent, RolloutStarted, Writes } from '../core/events/event.ts';
import type { Setting } from '../core/rollout/rollout.ts';
import type { Json } from '../core/values/json.ts';
import type { CheckedQuestion } from './checkedFold/checkedQuestion.ts';
import { CheckedRollout } from './checkedFold/checkedRollout.ts';
import { ForgedMessage } from './checkedFold/forgedMessage.ts';
import type { LoadedDomain } from './domain/loadDomain.ts';
import { answerQuestion, type ExternalSeats, type RolloutSeats } from './externalSeats.ts';
import { cancelled, cancelledResult, Fault } from './files/fault.ts';
import type { SideNote } from './files/sideNote.ts';
import { redacted, redactedPart, redactedValue } from './keys/secrets.ts';
import { type Fitness, fitnessOf, unfitFault } from './load/fitness.ts';
import type { SidecarLine } from './records/recording.ts';
import { settingOf } from './replay.ts';
import { isUnverified } from './rollout/effectEvents.ts';
import { RolloutRecord } from './rolloutRecord.ts';
import { RolloutTools } from './tools/rolloutTools.ts';
import { SharedTools } from './tools/sharedTools.ts';
import type {
  CallAnswer,
  ClaimedEvent,
  PythonAnswer,
  Question,
  SimulatedAnswer,
  WorkerEvent,
  WorkerSeats,
} from './workers/workerMessage.ts';
import type { Inspector } from './workers/workerProcess.ts';
import { type Worker, type WorkerDeath, Workers, type WorkerWord } from './workers.ts';

export type RolloutRequest = {
  readonly task: Task;
  /** The start of a new rollout, or the events of one that continues (a fork). */
  readonly from: RolloutStarted | readonly RolloutEvent[];
  readonly seats: WorkerSeats;
  readonly externalSeats: ExternalSeats;
  /** The path of the recording; null keeps none. An existing file is replaced. */
  readonly recording: string | null;
  readonly pace?: 'step' | 'run';
  /** Whether the sidecar keeps the reads of each call. Tools in TypeScript and simulated tools report them. */
  readonly reads?: boolean;
  /** The sidecar lines about the first events, if a rollout continues after its process died. */
  readonly sidecar?: readonly SidecarLine[];
  /** The id of the run that the recording belongs to. */
  readonly run?: string | undefined;
  /** Recorded states of tool sources, which then replace the sources themselves: none of them is started. */
  readonly recordedSources?: Readonly<Record<string, Json>>;
  /** Whether to return the world after the gold actions at the end. */
  readonly wantsGold?: boolean;
  /** Receives the sidecar's note about an answer from outside the worker. */
  readonly onNote?: (note: SideNote) => void;
};

export type RolloutClosed = {
  /** As they arrived: number and type are there, the rest is parsed when somebody looks. */
  readonly arrived: readonly WorkerEvent[];
  readonly events: readonly RolloutEvent[];
  readonly reward: number | null;
  readonly endReason: string;
  readonly failure: Failure | null;
  readonly chain: string;
  readonly sidecarChain: string;
  readonly databaseDiff: string;
  /** The writes of the gold actions from the start of the conversation on, if they were requested. */
  readonly gold?: Writes;
};

export type LiveRollout = {
  /** Rejects only when the recording can't be kept or the engine has a bug. */
  readonly closed: Promise<RolloutClosed>;
  /** Lets a stepped rollout continue to its next event. */
  readonly step: () => void;
  /** Ends the rollout with an event that records it. */
  readonly cancel: () => void;
  /** Gives the pending calls of the current response an error as their result, if they are made outside the worker. */
  readonly cancelCalls: () => void;
  /** Leaves it where it is: nothing more is recorded. `closed` says cancelled. */
  readonly abandon: () => void;
  readonly inside: Inside;
};

/** The inside of the worker that folds a rollout, for a JavaScript debugger. */
export type Inside = {
  readonly isOpen: () => boolean;
  /** Opens the worker's inspector; a sentence where it can't be. */
  readonly open: () => Promise<Inspector | string>;
  readonly close: () => void;
  /** Stops on the first line of the code that the rollout calls next. */
  readonly stopAtCall: () => void;
};

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

/** A call is ended at its time limit. The worker's own work on a busy machine may take this much longer. */
const longestGraceMs = 2000;

/** The longest delay, in ms, before writing events that nothing outside depends on. */
const writeEveryMs = 50;

type Live = {
  readonly id: number;
  readonly request: RolloutRequest;
  readonly settle: (closed: RolloutClosed) => void;
  readonly fail: (error: unknown) => void;
  readonly onEvents: ((events: readonly WorkerEvent[]) => void) | undefined;
  readonly abort: AbortController;
  /** Ends the calls of the response under way. */
  calls: AbortController;
  readonly tools: RolloutTools;
  readonly record: RolloutRecord;
  /** The rollout as its worker's messages make it, from the first time that a worker received it. */
  check: CheckedRollout | null;
  readonly externalSeats: ExternalSeats & Partial<RolloutSeats>;
  worker: Worker<Live> | null;
  /** Whether its worker, which may be the successor of one that died, was asked to start it. */
  isStarted: boolean;
  /** The moment of that by the clock of this process, and the time, in ms, that the events since then claim. */
  startedAt: number;
  claimedMs: number;
  /** Events before this number come without a step. */
  free: number;
  /** Steps that were asked for and have led to no event yet: a worker that starts or takes over receives them. */
  steps: number;
  /** The last events of a rollout whose worker is done with it, as far as they were not stepped to yet; else null. */
  ending: WorkerEvent[] | null;
  /** The writes of the gold actions, if they were requested and are known. */
  gold: Writes | null;
  /** Whether a question was not answered because the rollout, or the run, is to stop. */
  isStopped: boolean;
};

/** Starts the workers of a domain and describes its tools. Throws a `Fault` when the domain's code can't be loaded. */
export async function openSupervisor(domain: LoadedDomain, options: SupervisorOptions = {}): Promise<Supervisor> {
  const supervision = new Supervision(domain, options);
  await supervision.open();
  return supervision;
}

type Asked = Extract<WorkerWord, { readonly type: 'question' }>;

class Supervision implements Supervisor {
  #nextRollout = 1;
  readonly #workers: Workers<Live>;
  readonly #unwritten = new Set<Live>();
  #writing: NodeJS.Timeout | undefined;
  readonly #live = new Map<number, Live>();
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
    const live: Live = {
      id: this.#nextRollout++,
      request,
      settle: resolve,
      fail: reject,
      onEvents,
      abort: new AbortController(),
      calls: new AbortController(),
      tools: new RolloutTools(this.#tools),
      record: new RolloutRecord(request.recording, request.sidecar, request.run),
      check: null,
      externalSeats: request.externalSeats.forRollout?.((text) => this.#options.log?.(text)) ?? request.externalSeats,
      worker: null,
      isStarted: false,
      startedAt: 0,
      claimedMs: 0,
      free: 0,
      steps: 0,
      ending: null,
      gold: null,
      isStopped: false,
    };
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
  async #launchIfFit(live: Live): Promise<void> {
    this.#fitness ??= fitnessOf(this.loaded);
    const unfit = unfitFault(this.#fitness.ofTask(live.request.task));
    if (unfit) throw unfit;
    await (live.request.recordedSources ? this.#launchRecorded(live) : this.#launch(live));
  }

  async #launch(live: Live): Promise<void> {
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
  #assign(live: Live, from: RolloutRequest['from'], known = 0): void {
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

  #received(worker: Worker<Live>, message: WorkerWord): void {
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
    worker: Worker<Live>,
    live: Live,
    check: CheckedRollout,
    message: Exclude<WorkerWord, { type: 'log' }>,
  ): void {
    switch (message.type) {
      case 'events': {
        const ranMs = worker.clock.heard(live.id, check.limitMs !== null);
        const limitMs = this.#acceptAll(live, check, message.events);
        if (limitMs !== null) this.#throwIfLate(worker, ranMs, limitMs);
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
        if (!this.#answerRecorded(worker, live, check, message)) void this.#answer(worker, live, check, message, asked);
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

  /**
   * Keeps what was accepted also where a later event of the same batch is not.
   * @returns the longest time limit of the code that ended with these events, in ms; null where none did
   */
  #acceptAll(live: Live, check: CheckedRollout, events: readonly ClaimedEvent[]): number | null {
    const accepted: WorkerEvent[] = [];
    let limitMs: number | null = null;
    try {
      for (const event of events) {
        if (isOfCode(event)) limitMs = Math.max(limitMs ?? 0, check.limitMs ?? 0) || null;
        throwIfLonger(live, event);
        accepted.push(check.accept(event));
      }
      return limitMs;
    } finally {
      if (accepted.length > 0) this.#keep(live, accepted);
    }
  }

  /**
   * A worker whose code runs longer than its time limit is ended, so one that says something afterwards has changed what
   * it says about that limit. Of several rollouts no one knows whose code ran: the longest limit counts.
   */
  #throwIfLate(worker: Worker<Live>, ranMs: number, limitMs: number): void {
    const { graceMs = longestGraceMs } = this.#options;
    const limit = worker.rollouts.size > 1 ? this.#workers.longestLimitMs : limitMs;
    if (ranMs > limit + graceMs)
      throw new ForgedMessage(`it ran for ${Math.round(ranMs)} ms, and its time limit is ${limit} ms`);
  }

  /** Recorded states of sources replace the sources: nothing is started. */
  async #launchRecorded(live: Live): Promise<void> {
    live.record.open();
    this.#assign(live, live.request.from);
  }

  #answerRecorded(worker: Worker<Live>, live: Live, check: CheckedRollout, { question, about }: Asked): boolean {
    const state = about.type === 'source' ? live.request.recordedSources?.[about.source] : undefined;
    if (state === undefined) return false;
    check.answered(about, { state });
    worker.process.send({ type: 'answer', question, value: { state } });
    return true;
  }

  /** Events go to the disk first, then to anyone who watches. Where no one does, those of a moment go together. */
  #keep(live: Live, events: readonly WorkerEvent[]): void {
    live.record.keep(events);
    if (live.steps > 0) live.steps = Math.max(0, live.steps - events.filter(({ n }) => n >= live.free).length);
    if (live.onEvents || live.record.isFull) {
      if (this.#write(live)) live.onEvents?.(events);
      return;
    }
    this.#unwritten.add(live);
    this.#writing ??= setTimeout(() => {
      this.#writing = undefined;
      for (const each of [...this.#unwritten]) this.#write(each);
    }, writeEveryMs);
  }

  /** Brings what arrived to the disk; a disk that refuses ends the rollout. */
  #write(live: Live): boolean {
    this.#unwritten.delete(live);
    try {
      live.record.write();
      return true;
    } catch (error) {
      this.#giveUp(live, error);
      return false;
    }
  }

  async #answer(
    worker: Worker<Live>,
    live: Live,
    check: CheckedRollout,
    { question, about }: Asked,
    asked: CheckedQuestion,
  ): Promise<void> {
    if (!this.#write(live)) return;
    const isGone = () => live.worker !== worker || live.check !== check;
    if (about.type === 'agent') live.calls = new AbortController();
    const given = cancelledCall(about);
    const { signal: ofCall } = live.calls;
    const signal = given ? AbortSignal.any([live.abort.signal, ofCall]) : live.abort.signal;
    try {
      const reach = { domain: this.domain, tools: live.tools };
      const { answer, note } = await answerQuestion(asked, live.externalSeats, reach, signal).catch(
        (error: unknown) => {
          if (!given || !ofCall.aborted || live.abort.signal.aborted) throw error;
          return { answer: given, note: undefined };
        },
      );
      if (isGone()) return;
      const value = redactedValue(answer);
      const kept = redactedValue(note ?? null);
      live.record.note(kept, roleOf[about.type] ?? null);
      if (kept) live.request.onNote?.(kept);
      check.answered(about, value);
      worker.process.send({ type: 'answer', question, value });
    } catch (error) {
      if (isGone()) return;
      const fault = live.abort.signal.aborted ? cancelled() : error;
      if (!(fault instanceof Fault)) return this.#giveUp(live, error);
      live.isStopped ||= fault.reason === 'cancelled';
      live.record.note(redactedValue(fault.note), roleOf[about.type] ?? null);
      check.refused();
      worker.process.send({ type: 'refusal', question, reason: fault.reason, failure: redactedValue(fault.failure) });
    }
  }

  #abandon(live: Live): void {
    if (!this.#live.has(live.id) || !this.#write(live)) return;
    const closed = this.#closedOf(live, '', 'cancelled');
    const { worker, id } = live;
    void this.#release(live).then(() => live.settle(closed));
    live.abort.abort();
    worker?.process.send({ type: 'cancel', rollout: id });
  }

  async #finish(live: Live, check: CheckedRollout): Promise<void> {
    if (!this.#write(live)) return;
    const closed = this.#closedOf(live, check.databaseDiff);
    await this.#release(live);
    live.settle(closed);
  }

  #closedOf({ record, gold, abort, isStopped }: Live, databaseDiff: string, endReason?: string): RolloutClosed {
    const { arrived, chain, sidecarChain } = record;
    const end = lastOf(arrived, 'rolloutEnded');
    // Its verification was stopped, such as a question to a judge, and not the conversation before it.
    const isCut = (isStopped || abort.signal.aborted) && isUnverified(lastOf(arrived, 'rewarded'));
    return {
      arrived,
      get events() {
        return arrived.map(({ event }) => event);
      },
      reward: lastOf(arrived, 'rewarded')?.reward ?? null,
      endReason: endReason ?? (isCut ? 'cancelled' : end?.reason) ?? 'cancelled',
      failure: end?.failure ?? null,
      chain,
      sidecarChain,
      databaseDiff,
      ...(gold ? { gold } : {}),
    };
  }

  #giveUp(live: Live, error: unknown): void {
    if (!this.#live.has(live.id)) return;
    live.worker?.process.send({ type: 'cancel', rollout: live.id });
    void this.#release(live).then(() => live.fail(error));
  }

  async #release(live: Live): Promise<void> {
    this.#live.delete(live.id);
    live.worker?.rollouts.delete(live.id);
    if (this.#unwritten.has(live)) this.#write(live);
    live.record.close();
    await Promise.all([live.tools.close(), live.externalSeats.close?.()]);
  }

  /**
   * The rollout that killed its worker ends with the failure, as do all of a worker that said what cannot be; the others
   * continue from their events on another worker.
   */
  #takeOver({ orphans, failure, culprit, hasSuccessor, isForged }: WorkerDeath<Live>): void {
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
  #end(live: Live): void {
    const { pace = 'run' } = live.request;
    const goesOn = () => live.ending && (pace === 'run' || live.steps > 0 || live.abort.signal.aborted);
    while (goesOn() && live.ending && live.ending.length > 0)
      this.#keep(live, live.ending.splice(0, pace === 'run' ? live.ending.length : 1));
    if (!goesOn() || !live.check) return;
    live.ending = null;
    void this.#finish(live, live.check);
  }

  /** A call that was begun, has no result and is not idempotent starts its rollout again on a fresh instance. */
  #goOn(live: Live): void {
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

/** Whether a rollout waits for its worker: not for an answer, not for a step, and not for the end of what it has. */
function isDue({ isStarted, ending, check, request: { pace = 'run' }, steps }: Live): boolean {
  return isStarted && !ending && check !== null && !check.isAsking && (pace === 'run' || steps > 0);
}

/** The times of events are recorded: together they are not longer than the time since their rollout was started. */
function throwIfLonger(live: Live, { n, ms }: ClaimedEvent): void {
  live.claimedMs += Math.max(0, ms);
  const passed = performance.now() - live.startedAt;
  // Workers round to microseconds.
  if (ms < 0 || live.claimedMs > passed + 1)
    throw new ForgedMessage(`event ${n} claims ${ms} ms, and its rollout was started ${Math.round(passed)} ms ago`);
}

/** Whether an event has the result of code of the domain. */
const isOfCode = ({ type }: ClaimedEvent) => type === 'toolReturned' || type === 'worldSynced';

function crashFailure(message: string): Failure {
  return {
    who: 'environment',
    code: 'worker/crashed',
    message: `the process that runs the domain's code cannot play the rollout further: ${redactedPart(message, 0, 2000)}`,
  };
}

/** Whose model answers a question, if one does. */
const roleOf: Readonly<Partial<Record<Question['type'], ModelRole>>> = {
  agent: 'agent',
  user: 'user',
  judge: 'judge',
  simulated: 'tools',
};

/** Returns what answers a call that is cancelled alone; null for a question that is not a call outside the worker. */
function cancelledCall({ type }: Question): CallAnswer | PythonAnswer | SimulatedAnswer | null {
  const content = cancelledResult;
  if (type === 'tool') return { content, isError: true };
  if (type === 'simulated') return { content, isError: true, writes: [] };
  return type === 'python' ? { refusal: content } : null;
}

/** The last event of a type among those that arrived. */
export function lastOf<Type extends EventType>(arrived: readonly WorkerEvent[], type: Type): EventOf<Type> | undefined {
  return arrived.findLast((each) => each.type === type)?.event as EventOf<Type> | undefined;
}
