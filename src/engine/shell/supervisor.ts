import { hash } from 'node:crypto';
import type { Domain } from '../core/domain.ts';
import type { EventOf, EventType, Failure, RolloutEvent, RolloutStarted } from '../core/event.ts';
import { useNativeHash } from '../core/hash.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Task } from '../core/task.ts';
import { outsideSource, type Tool } from '../core/tool.ts';
import { cancelled, Fault } from './fault.ts';
import { laneEvent } from './lane/laneChannel.ts';
import type { FromLane, LaneEvent, LaneSeats, Question } from './lane/laneMessage.ts';
import { type LaneProcess, startLane } from './lane/laneProcess.ts';
import { completeDomain, type LoadedDomain, type StaticDomain } from './load/loadDomain.ts';
import { answerQuestion, type Outside } from './outside.ts';
import type { EventNote } from './recording.ts';
import { RolloutRecord } from './rolloutRecord.ts';
import { RolloutTools } from './rolloutTools.ts';
import { SharedTools } from './sharedTools.ts';

export type RolloutRequest = {
  readonly task: Task;
  /** The start of a new rollout, or the events of one that goes on (a fork). */
  readonly from: RolloutStarted | readonly RolloutEvent[];
  readonly seats: LaneSeats;
  readonly outside: Outside;
  /** Where the recording goes; null keeps none. An existing file is replaced. */
  readonly recording: string | null;
  readonly pace?: 'step' | 'run';
  /** What the sidecar said of the first events already, when a rollout goes on after its process died. */
  readonly sidecar?: readonly EventNote[];
  /** Recorded states of tool sources, which then stand for the sources themselves: none of them is started. */
  readonly recordedSources?: Readonly<Record<string, Json>>;
};

export type RolloutClosed = {
  /** As they arrived: number and type are there, the rest is parsed when somebody looks. */
  readonly arrived: readonly LaneEvent[];
  readonly events: readonly RolloutEvent[];
  readonly reward: number | null;
  readonly endReason: string;
  readonly failure: Failure | null;
  readonly chain: string;
  readonly sidecarChain: string;
  readonly databaseDiff: string;
};

export type LiveRollout = {
  /** Rejects only when the recording can't be kept or the engine has a bug. */
  readonly closed: Promise<RolloutClosed>;
  /** Lets a stepped rollout go on to its next event. */
  readonly step: () => void;
  /** Ends it with an event that says so. */
  readonly cancel: () => void;
  /** Leaves it where it stands: nothing more is recorded. `closed` says cancelled. */
  readonly abandon: () => void;
};

/** Holds keys, clients, recordings and lanes; folds nothing and runs nothing of the domain. */
export type Supervisor = {
  /** The whole domain, its tools described. */
  readonly domain: Domain;
  readonly loaded: LoadedDomain;
  /** @param onEvents is told of events after they are on the disk */
  readonly start: (request: RolloutRequest, onEvents?: (events: readonly LaneEvent[]) => void) => LiveRollout;
  /** Address at which a JavaScript debugger attaches to the first lane, when it was started with `inspect`. */
  readonly inspectUrl: () => Promise<string | null>;
  readonly close: () => Promise<void>;
};

export type SupervisorOptions = {
  /** How many child processes share the rollouts. */
  readonly lanes?: number;
  readonly inspect?: boolean;
  readonly heapMb?: number;
  readonly log?: (text: string) => void;
};

/** How long events may wait that nothing outside depends on. */
const writeEveryMs = 50;

type Live = {
  readonly id: number;
  readonly request: RolloutRequest;
  readonly settle: (closed: RolloutClosed) => void;
  readonly fail: (error: unknown) => void;
  readonly onEvents: ((events: readonly LaneEvent[]) => void) | undefined;
  readonly abort: AbortController;
  readonly tools: RolloutTools;
  readonly record: RolloutRecord;
  lane: Lane | null;
  /** Resolves when the lane was told to start it: a step that comes earlier waits for that. */
  started: Promise<void>;
  start: () => void;
};

