import { AsyncLocalStorage } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import type { CodeTool, Sync } from '../../authoring.ts';
import { type HostedEnvironment, hostedName } from '../../core/domain/domain.ts';
import { pathsVisible } from '../../core/domain/simulatedTool.ts';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import { taskIn } from '../../core/domain/taskVariant.ts';
import { runsInWorker, type Tool } from '../../core/domain/tool.ts';
import type { Writes } from '../../core/events/event.ts';
import type { RolloutState } from '../../core/events/state.ts';
import type { JudgeAnswer } from '../../core/rollout/judgement.ts';
import type { Setting } from '../../core/rollout/rollout.ts';
import type { AgentReply, UserReply } from '../../core/seats/seat.ts';
import { impossible } from '../../core/values/impossible.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { randomStream } from '../../core/values/random.ts';
import { openDatabase } from '../../core/world/database.ts';
import type { FileLine } from '../files/diagnostic.ts';
import { cancelled, Fault } from '../files/fault.ts';
import { play, setUpOf } from '../rollout/driver.ts';
import { goldWorld } from '../rollout/goldWorld.ts';
import type { Ports, Step, ToolContext, ToolOutcome } from '../rollout/ports.ts';
import type { Conclusive, Gold } from '../rollout/verification.ts';
import { callCodeTool, callSync } from './codeTools.ts';
import { customResult, verifierCall } from './customVerifiers.ts';
import { ExternalCalls } from './externalCalls.ts';
import { modelFreeAgents, modelFreeUsers } from './modelFreeSeats.ts';
import { ReadObserver } from './readObserver.ts';
import { claimText, type WorkerWriter } from './workerChannel.ts';
import type { WorkerInspector } from './workerInspector.ts';
import type { MarkedCall, MarkWriter } from './workerMarker.ts';
import type { Answer, Question, ToWorker, WorkerGold } from './workerMessage.ts';

type Start = Extract<ToWorker, { readonly type: 'start' }>;

/** One rollout under way in this worker. */
type Served = {
  readonly start: Start;
  /** Made when something waits that a cancelled rollout does not need. */
  abort: AbortController | null;
  isCancelled: boolean;
  /** Steps that the supervisor has allowed and the rollout has not taken. */
  permits: number;
  wake: (() => void) | null;
  /** Records what the call in progress reads, if the supervisor requested it. */
  observer: ReadObserver | null;
  /** The inputs to the verdicts, once they exist. */
  evidence: Conclusive | null;
};

type Waiting = {
  readonly rollout: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (fault: Fault) => void;
};

export type HostOptions = {
  readonly folder: string;
  readonly tools: ReadonlyMap<string, CodeTool>;
  /** Keeps both sides of the world in step, if the domain has such a function. */
  readonly sync: Sync | null;
  /** Milliseconds until the domain's `sync` counts as hung. */
  readonly timeoutMs: number;
  readonly writer: WorkerWriter;
  readonly mark: MarkWriter;
  readonly inspector: WorkerInspector;
};

/** The time that rollouts are folded before messages are read again, in ms. */
const turnMs = 20;

/** Bytes of events that wait at most. */
const flushAt = 64 * 1024;

/** The longest delay of events while others follow, in ms. The supervisor measures calls by their arrival. */
const flushMs = 100;

