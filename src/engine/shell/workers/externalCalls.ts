import type { World } from '../../core/domain/domain.ts';
import { simulationOf, writeProblem } from '../../core/domain/simulatedTool.ts';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import type { Tool } from '../../core/domain/tool.ts';
import type { Writes } from '../../core/events/event.ts';
import { numberFormsOf, type ToolCall } from '../../core/events/message.ts';
import { impossible } from '../../core/values/impossible.ts';
import { canonicalJson, type Json, type JsonObject } from '../../core/values/json.ts';
import { applyPatches, type Database, diffDatabases, type Patch, sameDatabase } from '../../core/world/database.ts';
import { Fault, messageOf } from '../files/fault.ts';
import type { ToolContext, ToolOutcome } from '../rollout/ports.ts';
import { changedRows, withRows, withSidedRows } from './rows.ts';
import type {
  Answer,
  CallAnswer,
  GivenArguments,
  HostedAnswer,
  PythonAnswer,
  Question,
  SimulatedAnswer,
  Stale,
} from './workerMessage.ts';

/** The number of answers that a model may give for a simulated tool before the rollout ends. */
const simulatorAttempts = 3;

/** The calls of one rollout that are made outside of its worker, and what it remembers for them. */
export class ExternalCalls {
  readonly #base: World;
  readonly #instance: 'gold' | undefined;
  readonly #ask: (about: Question) => Promise<Answer>;
  /** The world as the Python process has it; null when it has none of this rollout. */
  #known: World | null = null;
  /** The writes of the environment's `sync` after the call that led to this world. */
  #synced: { readonly world: World; readonly writes: Writes } | null = null;
  /** Results of reads since the last write, and the world that they were read from. */
  #reads: { readonly world: World; readonly results: Map<string, ToolOutcome> } | null = null;

  /** @param instance where the calls are made on another instance of an environment than those of the rollout */
  constructor(base: World, ask: (about: Question) => Promise<Answer>, instance?: 'gold') {
    this.#base = base;
    this.#instance = instance;
    this.#ask = ask;
  }

  /** Something is written: what was read before may be different now. */
  forget(): void {
    this.#reads = null;
  }

  async call(tool: Tool, { arguments: args, ...forms }: ToolCall, context: ToolContext): Promise<ToolOutcome> {
    const given: GivenArguments = { arguments: args as JsonObject, ...numberFormsOf(forms) };
    const { hosted } = sourceOf(tool);
    if (hosted !== null) return this.#callHosted(tool, hosted, given, context);
    if (!tool.cache || tool.effect === 'write') return this.#make(tool, given, context);
    const reads = this.#reads?.world === context.world ? this.#reads : { world: context.world, results: new Map() };
    this.#reads = reads;
    const key = canonicalJson([tool.name, given as JsonObject]);
    const known = reads.results.get(key);
    if (known) return known;
    const outcome = await this.#make(tool, given, context);
    if (!outcome.isError) reads.results.set(key, outcome);
    return outcome;
  }