type Lane = {
  readonly process: LaneProcess;
  readonly rollouts: Map<number, Live>;
  readonly prepared: Promise<void>;
  isPrepared: boolean;
};

/** Starts the lanes of a domain and describes its tools. Throws a `Fault` when the domain's code can't be loaded. */
export async function openSupervisor(domain: StaticDomain, options: SupervisorOptions = {}): Promise<Supervisor> {
  useNativeHash((text) => hash('sha256', text, 'hex'));
  const supervision = new Supervision(domain, options);
  await supervision.open();
  return supervision;
}

class Supervision implements Supervisor {
  #domain: Domain | null = null;
  #loaded: LoadedDomain | null = null;
  #nextRollout = 1;
  #closed = false;
  readonly #lanes: Lane[] = [];
  readonly #unwritten = new Set<Live>();
  #writing: NodeJS.Timeout | undefined;
  readonly #live = new Map<number, Live>();
  readonly #static: StaticDomain;
  readonly #options: SupervisorOptions;
  readonly #tools: SharedTools;

  constructor(domain: StaticDomain, options: SupervisorOptions) {
    this.#static = domain;
    this.#options = options;
    this.#tools = new SharedTools(domain, (text) => options.log?.(text));
  }

  get domain(): Domain {
    if (!this.#domain) throw new Error('the supervisor is not open');
    return this.#domain;
  }

  get loaded(): LoadedDomain {
    if (!this.#loaded) throw new Error('the supervisor is not open');
    return this.#loaded;
  }

  async open(): Promise<void> {
    try {
      const outsideTools = await this.#tools.describe();
      await Promise.all(Array.from({ length: this.#options.lanes ?? 1 }, () => this.#openLane(outsideTools).prepared));
    } catch (error) {
      this.#tools.close();
      throw error;
    }
  }

  start(request: RolloutRequest, onEvents?: (events: readonly LaneEvent[]) => void): LiveRollout {
    const { promise, resolve, reject } = Promise.withResolvers<RolloutClosed>();
    const started = Promise.withResolvers<void>();
    const live: Live = {
      id: this.#nextRollout++,
      request,
      settle: resolve,
      fail: reject,
      onEvents,
      abort: new AbortController(),
      tools: new RolloutTools(this.#tools),
      record: new RolloutRecord(request.recording, request.sidecar),
      lane: null,
      started: started.promise,
      start: started.resolve,
    };
    this.#live.set(live.id, live);
    const launched = request.recordedSources ? this.#launchRecorded(live) : this.#launch(live);
    launched.catch((error: unknown) => this.#giveUp(live, error));
    return {
      closed: promise,
      step: () => {
        void live.started.then(() => live.lane?.process.send({ type: 'step', rollout: live.id }));
      },
      cancel: () => {
        live.abort.abort();
        live.lane?.process.send({ type: 'cancel', rollout: live.id });
      },
      abandon: () => this.#abandon(live),
    };
  }

  inspectUrl(): Promise<string | null> {
    return this.#lanes[0]?.process.inspectUrl ?? Promise.resolve(null);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const live of this.#live.values()) live.abort.abort();
    for (const lane of this.#lanes) lane.process.kill();
    await Promise.all([...this.#live.values()].map((live) => this.#release(live)));
    this.#tools.close();
  }

  #openLane(outsideTools: readonly Tool[]): Lane {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { folder, file } = this.#static;
    const lane: Lane = {
      rollouts: new Map(),
      prepared: promise,
      isPrepared: false,
      process: startLane(
        {
          folder,
          toolsFile: file.tools,
          timeoutMs: file.toolTimeoutMs,
          heapMb: this.#options.heapMb ?? 512,
          inspect: this.#options.inspect ?? false,
        },
        {
          onMessage: (message) => {
            if (message.type === 'described') this.#prepare(lane, message.tools, outsideTools);
            else if (message.type === 'notDescribed') reject(new Fault(message.failure));
            else if (message.type === 'prepared') {
              lane.isPrepared = true;
              resolve();
            } else this.#received(lane, message);
          },
          onDeath: ({ failure, culprit }) => {
            reject(new Fault(failure));
            this.#laneDied(lane, failure, culprit, outsideTools);
          },
        },
      ),
    };
    promise.catch(() => undefined);
    this.#lanes.push(lane);
    return lane;
  }

  #prepare(lane: Lane, codeTools: readonly Tool[], outsideTools: readonly Tool[]): void {
    if (!this.#loaded) {
      this.#loaded = completeDomain(this.#static, codeTools, outsideTools);
      this.#domain = this.#loaded.domain;
    }
    lane.process.send({
      type: 'prepare',
      domain: this.domain,
      world: this.#static.world as { agent: JsonObject; user: JsonObject },
    });
  }

  async #launch(live: Live): Promise<void> {
    const { request } = live;
    live.record.open();
    await live.tools.open(request.task);
    if (Array.isArray(request.from)) await live.tools.restore(this.domain, request.from);
    this.#assign(live, request.from);
  }

  /** The events that a fork shares with its parent come back from the lane with their states, for its own recording. */
  #assign(live: Live, from: RolloutRequest['from'], known = 0): void {
    const lane = this.#lanes.toSorted((a, b) => a.rollouts.size - b.rollouts.size)[0];
    if (!lane) throw new Error('a supervisor has at least one lane');
    live.lane = lane;
    lane.rollouts.set(live.id, live);
    const { task, seats, pace = 'run' } = live.request;
    const send = () => {
      lane.process.send({ type: 'start', rollout: live.id, task: task.id, from, known, seats, pace });
      live.start();
    };
    lane.prepared.then(send, (error: unknown) => this.#giveUp(live, error));
  }

  #received(lane: Lane, message: Exclude<FromLane, { type: 'described' | 'notDescribed' | 'prepared' }>): void {
    if (message.type === 'log') {
      this.#options.log?.(message.text);
      return;
    }
    const live = lane.rollouts.get(message.rollout);
    if (!live) return;
    switch (message.type) {
      case 'events':
        this.#keep(live, message.events);
        return;
      case 'question':
        if (this.#answerRecorded(lane, live, message.question, message.about)) return;
        void this.#answer(lane, live, message.question, message.about);
        return;
      case 'closed':
        void this.#finish(live, message.databaseDiff);
        return;
      case 'crashed':
        this.#giveUp(live, new Error(message.message));
    }
  }

  /** Recorded states of sources stand for the sources: nothing is started. */
  async #launchRecorded(live: Live): Promise<void> {
    live.record.open();
    this.#assign(live, live.request.from);
  }

  #answerRecorded(lane: Lane, live: Live, question: number, about: Question): boolean {
    const state = about.type === 'source' ? live.request.recordedSources?.[about.source] : undefined;
    if (state !== undefined) lane.process.send({ type: 'answer', question, value: { state } });
    return state !== undefined;
  }

  /** Events go to the disk first, then to whoever watches. Where nobody does, those of a moment go together. */
  #keep(live: Live, events: readonly LaneEvent[]): void {
    live.record.keep(events);
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

  async #answer(lane: Lane, live: Live, question: number, about: Question): Promise<void> {
    if (!this.#write(live)) return;
    try {
      const reach = { domain: this.domain, tools: live.tools };
      const { answer, note } = await answerQuestion(about, live.request.outside, reach, live.abort.signal);
      live.record.note(note ?? null);
      lane.process.send({ type: 'answer', question, value: answer });
    } catch (error) {
      const fault = live.abort.signal.aborted ? cancelled() : error;
      if (!(fault instanceof Fault)) return this.#giveUp(live, error);
      lane.process.send({ type: 'refusal', question, reason: fault.reason, failure: fault.failure });
    }
  }

  #abandon(live: Live): void {
    if (!this.#live.has(live.id) || !this.#write(live)) return;
    const closed = this.#closedOf(live, '', 'cancelled');
    const { lane, id } = live;
    void this.#release(live).then(() => live.settle(closed));
    live.abort.abort();
    lane?.process.send({ type: 'cancel', rollout: id });
  }

  async #finish(live: Live, databaseDiff: string): Promise<void> {
    if (!this.#write(live)) return;
    const closed = this.#closedOf(live, databaseDiff);
    await this.#release(live);
    live.settle(closed);
  }

  #closedOf({ record }: Live, databaseDiff: string, endReason?: string): RolloutClosed {
    const { arrived, chain, sidecarChain } = record;
    const end = lastOf(arrived, 'rolloutEnded');
    return {
      arrived,
      get events() {
        return arrived.map(({ event }) => event);
      },
      reward: lastOf(arrived, 'rewarded')?.reward ?? null,
      endReason: endReason ?? end?.reason ?? 'cancelled',
      failure: end?.failure ?? null,
      chain,
      sidecarChain,
      databaseDiff,
    };
  }

  #giveUp(live: Live, error: unknown): void {
    if (!this.#live.has(live.id)) return;
    live.lane?.process.send({ type: 'cancel', rollout: live.id });
    void this.#release(live).then(() => live.fail(error));
  }

  async #release(live: Live): Promise<void> {
    this.#live.delete(live.id);
    live.lane?.rollouts.delete(live.id);
    if (this.#unwritten.has(live)) this.#write(live);
    live.record.close();
    await live.tools.close();
  }

  /**
   * The rollout that did it ends with the failure; the others go on from their events on a fresh lane. A lane
   * that never came up would not come up again, so it takes its rollouts with it.
   */
  #laneDied(lane: Lane, failure: Failure, culprit: number | null, outsideTools: readonly Tool[]): void {
    this.#lanes.splice(this.#lanes.indexOf(lane), 1);
    if (this.#closed) return;
    const orphans = [...lane.rollouts.values()];
    lane.rollouts.clear();
    if (!lane.isPrepared) {
      for (const live of orphans) this.#giveUp(live, new Fault(failure));
      return;
    }
    if (orphans.length > 0 || this.#lanes.length === 0) this.#openLane(outsideTools);
    for (const live of orphans) {
      if (live.id === culprit || (culprit === null && orphans.length === 1)) this.#endWith(live, failure);
      if (live.record.arrived.length === 0) this.#assign(live, live.request.from);
      else this.#goOn(live);
    }
  }

  #endWith(live: Live, failure: Failure): void {
    const { arrived } = live.record;
    const last = arrived.at(-1);
    if (!last) return;
    const event: RolloutEvent = { type: 'rolloutEnded', reason: 'environmentFailed', failure };
    this.#keep(live, [laneEvent(arrived.length, event, last.state)]);
  }

  /** A call that was begun, has no result and is not idempotent starts its rollout again on a fresh instance. */
  #goOn(live: Live): void {
    const { arrived } = live.record;
    const last = arrived.at(-1)?.event;
    const tool =
      last?.type === 'toolCalled' ? this.domain.tools.find(({ name }) => name === last.call.name) : undefined;
    if (!tool || outsideSource(tool) === null || tool.idempotent) {
      this.#assign(
        live,
        arrived.map(({ event }) => event),
        arrived.length,
      );
      return;
    }
    this.#launch(live).catch((error: unknown) => this.#giveUp(live, error));
  }
}

/** The last event of a type among those that arrived. */
export function lastOf<Type extends EventType>(arrived: readonly LaneEvent[], type: Type): EventOf<Type> | undefined {
  return arrived.findLast((each) => each.type === type)?.event as EventOf<Type> | undefined;
}