/** Folds the rollouts that the supervisor starts, many at once: the one driver loop, domain code, model-free seats. */
export class WorkerHost {
  readonly #options: HostOptions;
  readonly #served = new Map<number, Served>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #starting: Served[] = [];
  /** The call that code runs for, also in timers and promises that it left behind. */
  readonly #calls = new AsyncLocalStorage<MarkedCall>();
  /** Calls that are left to their promises. */
  readonly #awaited = new Set<MarkedCall>();
  #setting: Setting | null = null;
  #places: Readonly<Record<string, FileLine>> = {};
  #nextQuestion = 1;
  /** Gold worlds that were reported, by number. */
  readonly #golds = new WeakMap<Gold, number>();
  #nextGold = 1;
  #isFlushPlanned = false;
  /** Since when the first of the events waits that wait. */
  #waitingSince = 0;
  /** The rollout whose domain code is running, for the log. */
  running: number | null = null;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case 'prepare': {
        const { domain, world, places } = message;
        this.#places = places;
        this.#setting = { domain, world: { agent: openDatabase(world.agent), user: openDatabase(world.user) } };
        this.#options.writer.send({ type: 'prepared' });
        return;
      }
      case 'start':
        this.#begin(message);
        return;
      case 'step':
        this.#permit(message.rollout);
        return;
      case 'cancel':
        this.#cancel(message.rollout);
        return;
      case 'stopInside':
        this.#options.inspector.stopInside(message.rollout);
        return;
      case 'answer':
        this.#settle(message.question)?.resolve(message.value);
        return;
      case 'refusal':
        this.#settle(message.question)?.reject(new Fault(message.failure, { reason: message.reason }));
        return;
      default:
        impossible('message', message);
    }
  }

  #begin(start: Start): void {
    const served: Served = {
      start,
      abort: null,
      isCancelled: false,
      permits: 0,
      wake: null,
      observer: null,
      evidence: null,
    };
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

  async #serve(served: Served): Promise<void> {
    const { start } = served;
    const { rollout } = start;
    const { writer } = this.#options;
    try {
      const setting = this.#requireSetting();
      const ask = (about: Question) => this.#ask(rollout, about);
      const external = new ExternalCalls(setting.world, ask);
      const gold = this.#hosted?.goldApart ? new ExternalCalls(setting.world, ask, 'gold') : null;
      const task = taskIn(setting.domain, start.task);
      if (!task) throw new Error(`this domain has no task ${start.task}`);
      const played = { setting, task, ports: this.#ports(served, external, gold) };
      const state = await this.#fold(served, play(played, start.from));
      const { gold: looked = null, custom = [] } = served.evidence ?? {};
      const done = start.wantsGold ? await goldWorld(played, state) : looked;
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
  async #fold(served: Served, steps: ReturnType<typeof play>): Promise<RolloutState> {
    const { rollout, from, known, pace } = served.start;
    const shared = Math.max(known, 'type' in from ? 0 : from.length);
    const { writer } = this.#options;
    let last: RolloutState | null = null;
    let before = performance.now();
    for (let index = 0; ; index++) {
      if (pace === 'step' && index >= shared) {
        await this.#permission(served);
        before = performance.now(); // a pause is not part of what a step took
      }
      let next = steps.next();
      while (!next.done && next.value instanceof Promise) next = steps.next(await next.value);
      if (next.done) break;
      const { n, event, state } = next.value as Step;
      last = state;
      const now = performance.now();
      if (n >= known) {
        if (event.type === 'toolReturned') this.#sayReads(served, n);
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

  /** Says what the call read whose result is the next event. */
  #sayReads(served: Served, n: number): void {
    const { observer, start } = served;
    served.observer = null;
    if (observer) this.#options.writer.post({ type: 'reads', rollout: start.rollout, n, reads: observer.reads });
  }

  /** Waits for a `step` message; a cancelled rollout needs none. */
  async #permission(served: Served): Promise<void> {
    this.#options.writer.flush();
    while (served.permits === 0 && !served.isCancelled) {
      await new Promise<void>((resolve) => {
        served.wake = resolve;
      });
    }
    if (served.permits > 0) served.permits--;
  }

  #permit(rollout: number): void {
    const served = this.#served.get(rollout);
    if (!served) return;
    served.permits++;
    served.wake?.();
  }

  #cancel(rollout: number): void {
    const served = this.#served.get(rollout);
    if (!served) return;
    served.isCancelled = true;
    served.abort?.abort();
    served.wake?.();
    for (const [question, waiting] of this.#waiting)
      if (waiting.rollout === rollout) this.#settle(question)?.reject(cancelled());
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

  #ports(served: Served, external: ExternalCalls, gold: ExternalCalls | null): Ports {
    const { rollout, seats } = served.start;
    const unlessCancelled =
      <Input extends unknown[], Output>(port: (...input: Input) => Output) =>
      (...input: Input): Output => {
        if (served.isCancelled) throw cancelled();
        return port(...input);
      };
    return {
      agent: unlessCancelled((view) =>
        seats.agent === 'remote'
          ? (this.#ask(rollout, { type: 'agent' }) as Promise<AgentReply>)
          : modelFreeAgents[seats.agent](view),
      ),
      user: unlessCancelled((view) =>
        seats.user === 'remote'
          ? (this.#ask(rollout, { type: 'user' }) as Promise<UserReply>)
          : modelFreeUsers[seats.user](view),
      ),
      callTool: unlessCancelled((tool, call, context) => {
        const values = call.arguments as JsonObject;
        if (tool.effect === 'write') external.forget();
        // A person who looks at the code with a debugger sees the rows themselves.
        const observer = this.#options.inspector.isOpen ? null : observerOf(served, tool, values, context);
        return runsInWorker(tool)
          ? this.#callCode(rollout, tool, values, context, observer)
          : external.call(tool, call, context);
      }),
      callGold: gold ? unlessCancelled((tool, call, context) => gold.call(tool, call, context)) : undefined,
      sync: unlessCancelled((context) =>
        this.#hosted?.sync && !this.#options.sync
          ? external.sync(this.#hosted.name, context.world)
          : this.#sync(rollout, context),
      ),
      setUp: unlessCancelled((task, { world }) => {
        const { domain } = this.#requireSetting();
        const data = setUpOf(domain, task);
        const name = hostedName(domain.file);
        if (name === null || data === undefined) return Promise.resolve([]);
        return external.setUp(name, data, world);
      }),
      wait: (ms) => {
        if (served.isCancelled) throw cancelled();
        served.abort ??= new AbortController();
        return pause(ms, served.abort.signal);
      },
      readSource: unlessCancelled(async ({ assertion, source }, state) => {
        const isKnown = served.start.recorded?.includes(source) ?? false;
        if (assertion.call && !isKnown) return external.saidBy(assertion.in, assertion.call, state.world);
        const answer = await this.#ask(rollout, { type: 'source', source });
        return (answer as { readonly state: Json }).state;
      }),
      judge: unlessCancelled(() => this.#ask(rollout, { type: 'judge' }) as Promise<JudgeAnswer>),
      conclude: (evidence) => {
        served.evidence = evidence;
      },
      verifyBy: unlessCancelled(async (name, evidence) => {
        const { seed, task, trial } = evidence.state.started;
        const random = randomStream(seed, task.id, trial, `verifier:${name}`);
        const { tool, values, context } = verifierCall(name, evidence, { random, step: evidence.state.next });
        return customResult(name, await this.#callCode(rollout, tool, values, context));
      }),
    };
  }

  #workerGold(gold: Gold): WorkerGold {
    const known = this.#golds.get(gold);
    if (known !== undefined) return { id: known };
    const id = this.#nextGold++;
    this.#golds.set(gold, id);
    return { id, actions: gold.steps.map(({ turn, content, writes }) => ({ turn, content, writes })) };
  }

  #ask(rollout: number, about: Question): Promise<Answer> {
    const question = this.#nextQuestion++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(question, { rollout, resolve, reject });
      this.#options.writer.post({ type: 'question', question, rollout, about });
      this.#planFlush();
    });
  }

  #settle(question: number): Waiting | undefined {
    const waiting = this.#waiting.get(question);
    this.#waiting.delete(question);
    return waiting;
  }

  #callCode(
    rollout: number,
    tool: Tool,
    values: JsonObject,
    context: ToolContext,
    observer: ReadObserver | null = null,
  ): ToolOutcome | Promise<ToolOutcome> {
    const { folder, tools, writer, inspector } = this.#options;
    const code = tools.get(tool.name);
    if (!code)
      throw new Fault({
        who: 'environment',
        code: 'tool/missing',
        message: `the domain's code exports no tool named ${tool.name}`,
      });
    const guard = this.#guard(rollout, tool.name, tool.timeoutMs);
    const log = (text: string) => writer.send({ type: 'log', rollout, text });
    const prepared = inspector.prepared(rollout, code);
    const asked = { name: tool.name, tool: prepared, arguments: values, context, folder };
    const outcome = callCodeTool({ ...asked, guard, log, observer });
    if (!(outcome instanceof Promise)) return outcome;
    const call = { rollout, tool: tool.name, timeoutMs: tool.timeoutMs };
    return this.#awaiting(call, inspector.isOpen ? outcome : inTime(outcome, tool, this.#places[tool.name]));
  }

  #sync(rollout: number, { world, now }: Pick<ToolContext, 'world' | 'now'>): Writes {
    const { folder, sync, timeoutMs } = this.#options;
    if (!sync) throw new Error('the domain has no sync');
    return callSync({ sync, world, now, folder, guard: this.#guard(rollout, 'sync', timeoutMs) });
  }

  /** Runs around the domain's own code, so that the supervisor knows whose it was when it hangs or dies. */
  #guard(rollout: number, tool: string, timeoutMs: number): <T>(body: () => T) => T {
    const { mark, writer } = this.#options;
    const call = { rollout, tool, timeoutMs };
    return (body) => {
      if (!mark.enter(call, writer.fresh())) writer.flush();
      this.running = rollout;
      try {
        return this.#calls.run(call, body);
      } finally {
        this.running = null;
        this.#leave();
      }
    };
  }

  get #hosted(): HostedEnvironment | undefined {
    return this.#setting?.domain.hosted;
  }

  /** Between calls the mark names one that is still waited for, if there is any. */
  #leave(): void {
    const { mark } = this.#options;
    const waiting = this.#awaited.size > 0 ? [...this.#awaited].at(-1) : undefined;
    if (waiting) mark.return(waiting);
    else mark.leave();
  }

  #awaiting<T>(call: MarkedCall, outcome: Promise<T>): Promise<T> {
    this.#awaited.add(call);
    this.#leave();
    return outcome.finally(() => {
      this.#awaited.delete(call);
      this.#leave();
    });
  }

  /** Marks the call that something thrown outside of every call came from, if it came from one. */
  blame(): void {
    const call = this.#calls.getStore();
    if (call) this.#options.mark.return(call);
  }

  #requireSetting(): Setting {
    if (!this.#setting) throw new Error('a rollout was started before the worker was prepared');
    return this.#setting;
  }
}

