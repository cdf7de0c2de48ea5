import { declaredSource } from '../core/domain/domain.ts';
import { leftOutTools } from '../core/domain/leftOutTools.ts';
import { personaSchema } from '../core/domain/persona.ts';
import { serverToolName } from '../core/domain/serverToolName.ts';
import { taskSchema } from '../core/domain/task.ts';
import { externalSource, nameOnServer, type Side, serverOf, type Tool } from '../core/domain/tool.ts';
import type { RolloutEvent, Writes } from '../core/events/event.ts';
import { offeredNow } from '../core/events/message.ts';
import { firstNames } from '../core/text/counted.ts';
import type { Json, JsonObject } from '../core/values/json.ts';
import { exactJson, largeIntegerPlaces } from '../core/values/largeIntegers.ts';
import { type Attachments, attachmentsOf } from '../core/values/media.ts';
import { openDatabase, patchesOf } from '../core/world/database.ts';
import type { LoadedDomain } from './domain/loadDomain.ts';
import { externalSeatsOf, workerSeats } from './externalSeats.ts';
import { cancelledResult, Fault, messageOf } from './files/fault.ts';
import type { LiveRollout, RolloutClosed } from './liveRollout.ts';
import { misfitOf } from './load/arguments.ts';
import { recordedData } from './mcp/result.ts';
import { stateOf } from './mcp/state.ts';
import type { ReadKey } from './models/modelSettings.ts';
import { unlessAborted } from './processes/unlessAborted.ts';
import { baseHashOf } from './replay.ts';
import { nearest } from './source/nearest.ts';
import { startOf } from './start.ts';
import { openSupervisor, type Supervisor } from './supervisor.ts';
import type { ShownTools } from './tools/mcpServer.ts';
import type { RemoteView } from './workers/workerMessage.ts';

/** The result of a call on the temporary database. */
export type ScratchResult = Attachments & {
  readonly isError: boolean;
  /** The text that the caller reads. */
  readonly content: string;
  /** The changes that the call made, and those that `sync` made after it. */
  readonly writes: Writes;
};

/** The state of a tool source, and the names of its fields that differ without a call. */
type SourceState = { readonly source: string; readonly state: Json; readonly volatile: readonly string[] };

/** The writes that turn one state of a source into another, under its name; none where a field is volatile. */
export function sourceWrites(before: SourceState, after: SourceState): Writes {
  const [from, to] = [before, after].map(({ source, state }) => openDatabase({ [source]: state }));
  if (!from || !to) return [];
  const patches = patchesOf(from, to).filter(({ path }) => !path.some((key) => before.volatile.includes(String(key))));
  return patches.length > 0 ? ([{ side: 'agent', patches }] as unknown as Writes) : [];
}

type Wanted = {
  readonly by: Side;
  readonly turn: string;
  readonly resolve: (result: ScratchResult) => void;
  readonly reject: (error: unknown) => void;
};

type Scratch = {
  /** Id of the task whose start the database has; without one it is the domain's own. */
  readonly task?: string | undefined;
  /** Finds the key of the model that answers for simulated tools. */
  readonly readKey: ReadKey;
  readonly signal?: AbortSignal;
  readonly log?: (text: string) => void;
};

/** No task or persona of a domain is likely to have this id. */
const scratchId = 'rehearsal-scratch';

/** Only its owner ends a scratch rollout, so a person may call as often as they like. */
const withoutCaps = { turnCap: Number.MAX_SAFE_INTEGER, toolErrorCap: Number.MAX_SAFE_INTEGER };
const person = { agent: { type: 'human' }, user: { type: 'human' } } as const;

/**
 * Makes calls of a person on a temporary database of a domain. It is a rollout like any other, in
 * whose seats the caller sits: faults, rules, caches and time-outs are those that an agent meets. Nothing is recorded,
 * and the database is gone with it.
 */
export class ScratchTools {
  readonly #supervisor: Supervisor;
  readonly #scratch: Scratch;
  /** Null after a call that the rollout could not get past: the next call starts another one, with what was before it. */
  #live: LiveRollout | null = null;
  #events: RolloutEvent[] = [];
  /** The number of events before the call in progress. */
  #before = 0;
  #isReady = false;
  readonly #waiting: Wanted[] = [];
  #made: Wanted | null = null;
  #next: (() => void) | null = null;
  #view: RemoteView | null = null;
  #isClosed = false;

  /** Opens its own workers for the domain. */
  static async open(loaded: LoadedDomain, scratch: Scratch): Promise<ScratchTools> {
    const supervisor = await openSupervisor(withScratchTask(loaded), scratch.log ? { log: scratch.log } : {});
    return new ScratchTools(supervisor, scratch);
  }

  private constructor(supervisor: Supervisor, scratch: Scratch) {
    this.#supervisor = supervisor;
    this.#scratch = scratch;
    const { signal } = scratch;
    this.#start();
    const cancel = () => {
      this.#isClosed = true;
      this.#live?.cancel();
    };
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
  }

