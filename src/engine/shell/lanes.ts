import type { Domain, HostedEnvironment } from '../core/domain/domain.ts';
import type { Tool } from '../core/domain/tool.ts';
import type { Failure } from '../core/events/event.ts';
import type { JsonObject } from '../core/values/json.ts';
import { completeDomain, type LoadedDomain } from './domain/loadDomain.ts';
import { Fault } from './files/fault.ts';
import type { GoldCache } from './lanes/checkedRollout.ts';
import { LaneClock } from './lanes/laneClock.ts';
import type { FromInspector, FromLane } from './lanes/laneMessage.ts';
import { forgedFailure, type LaneEnded, type LaneProcess, startLane } from './lanes/laneProcess.ts';
import { fitnessOf, unfitFault } from './load/fitness.ts';

/** The time that a lane may send nothing about its rollouts, in ms, beyond the longest time limit of a tool. */
const longestSilenceMs = 60_000;
const lookMs = 250;

function silentFailure(ms: number): Failure {
  const message = `the domain's code blocked its process for ${ms / 1000} s and was stopped; look for code that replaces timers, or for a loop that does not end`;
  return { who: 'environment', code: 'lane/silent', message };
}

/** One child process and the rollouts that it folds. */
export type Lane<Rollout> = {
  readonly process: LaneProcess;
  readonly rollouts: Map<number, Rollout>;
  /** Gold worlds by the numbers that it gave them. */
  readonly golds: GoldCache;
  /** Resolves when the lane knows the domain; rejects with the `Fault` that kept it from that. */
  readonly prepared: Promise<void>;
  /** The last description received: a lane sends its tools first, and then reports that it knows the whole domain. */
  state: 'loading' | 'described' | 'prepared';
  /** The time that an expected message is overdue, in ms. Reset to 0 by each accepted message. */
  silentMs: number;
  /** Measures how long its code can have run. */
  readonly clock: LaneClock;
};

/** A message that a lane sends once it is prepared. */
export type LaneWord = Exclude<FromLane, FromInspector | { readonly type: 'described' | 'notDescribed' | 'prepared' }>;

type Described = Extract<FromLane, { readonly type: 'described' }>;

/** A lane that is gone, with what it leaves behind. */
export type LaneDeath<Rollout> = LaneEnded & {
  readonly orphans: readonly Rollout[];
  /** A lane that never came up would not come up again: it has no successor. */
  readonly hasSuccessor: boolean;
};

type LanesOptions<Rollout> = {
  /** Whether their inspectors can be opened. */
  readonly inspectable: boolean;
  /** The time that the domain's code may take to load, in ms. */
  readonly loadMs?: number | undefined;
  /** The time an expected message may be overdue, in ms, beyond the longest tool time limit; a minute by default. */
  readonly silenceMs?: number | undefined;
  /** Whether the lane of a rollout has to say something next. */
  readonly isDue: (rollout: Rollout) => boolean;
  readonly onWord: (lane: Lane<Rollout>, word: LaneWord) => void;
  readonly onDeath: (death: LaneDeath<Rollout>) => void;
};

