import type { Domain, HostedEnvironment } from '../core/domain/domain.ts';
import type { Tool } from '../core/domain/tool.ts';
import type { Failure } from '../core/events/event.ts';
import type { JsonObject } from '../core/values/json.ts';
import type { GoldCache } from './checkedFold/goldCache.ts';
import { completeDomain, type LoadedDomain } from './domain/loadDomain.ts';
import { Fault } from './files/fault.ts';
import { fitnessOf, unfitFault } from './load/fitness.ts';
import { WorkerClock } from './workers/workerClock.ts';
import type { FromInspector, FromWorker } from './workers/workerMessage.ts';
import { forgedFailure, startWorker, type WorkerEnded, type WorkerProcess } from './workers/workerProcess.ts';

/** The time that a worker may send nothing about its rollouts, in ms, beyond the longest time limit of a tool. */
const longestSilenceMs = 60_000;
const lookMs = 250;

function silentFailure(ms: number): Failure {
  const message = `the domain's code blocked its process for ${ms / 1000} s and was stopped; look for code that replaces timers, or for an endless loop`;
  return { who: 'environment', code: 'worker/silent', message };
}

/** One child process and the rollouts that it folds. */
export type Worker<Rollout> = {
  readonly process: WorkerProcess;
  readonly rollouts: Map<number, Rollout>;
  /** Gold worlds by the numbers that it gave them. */
  readonly golds: GoldCache;
  /** Resolves when the worker knows the domain; rejects with the `Fault` that kept it from that. */
  readonly prepared: Promise<void>;
  /** The last description received: a worker sends its tools first, and then reports that it knows the whole domain. */
  state: 'loading' | 'described' | 'prepared';
  /** The time that an expected message is overdue, in ms. Reset to 0 by each accepted message. */
  silentMs: number;
  /** Measures how long its code can have run. */
  readonly clock: WorkerClock;
};

/** A message that a worker sends once it is prepared. */
export type WorkerWord = Exclude<
  FromWorker,
  FromInspector | { readonly type: 'described' | 'notDescribed' | 'prepared' }
>;

type Described = Extract<FromWorker, { readonly type: 'described' }>;

/** A worker that is gone, with what it leaves behind. */
export type WorkerDeath<Rollout> = WorkerEnded & {
  readonly orphans: readonly Rollout[];
  /** A worker that never came up would not come up again: it has no successor. */
  readonly hasSuccessor: boolean;
};

type WorkersOptions<Rollout> = {
  /** Whether their inspectors can be opened. */
  readonly inspectable: boolean;
  /** The time that the domain's code may take to load, in ms. */
  readonly loadMs?: number | undefined;
  /** The time an expected message may be overdue, in ms, beyond the longest tool time limit; a minute by default. */
  readonly silenceMs?: number | undefined;
  /** Whether the worker of a rollout has to say something next. */
  readonly isDue: (rollout: Rollout) => boolean;
  readonly onWord: (worker: Worker<Rollout>, word: WorkerWord) => void;
  readonly onDeath: (death: WorkerDeath<Rollout>) => void;
};

/** The workers of one domain: started together, each told the domain whose tools the first has described, and replaced when they die. */
export class Workers<Rollout> {
  readonly #static: LoadedDomain;
  readonly #options: WorkersOptions<Rollout>;
  readonly #workers: Worker<Rollout>[] = [];
  #externalTools: readonly Tool[] = [];
  #hosted: HostedEnvironment | null = null;
  #loaded: LoadedDomain | null = null;
  #closed = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(domain: LoadedDomain, options: WorkersOptions<Rollout>) {
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

