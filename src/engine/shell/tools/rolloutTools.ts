import { randomUUID } from 'node:crypto';
import { comparedFields } from '../../core/domain/comparedFields.ts';
import { type Domain, type DomainFile, declaredSource } from '../../core/domain/domain.ts';
import { comparisonOf } from '../../core/domain/fieldComparison.ts';
import type { Assertion, Task } from '../../core/domain/task.ts';
import { externalSource, type Tool } from '../../core/domain/tool.ts';
import type { EventOf, RolloutEvent } from '../../core/events/event.ts';
import { type NumberForms, numberFormsOf } from '../../core/events/message.ts';
import { withResults } from '../../core/events/quotedResults.ts';
import { excerpt } from '../../core/text/excerpt.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { exactJsonOf } from '../../core/values/largeIntegers.ts';
import { type Attachments, attachmentsOf } from '../../core/values/media.ts';
import { goldSource, takesRows, underSource } from '../../core/verifiers/assertions.ts';
import { comparable, differenceBetween } from '../../core/verifiers/volatile.ts';
import type { CheckedQuestion } from '../checkedFold/checkedQuestion.ts';
import type { Location } from '../files/diagnostic.ts';
import { cancelled, cancelledResult, Fault } from '../files/fault.ts';
import { misfitOf } from '../load/arguments.ts';
import { sentArguments } from '../load/exactErrors.ts';
import { mediaHash } from '../mcp/mediaHash.ts';
import type { CallAnswer, HostedAnswer, PythonAnswer } from '../workers/workerMessage.ts';
import { hostedSchema, parsedSchema, pythonCallSchema } from './bridgeAnswer.ts';
import type { SharedTools } from './sharedTools.ts';
import type { SourceResult, ToolSource } from './toolSource.ts';

type Asked<Type extends CheckedQuestion['type']> = Extract<CheckedQuestion, { readonly type: Type }>;
type Answered<T> = {
  readonly answer: T;
  readonly attempts: number;
  /** The mismatch between the result and the output schema of its tool. */
  readonly mismatch?: string | undefined;
  readonly changedTools?: boolean | undefined;
};

/** The tools outside the worker as one rollout has them: its own instance of every source. */
export class RolloutTools {
  readonly #shared: SharedTools;
  /** Names the rollout to the processes that serve many, and makes its idempotency keys unlike any other's. */
  readonly #session = randomUUID();
  /** Aborts when the rollout closes, which may be while its sources start. */
  readonly #closing = new AbortController();
  #opening: Promise<ReadonlyMap<string, ToolSource>> = Promise.resolve(new Map());
  #sources: ReadonlyMap<string, ToolSource> = new Map();
  #task: Task | null = null;
  /** The calls of the MCP servers with `state: replay`, in order, for a session that is taken up again. */
  #made: MadeCall[] = [];
  /** The last snapshot of each source. */
  readonly #saved = new Map<string, Json>();
  /** Sources with a write whose state is not kept: it was cut off, or its snapshot is not taken yet. */
  readonly #unsaved = new Set<string>();
  /** The start of each server whose shared state is compared with that after the gold actions. */
  readonly #starts = new Map<string, Json>();
  /** Lets the next rollout use the servers whose state is shared. */
  #endTurn: () => void = () => undefined;
  #usesPython = false;
  /** Sessions of this rollout, and the environments that have them. */
  readonly #hosted = new Map<string, string>();
  readonly #isWithin: boolean;

  /** @param isWithin whether another rollout's turn includes this one */
  constructor(shared: SharedTools, isWithin = false) {
    this.#shared = shared;
    this.#isWithin = isWithin;
  }

