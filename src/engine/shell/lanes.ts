import { join } from 'node:path';
import type { Domain, HostedEnvironment } from '../core/domain.ts';
import type { Failure } from '../core/event.ts';
import type { JsonObject } from '../core/json.ts';
import type { Tool } from '../core/tool.ts';
import type { GoldCache } from './checkedRollout.ts';
import { Fault } from './fault.ts';
import type { FromInspector, FromLane } from './lane/laneMessage.ts';
import { forgedFailure, type LaneEnded, type LaneProcess, startLane } from './lane/laneProcess.ts';
import { fitnessOf, unfitFault } from './load/fitness.ts';
import { completeDomain, type LoadedDomain } from './load/loadDomain.ts';

/** A minute: code that loads this long waits for something that does not happen. */
const longestLoadMs = 60_000;

function slowFailure(ms: number, folder: string, tools: string): Failure {
  return {
    who: 'environment',
    code: 'tool/load-time',
    message: `the domain's code did not load within ${ms / 1000} s; look for an await outside of every function whose promise never settles`,
    file: join(folder, tools),
  };
}

/** One child process and the rollouts that it folds. */
export type Lane<Rollout> = {
  readonly process: LaneProcess;
  readonly rollouts: Map<number, Rollout>;
  /** Gold worlds by the numbers that it gave them. */
  readonly golds: GoldCache;
  /** Resolves when the lane knows the domain; rejects with the `Fault` that kept it from that. */
  readonly prepared: Promise<void>;
  /** What it has said of itself: its tools come first, and then that it knows the whole domain. */
  state: 'loading' | 'described' | 'prepared';
};

/** What a lane says once it is prepared. */
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
  /** How long the domain's code may take to load, in ms; a minute by default. */
  readonly loadMs?: number | undefined;
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
    await Promise.all(Array.from({ length: count }, () => this.#start().prepared));
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
    for (const lane of this.#lanes.splice(0)) lane.process.kill();
  }

  #start(): Lane<Rollout> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { folder, file } = this.#static;
    const end = (failure: Failure, isForged: boolean) => {
      clearTimeout(timer);
      reject(new Fault(failure));
      this.#end(lane, { failure, culprit: null, isForged });
    };
    const forged = ({ type }: FromLane) => end(forgedFailure(`it said "${type}", which nothing waits for`), true);
    const { loadMs = longestLoadMs } = this.#options;
    const timer = setTimeout(() => end(slowFailure(loadMs, folder, file.tools), false), loadMs);
    timer.unref();
    const lane: Lane<Rollout> = {
      rollouts: new Map(),
      golds: new Map(),
      prepared: promise,
      state: 'loading',
      process: startLane(
        {
          folder,
          toolsFile: file.tools,
          timeoutMs: file.toolTimeoutMs,
          inspectable: this.#options.inspectable,
          network: file.network,
        },
        {
          onMessage: (message) => {
            if (message.type === 'described' || message.type === 'notDescribed') {
              if (lane.state !== 'loading') return forged(message);
              lane.state = 'described';
              clearTimeout(timer);
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
            clearTimeout(timer);
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