  /** Starts a number of workers. Rejects with a `Fault` when the domain's code can't be loaded. */
  async open(count: number, externalTools: readonly Tool[], hosted: HostedEnvironment | null = null): Promise<void> {
    this.#externalTools = externalTools;
    this.#hosted = hosted;
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
    await Promise.all(Array.from({ length: count }, () => this.#start().prepared));
  }

  /** The longest time limit that code of the domain has, in ms. */
  get longestLimitMs(): number {
    return Math.max(this.#static.file.toolTimeoutMs, ...this.domain.tools.map(({ timeoutMs }) => timeoutMs));
  }

  leastBusy(): Worker<Rollout> {
    const [worker] = this.#workers.toSorted((a, b) => a.rollouts.size - b.rollouts.size);
    if (!worker) throw new Error(this.#closed ? 'The supervisor is closed.' : 'No worker is running.');
    return worker;
  }

  /** Ends a worker that said something which cannot have happened. */
  condemn(worker: Worker<Rollout>, message: string): void {
    this.#end(worker, { failure: forgedFailure(message), culprit: null, isForged: true });
  }

  #end(worker: Worker<Rollout>, death: WorkerEnded): void {
    if (!this.#workers.includes(worker)) return;
    worker.process.kill();
    this.#died(worker, death);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#looking);
    for (const worker of this.#workers.splice(0)) worker.process.kill();
  }

  /**
   * Ends a worker that says nothing while something is due. Its own watchdog and time limits come first; this one holds
   * where code of the domain has changed the timers of its process, or what it says about its calls.
   */
  #look(): void {
    const { isDue, silenceMs = longestSilenceMs } = this.#options;
    for (const worker of this.#workers.filter(({ state }) => state === 'prepared')) {
      const [culprit = null] = [...worker.rollouts].find(([, rollout]) => isDue(rollout)) ?? [];
      worker.clock.look();
      worker.clock.keep(worker.rollouts);
      for (const [id, rollout] of worker.rollouts)
        if (worker.process.isInspected || !isDue(rollout)) worker.clock.rest(id);
      worker.silentMs = culprit === null || worker.process.isInspected ? 0 : worker.silentMs + lookMs;
      const limitMs = silenceMs + this.longestLimitMs;
      if (worker.silentMs > limitMs) this.#end(worker, { failure: silentFailure(limitMs), culprit });
    }
  }

  #start(): Worker<Rollout> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { folder, file } = this.#static;
    const forged = ({ type }: FromWorker) => {
      const failure = forgedFailure(`it said "${type}", which nothing waits for`);
      reject(new Fault(failure));
      this.#end(worker, { failure, culprit: null, isForged: true });
    };
    const worker: Worker<Rollout> = {
      rollouts: new Map(),
      golds: new Map(),
      prepared: promise,
      state: 'loading',
      silentMs: 0,
      clock: new WorkerClock(),
      process: startWorker(
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
              if (worker.state !== 'loading') return forged(message);
              worker.state = 'described';
              if (message.type === 'described') this.#prepare(worker, message, reject);
              else reject(new Fault(message.failure));
            } else if (message.type === 'prepared') {
              if (worker.state !== 'described') return forged(message);
              worker.state = 'prepared';
              resolve();
            } else if (worker.state === 'prepared' || message.type === 'log') this.#options.onWord(worker, message);
            else forged(message);
          },
          onDeath: (death) => {
            reject(new Fault(death.failure));
            this.#died(worker, death);
          },
        },
      ),
    };
    promise.catch(() => undefined);
    this.#workers.push(worker);
    return worker;
  }

  #prepare(worker: Worker<Rollout>, { tools, sync }: Described, refuse: (fault: Fault) => void): void {
    if (!this.#loaded) {
      const loaded = completeDomain(this.#static, tools, this.#externalTools, { soundness: false });
      const unfit = unfitFault(fitnessOf(loaded).shared);
      if (unfit) {
        refuse(unfit);
        return;
      }
      const hosted = this.#hosted;
      const environment = hosted ? { sync: sync || hosted.sync, hosted } : { sync };
      this.#loaded = { ...loaded, domain: { ...loaded.domain, ...environment } };
    }
    worker.process.send({
      type: 'prepare',
      domain: this.domain,
      world: this.#static.world as { agent: JsonObject; user: JsonObject },
      places: Object.fromEntries(
        [...this.#static.locations.tools].map(([name, { file, line }]) => [name, { file, line }]),
      ),
    });
  }

  #died(worker: Worker<Rollout>, death: WorkerEnded): void {
    if (this.#closed) return;
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    const orphans = [...worker.rollouts.values()];
    worker.rollouts.clear();
    const isPrepared = worker.state === 'prepared';
    if (isPrepared && (orphans.length > 0 || this.#workers.length === 0)) this.#start();
    this.#options.onDeath({ ...death, orphans, hasSuccessor: isPrepared });
  }
}