  /**
   * Starts a fresh instance of every source, with the task's own start. Rejects where the rollout closes meanwhile.
   * @param only the source that is started, without the others
   */
  async open(task: Task, only?: string): Promise<void> {
    await this.#closeSources();
    const { signal } = this.#closing;
    signal.throwIfAborted();
    this.#task = task;
    this.#shared.throwUnlessSetUpApproved(task);
    if (!this.#isWithin) this.#endTurn = await this.#shared.takeTurn(signal);
    if (signal.aborted) this.#endTurn();
    this.#opening = this.#shared.open(this.#session, task, signal, only);
    const sources = await this.#opening;
    signal.throwIfAborted();
    this.#sources = sources;
    this.#made = [];
    this.#saved.clear();
    this.#unsaved.clear();
    this.#starts.clear();
    for (const name of Object.keys(task.setUp ?? {}))
      if (name !== this.#shared.hosted?.name && name === (only ?? name)) await this.#setUp(name);
    if (this.#isWithin) return;
    for (const { in: name, sameAs } of task.assertions)
      if (sameAs === 'gold' && this.#sharesState(name)) this.#starts.set(name, await this.#source(name).read());
  }

  /** Whether all instances or sessions of a source work on one state. */
  #sharesState(name: string): boolean {
    const { mcpServers } = this.#shared.file;
    return Object.hasOwn(mcpServers, name) && mcpServers[name]?.sharedState === true;
  }

  /** Puts the task's own start on a source, if it has one. */
  async #setUp(name: string): Promise<void> {
    const task = this.#task;
    const data = task?.setUp?.[name];
    if (!task || data === undefined) return;
    await this.#placedAtSetUp(name, async () => {
      const source = this.#source(name);
      if (!source.setUp)
        throw unable(
          'task/set-up',
          `task ${task.id} sets up "${name}", which has nothing to set up. Remove setUp.${name} of the task`,
        );
      await source.setUp(data as Json);
    });
  }

