import type { Domain, HostedEnvironment } from '../core/domain.ts';
import type { Failure } from '../core/event.ts';
import type { JsonObject } from '../core/json.ts';
import type { Tool } from '../core/tool.ts';
import { errorsOf, unfitness } from './diagnostic.ts';
import { Fault } from './fault.ts';
import type { FromInspector, FromLane } from './lane/laneMessage.ts';
import { type LaneProcess, startLane } from './lane/laneProcess.ts';
import { completeDomain, type LoadedDomain } from './load/loadDomain.ts';

/** One child process and the rollouts that it folds. */
export type Lane<Rollout> = {
  readonly process: LaneProcess;
  readonly rollouts: Map<number, Rollout>;
  /** Resolves when the lane knows the domain; rejects with the `Fault` that kept it from that. */
  readonly prepared: Promise<void>;
  isPrepared: boolean;
};

/** What a lane says once it is prepared. */
export type LaneWord = Exclude<FromLane, FromInspector | { readonly type: 'described' | 'notDescribed' | 'prepared' }>;

type Described = Extract<FromLane, { readonly type: 'described' }>;

/** A lane that is gone, with what it leaves behind. `culprit` is the rollout that was last in domain code. */
export type LaneDeath<Rollout> = {
  readonly orphans: readonly Rollout[];
  readonly failure: Failure;
  readonly culprit: number | null;
  /** A lane that never came up would not come up again: it has no successor. */
  readonly hasSuccessor: boolean;
};

type LanesOptions<Rollout> = {
  /** Whether their inspectors can be opened. */
  readonly inspectable: boolean;
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
    if (!lane) throw new Error('a supervisor has at least one lane');
    return lane;
  }

  close(): void {
    this.#closed = true;
    for (const lane of this.#lanes) lane.process.kill();
  }

  #start(): Lane<Rollout> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { folder, file } = this.#static;
    const lane: Lane<Rollout> = {
      rollouts: new Map(),
      prepared: promise,
      isPrepared: false,
      process: startLane(
        {
          folder,
          toolsFile: file.tools,
          timeoutMs: file.toolTimeoutMs,
          inspectable: this.#options.inspectable,
        },
        {
          onMessage: (message) => {
            if (message.type === 'described') this.#prepare(lane, message, reject);
            else if (message.type === 'notDescribed') reject(new Fault(message.failure));
            else if (message.type === 'prepared') {
              lane.isPrepared = true;
              resolve();
            } else this.#options.onWord(lane, message);
          },
          onDeath: ({ failure, culprit }) => {
            reject(new Fault(failure));
            this.#died(lane, failure, culprit);
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
      const [first] = errorsOf(loaded.diagnostics);
      if (first) {
        refuse(new Fault({ who: 'environment', code: first.code, message: unfitness(loaded.diagnostics) }));
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

  #died(lane: Lane<Rollout>, failure: Failure, culprit: number | null): void {
    this.#lanes.splice(this.#lanes.indexOf(lane), 1);
    if (this.#closed) return;
    const orphans = [...lane.rollouts.values()];
    lane.rollouts.clear();
    if (lane.isPrepared && (orphans.length > 0 || this.#lanes.length === 0)) this.#start();
    this.#options.onDeath({ orphans, failure, culprit, hasSuccessor: lane.isPrepared });
  }
}