  #start(): void {
    const { domain, loaded } = this.#supervisor;
    const { task: id = scratchId, readKey } = this.#scratch;
    const task = domain.tasks.find((each) => each.id === id);
    if (!task) throw new Error(`there is no task ${id}`);
    const options = { seed: '1', trial: 0, basis: 'evaluate', ...person } as const;
    const {
      callCap: _,
      callsPerResponse: __,
      messageCap: ___,
      unreadableCalls: ____,
      ...started
    } = startOf(domain, baseHashOf(loaded), task, options);
    const kept = this.#events.slice(0, this.#before);
    this.#view = null;
    this.#events = [];
    this.#isReady = false;
    const live = this.#supervisor.start(
      {
        task,
        from: kept.length > 0 ? kept : { ...started, ...withoutCaps },
        seats: workerSeats(person.agent, person.user),
        externalSeats: externalSeatsOf(person.agent, person.user, readKey, (seat, view, end) =>
          this.#turn(seat, view, end),
        ),
        recording: null,
      },
      (arrived) => this.#events.push(...arrived.map(({ event }) => event)),
    );
    this.#live = live;
    live.closed.then(
      (closed) => this.#onEnd(endOf(closed)),
      (error: unknown) => this.#onEnd(infrastructure(messageOf(error))),
    );
  }

  /** The tools of the agent, as a client of MCP is shown them. Those that only read are marked. */
  get shown(): ShownTools {
    const { domain } = this.#supervisor;
    const reads = new Set(domain.tools.flatMap(({ name, effect }) => (effect === 'read' ? [name] : [])));
    // To hand over would end the rollout, and with it the database.
    const atStart = domain.tools.filter(({ owner, handsOff }) => owner === 'agent' && !handsOff);
    return {
      tools: offeredNow(atStart, this.#view?.messages ?? []),
      reads,
      instructions: `The tools of ${domain.name}, on a temporary database that is discarded when the connection closes.`,
      call: (name, args, signal) =>
        this.#enqueue('agent', name, args, signal).catch((error: unknown) => ({
          content: `Error: ${messageOf(error)}. ${this.#nextStart()}`,
          isError: true,
        })),
    };
  }

  /**
   * Calls a tool of either side. Rejects with a `Fault` where there is no such tool, where the arguments do not fit its
   * JSON Schema (it is then not called), and where the call could not be made.
   * @param args `JSON.stringify` writes all digits of their numbers
   */
  async call(name: string, args: JsonObject): Promise<ScratchResult> {
    const tool = toolIn(this.#supervisor.loaded, name);
    const text = JSON.stringify(args);
    const misfit = misfitOf(tool, exactJson(text) as JsonObject, largeIntegerPlaces(text));
    if (misfit !== null) throw new Fault({ who: 'agent', code: 'call/misfit', message: misfit });
    return this.#enqueue(tool.owner, name, args);
  }

  /** Returns the state of the MCP server that a tool may change, by the server's reader; null if it has no reader. */
  async stateAround(name: string): Promise<SourceState | null> {
    const { domain, loaded } = this.#supervisor;
    const tool = toolIn(loaded, name);
    const source = externalSource(tool);
    const { reader, volatile = [] } = (source === null ? undefined : domain.file.mcpServers[source]) ?? {};
    const isKnown = reader !== undefined && domain.tools.some((each) => each.name === reader.tool);
    if (source === null || tool.effect === 'read' || !isKnown) return null;
    const result = await this.#enqueue('agent', reader.tool, reader.arguments as JsonObject);
    if (result.isError) return null;
    const { outputSchema } = toolIn(loaded, reader.tool);
    return { source, state: stateOf(recordedData(result), reader, outputSchema), volatile };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#live?.cancel();
    await this.#live?.closed.catch(() => undefined);
    await this.#supervisor.close();
  }

  async #enqueue(by: Side, name: string, args: JsonObject, signal?: AbortSignal): Promise<ScratchResult> {
    if (this.#isClosed) throw infrastructure('the temporary database is closed. Open it again');
    if (!this.#live) this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<ScratchResult>();
    const wanted = { by, turn: `/call ${name} ${JSON.stringify(args)}`, resolve, reject };
    this.#waiting.push(wanted);
    const cancel = () => this.#cancel(wanted);
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    this.#next?.();
    return promise.finally(() => signal?.removeEventListener('abort', cancel));
  }

  /** Takes back a call that is no longer awaited, so that it does not keep the next one waiting. */
  #cancel(wanted: Wanted): void {
    const at = this.#waiting.indexOf(wanted);
    if (at < 0) this.#live?.cancelCalls();
    else {
      this.#waiting.splice(at, 1);
      wanted.reject(infrastructure('the call was cancelled before it was made. It has changed nothing'));
    }
  }

  /** A seat's turn: its call before has returned, and the agent's seat waits for the next one. */
  async #turn(seat: Side, view: RemoteView, signal: AbortSignal): Promise<string> {
    this.#isReady = true;
    if (seat === 'agent') this.#view = view;
    if (this.#made?.by === seat) this.#settle(this.#made);
    while (seat === 'agent' && this.#waiting.length === 0) {
      const asked = Promise.withResolvers<void>();
      this.#next = asked.resolve;
      await unlessAborted(asked.promise, signal);
    }
    if (this.#waiting[0]?.by !== seat) return 'Go on.';
    this.#made = this.#waiting.shift() ?? null;
    this.#before = this.#events.length;
    return this.#made?.turn ?? '';
  }

  /** Gives a call that was made what came of it. */
  #settle(made: Wanted, why?: Fault): void {
    this.#made = null;
    const since = this.#events.slice(this.#before);
    const returned = since.find((event) => event.type === 'toolReturned');
    if (returned?.type !== 'toolReturned') {
      made.reject(why ?? infrastructure('the call has no result. Make it again'));
      return;
    }
    const { isError, content } = returned;
    made.resolve({ isError, content, ...attachmentsOf(returned), writes: since.flatMap(writesOf) });
  }

  /** Returns with what the next call starts, after one that the rollout could not get past. */
  #nextStart(): string {
    if (this.#before === 0) return 'The next call starts on a fresh database';
    const without = this.#lacksCancelled() ? ', without the calls that were cancelled' : '';
    return `The next call continues from the state before this call${without}`;
  }

  /** Returns whether a call was cancelled whose changes no later snapshot of its server has. */
  #lacksCancelled(): boolean {
    const { tools } = this.#supervisor.domain;
    const kept = this.#events.slice(0, this.#before);
    return kept.some((event, at) => {
      if (event.type !== 'toolReturned' || event.content !== cancelledResult) return false;
      const called = kept.findLast((each, index) => index < at && each.type === 'toolCalled');
      const tool = called?.type === 'toolCalled' ? tools.find(({ name }) => name === called.call.name) : undefined;
      const source = tool ? externalSource(tool) : null;
      return !kept.slice(at).some((each) => each.type === 'sourceSaved' && each.source === source);
    });
  }

  /** Returns whether a server changed whose state no later rollout can have. */
  #hasLostState(): boolean {
    const { tools, file } = this.#supervisor.domain;
    return this.#events.slice(0, this.#before).some((event) => {
      const tool = event.type === 'toolCalled' ? tools.find(({ name }) => name === event.call.name) : undefined;
      const source = tool ? externalSource(tool) : null;
      const declared = source === null ? undefined : declaredSource(file, source);
      return tool?.effect === 'write' && declared?.state === 'none';
    });
  }

  /** A call that hands over has its result although it is the last one. */
  #onEnd(why: Fault): void {
    this.#live = null;
    // The state before the call cannot be made again.
    if (!this.#isReady) this.#before = 0;
    const hasLostState = this.#hasLostState();
    const made = this.#made;
    if (made) this.#settle(made, why);
    if (hasLostState) this.#before = 0;
    // A call that was not made has nothing to do with the end, unless the rollout ended by itself.
    if (made && this.#waiting.length > 0 && !this.#isClosed) this.#start();
    else for (const { reject } of this.#waiting.splice(0)) reject(why);
  }
}

function writesOf(event: RolloutEvent): Writes {
  return event.type === 'databaseWritten' || event.type === 'worldSynced' ? event.writes : [];
}

function endOf({ failure, endReason }: RolloutClosed): Fault {
  return failure ? new Fault(failure) : infrastructure(`the scratch rollout is over (${endReason})`);
}

const infrastructure = (message: string) => new Fault({ who: 'infrastructure', code: 'call/cut', message });

function toolIn({ domain: { tools, file }, leftOut = [] }: LoadedDomain, name: string): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found) return found;
  const isNamed = (tool: Tool) => {
    const own = nameOnServer(tool);
    const listed = serverOf(tool);
    const server = listed === null ? undefined : file.mcpServers[listed];
    return own === name || (server !== undefined && serverToolName(own, server) === name);
  };
  const named = leftOut.find(isNamed);
  // A page that cannot be read may have the tool.
  const reasons = leftOutTools(named ? [named] : leftOut.filter((tool) => tool.leftOut?.what !== undefined));
  const names = tools.map((tool) => tool.name);
  const near = nearest(name, names);
  const hint = near ? `did you mean "${near}"?` : `there are ${firstNames(names) || 'none'}`;
  const message = [
    `there is no tool ${name}${named ? '' : `; ${hint}`}`,
    ...reasons.map(({ text, hint: advice }) => `${text}. ${advice}`),
  ].join('. ');
  throw new Fault({ who: 'agent', code: 'call/unknown-tool', message });
}

/** A domain with one more task, which asks for nothing of its own database, and with somebody to ask it. */
function withScratchTask(loaded: LoadedDomain): LoadedDomain {
  const nobody = personaSchema.parse({ id: scratchId, description: 'No person.' });
  const task = taskSchema.parse({ id: scratchId, persona: scratchId, user: { goal: 'Nothing.', opening: 'Hello.' } });
  const tasks = [...loaded.tasks, task];
  const personas = [...loaded.domain.personas, nobody];
  return { ...loaded, tasks, domain: { ...loaded.domain, tasks, personas } };
}