  /** Sets up a source. A fault of the environment gets the place in the task: a person corrects it there. */
  async #placedAtSetUp<T>(name: string, setUp: () => Promise<T>): Promise<T> {
    try {
      return await setUp();
    } catch (error) {
      const at = this.#task && this.#shared.placeInTask(this.#task, 'setUp', name);
      if (!(error instanceof Fault) || error.failure.who !== 'environment' || !at) throw error;
      const { failure, reason, note } = error;
      throw new Fault({ ...failure, file: at.file, line: at.line }, { reason, note });
    }
  }

  /** Ends the sources for good, those that are starting too. Never rejects. */
  close(): Promise<void> {
    this.#closing.abort(cancelled());
    return this.#closeSources();
  }

  async #closeSources(): Promise<void> {
    const sources = await this.#opening.catch(() => new Map<string, ToolSource>());
    this.#sources = new Map();
    await Promise.all([...sources.values()].map((source) => source.close().catch(() => undefined)));
    const drop = { answer: parsedSchema, timeoutMs: 5000, what: 'forgetting a rollout' };
    if (this.#usesPython)
      await this.#shared.python?.request('drop', { session: this.#session }, drop).catch(() => undefined);
    this.#usesPython = false;
    for (const [session, environment] of this.#hosted)
      await this.#shared
        .environment(environment)
        .request('drop', { session }, drop)
        .catch(() => undefined);
    this.#hosted.clear();
    this.#endTurn();
  }

  /** A call of a tool whose state lies outside; with a snapshot of that state after a write. */
  async call(
    tool: Tool,
    asked: Asked<'tool'>,
    state: DomainFile['environments'][string]['state'] | undefined,
    signal: AbortSignal,
  ): Promise<Answered<CallAnswer>> {
    try {
      return await this.#call(tool, asked, state, signal);
    } catch (error) {
      // The write may have been executed although it has no result.
      if (tool.effect === 'write') this.#unsaved.add(asked.source);
      throw error;
    }
  }

  async #call(
    tool: Tool,
    { source: name, arguments: args, step, ...forms }: Asked<'tool'>,
    state: DomainFile['environments'][string]['state'] | undefined,
    signal: AbortSignal,
  ): Promise<Answered<CallAnswer>> {
    const source = this.#source(name);
    const key = tool.effect === 'write' || tool.idempotencyKey ? { idempotencyKey: this.#key(step) } : {};
    const options = { signal, timeoutMs: tool.timeoutMs, ...numberFormsOf(forms), ...key };
    const make = () => this.#inSession(name, () => source.call(tool.name, args, options));
    const { result, attempts } = await this.#shared.calls.make(tool, signal, make);
    const { content, isError, isUnchanged, mismatch, changedTools } = result;
    const made = { attempts, mismatch, changedTools };
    const answer = { content, isError, ...attachmentsOf(result) };
    this.#keep({ tool, source: name, args, forms: numberFormsOf(forms), result: answer });
    if (state !== 'snapshot') return { answer, ...made };
    // A tool may have written before it failed.
    if (tool.effect === 'write' && !isUnchanged) this.#unsaved.add(name);
    if (!this.#unsaved.has(name)) return { answer, ...made };
    const snapshot = result.snapshot ?? (await source.snapshot?.(signal)) ?? null;
    this.#unsaved.delete(name);
    this.#saved.set(name, snapshot);
    return { answer: { ...answer, saved: { source: name, snapshot } }, ...made };
  }

  #keep(call: MadeCall): void {
    if (this.#shared.file.mcpServers[call.source]?.state === 'replay') this.#made.push(call);
  }

  /** Asks a source, and again in a new session where the server no longer knows the old one: it refused the request. */
  async #inSession<T>(name: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Fault) || error.failure.code !== 'mcp/session') throw error;
      await this.#takeUp(name, error);
      return ask();
    }
  }

  /**
   * Opens a new session of an MCP server, and brings it to the state of the old one as a fork would. Throws the fault of the
   * lost session where that is not possible.
   */
  async #takeUp(name: string, lost: Fault): Promise<void> {
    const source = this.#source(name);
    const { state, sharedState } = this.#shared.file.mcpServers[name] ?? {};
    const saved = this.#saved.get(name);
    const cannotRestore = saved !== undefined && (saved === null || !source.restore);
    if (!source.renew || (!sharedState && (state === 'none' || cannotRestore))) throw lost;
    if (!sharedState && this.#unsaved.has(name)) {
      const message = `${lost.failure.message}. A new session would lack what a cancelled write changed`;
      throw new Fault({ ...lost.failure, message });
    }
    await source.renew();
    if (sharedState) return;
    await this.#setUp(name);
    if (saved !== undefined) await source.restore?.(saved, this.#closing.signal);
    for (const made of this.#made.filter((call) => call.source === name)) {
      const difference = await this.#repeat(made);
      if (difference === null) continue;
      const message = `${lost.failure.message}. In a new session, ${made.tool.name} answered differently when it was made again (${difference})`;
      throw new Fault({ ...lost.failure, message });
    }
  }

  /** Makes a call again. Returns how its result differs, or null. */
  async #repeat({ tool, source, args, forms, result }: MadeCall): Promise<string | null> {
    const now = await this.#callAgain(this.#source(source), tool, args, forms);
    return resultDifference(this.#shared.file, tool, result, now);
  }

  /** A call of a tool in Python that works on the engine's database. */
  async callPython(tool: Tool, asked: Asked<'python'>, signal: AbortSignal): Promise<Answered<PythonAnswer>> {
    const { python, calls } = this.#shared;
    if (!python)
      throw unable(
        'tool/missing',
        `the file with ${tool.name} and the other tools in Python is gone. Run the command again`,
      );
    const { arguments: args, floats, integers, isFresh, changes, now, seed, step } = asked;
    const misfit = misfitOf(tool, args, integers);
    if (misfit) return { answer: { refusal: `Error: ${misfit}` }, attempts: 1 };
    this.#usesPython = true;
    const session = this.#session;
    const params = {
      session,
      fresh: isFresh,
      changes,
      tool: tool.name,
      arguments: sentArguments(tool.parameters, args, integers),
      floats,
      now,
      seed,
      key: this.#key(step),
    };
    const call = { answer: pythonCallSchema, timeoutMs: tool.timeoutMs, what: tool.name, signal };
    const { result, attempts } = await calls.make(tool, signal, () => python.request('call', params, call));
    return { answer: 'stale' in result ? { isStale: true } : result, attempts };
  }

  /** Something that the environment does which works on the domain's database. */
  async askHosted(
    { environment, method, params, instance, isFresh, changes, timeoutMs = 30_000 }: Asked<'hosted'>,
    signal: AbortSignal,
  ): Promise<HostedAnswer> {
    const session = instance === undefined ? this.#session : `${this.#session} ${instance}`;
    this.#hosted.set(session, environment);
    const what = method === 'call' || method === 'ask' ? String(params['tool']) : method.replace('_', ' ');
    const sent = { session, fresh: isFresh, changes, ...params };
    const process = this.#shared.environment(environment);
    const ask = () => process.request(method, sent, { answer: hostedSchema, timeoutMs, what, signal });
    const answer = await (method === 'set_up' ? this.#placedAtSetUp(environment, ask) : ask());
    return 'stale' in answer ? { isStale: true } : answer;
  }

  /**
   * The state that assertions look into: of a source, `source:name` for what an assertion of it says, or `source after the
   * gold actions` for that of a fresh instance.
   */
  read(named: string): Promise<Json> {
    const gold = goldSource(named);
    if (gold !== null) return this.#readAfterGold(gold);
    const [name = '', assertion] = named.split(':', 2);
    const source = this.#source(name, () => this.#placeOfAssertions());
    if (assertion === undefined) {
      const isOwn = (each: Assertion) => each.in === name && takesRows(each);
      const ofRows = this.#task?.assertions.some(isOwn) ?? false;
      return this.#inSession(name, () => source.read(undefined, ofRows));
    }
    if (!source.assert)
      throw unable(
        'task/assertion',
        `"${name}" is not an environment, so it has no assertion ${assertion}. Check its state with path: or that:`,
        this.#placeOfAssertions(),
      );
    return source.assert(assertion);
  }

  #placeOfAssertions(): Location | undefined {
    return this.#task ? this.#shared.placeInTask(this.#task, 'assertions') : undefined;
  }

  /** Plays the gold actions on a fresh instance, and reads its state. An action that fails is passed over. */
  async #readAfterGold(name: string): Promise<Json> {
    const task = this.#task;
    if (!task) throw new Error('no rollout is open');
    const apart = new RolloutTools(this.#shared, true);
    try {
      // Another server may have one state for all, which the setUp of the task would bring to its start.
      await apart.open(task, name);
      const source = apart.#source(name, () => this.#placeOfAssertions());
      const start = this.#starts.get(name);
      if (start !== undefined) this.#requireStart(name, start, await source.read());
      const results: string[] = [];
      for (const action of task.actions) {
        const tool = source.tools.find((each) => each.name === action.tool);
        const { arguments: args, ...forms } = withResults(action, results);
        const result = tool && (await this.#callAgain(source, tool, args as JsonObject, numberFormsOf(forms)));
        if (result && !result.isError) results.push(result.content);
      }
      return await source.read();
    } catch (error) {
      if (!(error instanceof Fault) || error.failure.code !== 'mcp/shared-session') throw error;
      throw unable(
        'task/one-session',
        `sameAs: gold needs a second session for the gold actions, and "${name}" gives every client the same one. Compare its state with that: or path: in the assertions of the task`,
        this.#placeOfAssertions(),
      );
    } finally {
      await apart.close();
    }
  }

  /** Throws a `Fault` where the gold actions would be made on what the agent left of a shared state. */
  #requireStart(name: string, start: Json, now: Json): void {
    const { file } = this.#shared;
    const { volatile } = file.mcpServers[name] ?? {};
    const compare = comparisonOf(file);
    const [before = '', after = ''] = [start, now].map(
      (state) => comparable([underSource(name, state)], volatile, compare).texts[0],
    );
    const difference = differenceBetween(before, after, compare);
    if (difference === null) return;
    const advice = `Let setUp.${name}.calls of the task reset all of it, or compare its state with that: or path:`;
    throw unable(
      'task/shared-start',
      `sameAs: gold needs the state with which the rollout began, and the task does not reset "${name}" to it (${difference}). ${advice}`,
      this.#placeOfAssertions(),
    );
  }

  /**
   * Brings fresh sources to the state that a recording's prefix left. A snapshot is restored; with `replay` the
   * recorded calls are made again and every result is compared; `none` refuses as soon as a write was recorded.
   */
  async restore(domain: Domain, events: readonly RolloutEvent[]): Promise<void> {
    const stateOf = (name: string) => declaredSource(domain.file, name)?.state ?? 'none';
    for (const [name, source] of this.#sources) {
      if (stateOf(name) !== 'snapshot') continue;
      const saved = events.findLast((event) => event.type === 'sourceSaved' && event.source === name);
      if (saved?.type !== 'sourceSaved') continue;
      if (!source.restore)
        throw unable(
          'fork/no-restore',
          `cannot continue from here: "${name}" declares state: snapshot, but no restore:. Declare restore: { tool: NAME, argument: NAME }`,
          this.#shared.placeOfServer(name),
        );
      await source.restore(saved.snapshot as Json, this.#closing.signal);
      this.#saved.set(name, saved.snapshot as Json);
    }
    for (const call of recordedCalls(domain, events)) {
      const { tool, source: name, args, forms, isChanged } = call;
      const state = stateOf(name);
      if (state === 'snapshot') continue;
      if (state === 'none') {
        if (tool.effect === 'read') continue;
        const advice = 'Declare state: replay in domain.yaml if its calls can be made again';
        throw unable(
          'fork/no-state',
          `cannot continue from here: "${name}" declares state: none, and ${tool.name} changed it. ${advice}`,
          this.#shared.placeOfServer(name),
        );
      }
      if (tool.effect === 'write' && this.#sharesState(name) && this.#task?.setUp?.[name] === undefined)
        throw unable(
          'fork/shared-state',
          `cannot continue from here: "${name}" has one state for all rollouts, and the task does not reset it. Add setUp.${name}.calls to the task`,
          this.#shared.placeOfServer(name),
        );
      const result = await this.#callAgain(this.#source(name), tool, args, forms);
      this.#keep({ ...call, result });
      const difference = isChanged ? null : resultDifference(domain.file, tool, call.result, result);
      if (difference !== null)
        throw unable(
          'fork/mismatch',
          `cannot continue from here: ${tool.name} of "${name}" answered differently when it was made again (${difference}). If that differs each time, name the field, or the tool, under volatile: of the server`,
          this.#shared.placeOfServer(name),
        );
    }
  }

  /** Makes a call of the gold actions, or one that was made before, within the limits of its tool. */
  async #callAgain(source: ToolSource, tool: Tool, args: JsonObject, forms: NumberForms): Promise<SourceResult> {
    const options = { ...forms, ...(tool.idempotencyKey ? { idempotencyKey: randomUUID() } : {}) };
    const make = () => source.call(tool.name, args, options);
    return (await this.#shared.calls.make(tool, this.#closing.signal, make)).result;
  }

  #key(step: number): string {
    return `${this.#session}:${step}`;
  }

  /** @param locate finds where the source is named */
  #source(name: string, locate: () => Location | undefined = () => undefined): ToolSource {
    const found = this.#sources.get(name);
    if (found) return found;
    const names = [...this.#sources.keys()].join(', ');
    const advice = names === '' ? 'Declare it in domain.yaml' : `Name one of ${names}`;
    throw unable('source/unknown', `"${name}" is not a tool source. ${advice}`, locate());
  }
}