/** The lanes of one domain: started together, each told the domain whose tools the first has described, and replaced when they die. */
export class Lanes<Rollout> {
  readonly #static: LoadedDomain;
  readonly #options: LanesOptions<Rollout>;
  readonly #lanes: Lane<Rollout>[] = [];
  #outsideTools: readonly Tool[] = [];
  #hosted: HostedEnvironment | null = null;
  #loaded: LoadedDomain | null = null;
  #closed = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(domain: LoadedDomain, options: LanesOptions<Rollout>) {
    this.#static = domain;
    this.#options = options;
  }

  /** The whole domain, its tools described. */
  get loaded(): LoadedDomain {
    if (!this.#loaded) throw new Error('the supervisor is not open');
    return this.#loaded;
  }

  get domain(): Domain {
    return this.loaded.domain;
  }

  /** Starts a number of lanes. Rejects with a `Fault` when the domain's code can't be loaded. */
  async open(count: number, outsideTools: readonly Tool[], hosted: HostedEnvironment | null = null): Promise<void> {
    this.#outsideTools = outsideTools;
    this.#hosted = hosted;
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
    await Promise.all(Array.from({ length: count }, () => this.#start().prepared));
  }

  /** The longest time limit that code of the domain has, in ms. */
  get longestLimitMs(): number {
    return Math.max(this.#static.file.toolTimeoutMs, ...this.domain.tools.map(({ timeoutMs }) => timeoutMs));
  }

  leastBusy(): Lane<Rollout> {
    const [lane] = this.#lanes.toSorted((a, b) => a.rollouts.size - b.rollouts.size);
    if (!lane) throw new Error(this.#closed ? 'The supervisor is closed.' : 'No lane is running.');
    return lane;
  }

  /** Ends a lane that said something which cannot have happened. */
  condemn(lane: Lane<Rollout>, message: string): void {
    this.#end(lane, { failure: forgedFailure(message), culprit: null, isForged: true });
  }

  #end(lane: Lane<Rollout>, death: LaneEnded): void {
    if (!this.#lanes.includes(lane)) return;
    lane.process.kill();
    this.#died(lane, death);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#looking);
    for (const lane of this.#lanes.splice(0)) lane.process.kill();
  }

  /**
   * Ends a lane that says nothing while something is due. Its own watchdog and time limits come first; this one holds
   * where code of the domain has changed the timers of its process, or what it says about its calls.
   */
  #look(): void {
    const { isDue, silenceMs = longestSilenceMs } = this.#options;
    for (const lane of this.#lanes.filter(({ state }) => state === 'prepared')) {
      const [culprit = null] = [...lane.rollouts].find(([, rollout]) => isDue(rollout)) ?? [];
      lane.clock.look();
      lane.clock.keep(lane.rollouts);
      for (const [id, rollout] of lane.rollouts) if (lane.process.isInspected || !isDue(rollout)) lane.clock.rest(id);
      lane.silentMs = culprit === null || lane.process.isInspected ? 0 : lane.silentMs + lookMs;
      const limitMs = silenceMs + this.longestLimitMs;
      if (lane.silentMs > limitMs) this.#end(lane, { failure: silentFailure(limitMs), culprit });
    }
  }

  #start(): Lane<Rollout> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { folder, file } = this.#static;
    const forged = ({ type }: FromLane) => {
      const failure = forgedFailure(`it said "${type}", which nothing waits for`);
      reject(new Fault(failure));
      this.#end(lane, { failure, culprit: null, isForged: true });
    };
    const lane: Lane<Rollout> = {
      rollouts: new Map(),
      golds: new Map(),
      prepared: promise,
      state: 'loading',
      silentMs: 0,
      clock: new LaneClock(),
      process: startLane(
        {
          folder,
          toolsFile: file.tools,
          timeoutMs: file.toolTimeoutMs,
          inspectable: this.#options.inspectable,
          network: file.network,
          loadMs: this.#options.loadMs,
        },
        {
          onMessage: (message) => {
            if (message.type === 'described' || message.type === 'notDescribed') {
              if (lane.state !== 'loading') return forged(message);
              lane.state = 'described';
              if (message.type === 'described') this.#prepare(lane, message, reject);
              else reject(new Fault(message.failure));
            } else if (message.type === 'prepared') {
              if (lane.state !== 'described') return forged(message);
              lane.state = 'prepared';
              resolve();
            } else if (lane.state === 'prepared' || message.type === 'log') this.#options.onWord(lane, message);
            else forged(message);
          },
          onDeath: (death) => {
            reject(new Fault(death.failure));
            this.#died(lane, death);
          },
        },
      ),
    };
    promise.catch(() => undefined);
    this.#lanes.push(lane);
    return lane;
  }

  #prepare(lane: Lane<Rollout>, { tools, sync }: Described, refuse: (fault: Fault) => void): void {
    if (!this.#loaded) {
      const loaded = completeDomain(this.#static, tools, this.#outsideTools, { soundness: false });
      const unfit = unfitFault(fitnessOf(loaded).shared);
      if (unfit) {
        refuse(unfit);
        return;
      }
      const hosted = this.#hosted;
      const environment = hosted ? { sync: sync || hosted.sync, hosted } : { sync };
      this.#loaded = { ...loaded, domain: { ...loaded.domain, ...environment } };
    }
    lane.process.send({
      type: 'prepare',
      domain: this.domain,
      world: this.#static.world as { agent: JsonObject; user: JsonObject },
      places: Object.fromEntries(
        [...this.#static.locations.tools].map(([name, { file, line }]) => [name, { file, line }]),
      ),
    });
  }

  #died(lane: Lane<Rollout>, death: LaneEnded): void {
    if (this.#closed) return;
    this.#lanes.splice(this.#lanes.indexOf(lane), 1);
    const orphans = [...lane.rollouts.values()];
    lane.rollouts.clear();
    const isPrepared = lane.state === 'prepared';
    if (isPrepared && (orphans.length > 0 || this.#lanes.length === 0)) this.#start();
    this.#options.onDeath({ ...death, orphans, hasSuccessor: isPrepared });
  }
}