/**
 * Anyone who notes what a call reads; one call may be made more than once. Null where no one asked, or no one can tell.
 */
function observerOf(served: Served, tool: Tool, values: JsonObject, { world }: ToolContext): ReadObserver | null {
  const { owner } = tool;
  const { simulation } = sourceOf(tool);
  if (!served.start.reads || (!runsInWorker(tool) && !simulation)) return null;
  served.observer ??= new ReadObserver();
  if (simulation) for (const path of pathsVisible(simulation, values, world[owner])) served.observer.whole(owner, path);
  return served.observer;
}

/** Lets time pass, unless the rollout is cancelled meanwhile. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeoutPromise(ms, undefined, { signal });
  } catch {
    throw cancelled();
  }
}

/** The promise of a call that never settles ends its rollout; the worker continues. */
async function inTime(outcome: Promise<ToolOutcome>, tool: Tool, place?: FileLine): Promise<ToolOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const timeOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `the tool ${tool.name} gave no result within ${tool.timeoutMs} ms; declare a longer timeoutMs, or find the promise that never settles`;
      reject(new Fault({ who: 'environment', code: 'tool/hung', message, ...place }));
    }, tool.timeoutMs);
  });
  try {
    return await Promise.race([outcome, timeOut]);
  } finally {
    clearTimeout(timer);
  }
}