/** The parts of a result that are compared when a call is repeated. */
type Compared = Attachments & Pick<SourceResult, 'content' | 'isError'>;

type MadeCall = {
  readonly tool: Tool;
  readonly source: string;
  readonly args: JsonObject;
  readonly forms: NumberForms;
  readonly result: Compared;
};

type RecordedCall = MadeCall & {
  /** A seeded fault changed what came back, so it says nothing of the source. */
  readonly isChanged: boolean;
};

/** The calls of a recording that reached a source outside the worker, in order, without those that were cancelled. */
function recordedCalls(domain: Domain, events: readonly RolloutEvent[]): readonly RecordedCall[] {
  const found: RecordedCall[] = [];
  let call: EventOf<'toolCalled'>['call'] | null = null;
  let hasFault = false;
  for (const event of events) {
    if (event.type === 'toolCalled') [call, hasFault] = [event.call, false];
    if (event.type === 'faultInjected') hasFault = true;
    if (event.type !== 'toolReturned' || !call) continue;
    const { name, arguments: args } = call;
    const tool = domain.tools.find((each) => each.name === name);
    const source = tool ? externalSource(tool) : null;
    const isCancelled = event.isError && event.content === cancelledResult;
    // A fault that made an error of the call kept it from its source.
    if (!tool || source === null || typeof args === 'string' || isCancelled || (hasFault && event.isError)) continue;
    const forms = numberFormsOf(call);
    found.push({ tool, source, args: args as JsonObject, forms, result: event, isChanged: hasFault });
  }
  return found;
}