  #make(tool: Tool, given: GivenArguments, context: ToolContext): Promise<ToolOutcome> {
    const { runs } = sourceOf(tool);
    switch (runs) {
      case 'inPython':
        return this.#callPython(tool, context);
      case 'byModel':
        return this.#callSimulated(tool, given.arguments, context);
      case 'atSource':
      // Only a gold action calls a tool of the worker here, and the supervisor refuses its question.
      case 'inWorker':
        return this.#callSource();
      default:
        return impossible('place of calls', runs);
    }
  }

  async #callSource(): Promise<ToolOutcome> {
    return { ...((await this.#ask({ type: 'tool' })) as CallAnswer), writes: [] };
  }

  /** Only rows travel: what the engine changed since the last call to the process, and back what the call changed. */
  async #callPython(tool: Tool, { world, random, step, filled }: ToolContext): Promise<ToolOutcome> {
    // The supervisor draws the seed of the call from the same stream. A gold action that has one is not shared.
    random.integer(1);
    const ask = () => {
      const changes = changedRows(this.#known ?? this.#base, world);
      const isFresh = this.#known === null;
      const question = { type: 'python', isFresh, changes, step, ...(filled ? { filled } : {}) } as const;
      return this.#ask(question) as Promise<PythonAnswer>;
    };
    const answer = await this.#unlessStale(ask);
    if ('refusal' in answer) return { content: answer.refusal, isError: true, writes: [] };
    const { content, isError, rows } = answer;
    const after = withRows(world, tool.owner, rows);
    this.#known = after.world;
    return { content, isError, writes: after.writes };
  }

  /** Returns the answer of a session in Python. It is begun again where the process no longer knows it. */
  async #unlessStale<Answer extends object>(ask: () => Promise<Answer>): Promise<Exclude<Answer, Stale>> {
    let answer = await ask();
    if ('isStale' in answer) {
      this.#known = null;
      answer = await ask();
    }
    if ('isStale' in answer) throw new Error('a session in Python that was begun is known');
    return answer as Exclude<Answer, Stale>;
  }

  async #callHosted(
    tool: Tool,
    environment: string,
    given: GivenArguments,
    { world, earlier = [] }: ToolContext,
  ): Promise<ToolOutcome> {
    const more = earlier.length > 0 ? { earlier } : {};
    const params = { tool: tool.name, by: tool.owner, ...given, ...more } as unknown as JsonObject;
    const { answer, writes } = await this.#askHosted(environment, 'call', params, world, tool.timeoutMs);
    const { content = '', isError = false, synced = [] } = answer;
    const before = this.#known ?? world;
    const after = withSidedRows(before, synced);
    this.#synced = { world: before, writes: after.writes };
    this.#known = after.world;
    return { content, isError, writes };
  }

  /** Returns what the `sync` of an environment writes; after a call its answer is there already. */
  async sync(environment: string, world: World): Promise<Writes> {
    const known = this.#synced;
    if (known && sameWorld(known.world, world)) return known.writes;
    return (await this.#askHosted(environment, 'sync', {}, world)).writes;
  }

  /** Returns what an environment writes for a task's own start. */
  async setUp(environment: string, data: Json, world: World): Promise<Writes> {
    return (await this.#askHosted(environment, 'set_up', { data }, world)).writes;
  }

  /** Returns what a function of an environment says about a world. */
  async saidBy(
    environment: string,
    call: { readonly tool: string; readonly by: string; readonly arguments: unknown },
    world: World,
  ): Promise<Json> {
    const params = { tool: call.tool, by: call.by, arguments: call.arguments as JsonObject };
    return (await this.#askHosted(environment, 'ask', params, world)).answer.said ?? null;
  }

  /** Only rows travel, both ways. The world of the rollout goes with the answer, as the environment then has it. */
  async #askHosted(
    environment: string,
    method: Extract<Question, { readonly type: 'hosted' }>['method'],
    params: JsonObject,
    world: World,
    timeoutMs?: number,
  ): Promise<{ readonly answer: Exclude<HostedAnswer, Stale>; readonly writes: Writes }> {
    const ask = () =>
      this.#ask({
        type: 'hosted',
        environment,
        method,
        params,
        ...(this.#instance ? { instance: this.#instance } : {}),
        isFresh: this.#known === null,
        changes: changedRows(this.#known ?? this.#base, world),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      }) as Promise<HostedAnswer>;
    const answer = await this.#unlessStale(ask);
    const after = withSidedRows(world, answer.rows);
    this.#known = after.world;
    this.#synced = null;
    return { answer, writes: after.writes };
  }

  /** A simulator that answers something impossible gets the reason and is asked again. */
  async #callSimulated(tool: Tool, args: JsonObject, { world }: ToolContext): Promise<ToolOutcome> {
    let problem = '';
    for (let attempt = 0; attempt < simulatorAttempts; attempt++) {
      const answer = (await this.#ask({ type: 'simulated' })) as SimulatedAnswer;
      const outcome = simulatedOutcome(tool, args, world, answer);
      if (!('problem' in outcome)) return outcome;
      problem = outcome.problem;
    }
    throw new Fault({
      who: 'environment',
      code: 'simulated/broken',
      message: `the model that simulates ${tool.name} gave no answer that can be used in ${simulatorAttempts} attempts; the last one: ${problem}`,
    });
  }
}

/** Returns what an answer of the model that simulates a tool comes to, or why it can't be used. */
export function simulatedOutcome(
  tool: Tool,
  args: JsonObject,
  world: World,
  answer: SimulatedAnswer,
): ToolOutcome | { readonly problem: string } {
  if ('problem' in answer) return answer;
  const { content, isError, writes } = answer;
  const { owner: side } = tool;
  const simulation = simulationOf(tool);
  if (isError && writes.length > 0) return { problem: 'an answer with an error writes nothing' };
  const problem = writes.map((patch) => writeProblem(tool, simulation, args, patch)).find((each) => each !== null);
  const patches = problem ?? fitting(world, side, writes);
  if (typeof patches === 'string') return { problem: patches };
  return { content, isError, writes: patches.length > 0 ? [{ side, patches: patches as never }] : [] };
}

function sameWorld(one: World, other: World): boolean {
  return one === other || (sameDatabase(one.agent, other.agent) && sameDatabase(one.user, other.user));
}

/** The patches with what they replace, or why they don't fit the database. */
function fitting(world: World, side: 'agent' | 'user', patches: readonly Patch[]): readonly Patch[] | string {
  try {
    return patchesTo(world[side], applyPatches(world[side], patches));
  } catch (error) {
    return messageOf(error);
  }
}

function patchesTo(before: Database, after: Database): readonly Patch[] {
  return diffDatabases(before, after).map(({ path, before: old, after: value }): Patch => {
    if (old === undefined) return { op: 'add', path, value: value as Json };
    return value === undefined ? { op: 'remove', path, old } : { op: 'replace', path, value, old };
  });
}