/** Returns how a result differs from an earlier one, up to what the domain declares as volatile; null if it does not. */
function resultDifference(file: DomainFile, tool: Tool, earlier: Compared, now: Compared): string | null {
  const { volatile, compare } = comparedFields(file, tool);
  if (volatile.includes(tool.name)) return null;
  const [one, other] = [earlier, now].map(
    (result) =>
      comparable([exactJsonOf(result.content) ?? result.content, restOf(result, earlier)], volatile, compare).texts,
  );
  const texts = `recorded: ${excerpt(earlier.content)}, now: ${excerpt(now.content)}`;
  for (const [at, text = ''] of (one ?? []).entries()) {
    const later = other?.[at] ?? '';
    if (text !== later) return differenceBetween(text, later, compare) ?? texts;
  }
  return null;
}

/**
 * Returns what a result has besides its text, without the places of media in it.
 * @param earlier a recording of an earlier version lacks the structured content, which is then not compared
 */
function restOf({ isError, media = [], structured = '' }: Compared, earlier: Compared): JsonObject {
  // The beginnings of two pictures are often the same, so messages would not show how they differ.
  const shown = media.map(({ line: _, ...rest }) => ({ ...rest, data: mediaHash(rest) }) as JsonObject);
  const data = earlier.structured === undefined ? {} : { structuredContent: exactJsonOf(structured) ?? null };
  return { isError, media: shown, ...data };
}

function unable(code: string, message: string, at?: Location): Fault {
  return new Fault({ who: 'environment', code, message, ...(at ? { file: at.file, line: at.line } : {}) });
}
