import { type ComparedFields, comparedFields } from '../../core/domain/comparedFields.ts';
import { readableSources } from '../../core/domain/domain.ts';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import { factOf, type Task } from '../../core/domain/task.ts';
import { externalSource, serverOf, type Tool } from '../../core/domain/tool.ts';
import type { Failure, RolloutEvent } from '../../core/events/event.ts';
import type { ToolCall } from '../../core/events/message.ts';
import type { AgentReply, UserReply } from '../../core/seats/seat.ts';
import { firstNames } from '../../core/text/counted.ts';
import { excerpt } from '../../core/text/excerpt.ts';
import { canonicalJson, type Json, type JsonObject } from '../../core/values/json.ts';
import { underSource } from '../../core/verifiers/assertions.ts';
import { renamingText } from '../../core/verifiers/database.ts';
import { comparable, differenceBetween, firstDifference, pairsOf } from '../../core/verifiers/volatile.ts';
import { placeOfTool } from '../checks/checkSources.ts';
import type { Diagnostic, Fix, Location } from '../files/diagnostic.ts';
import type { SideNote } from '../files/sideNote.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { tableOf } from '../load/tables.ts';
import type { Note } from '../source/note.ts';
import type { WorkerEvent } from '../workers/workerMessage.ts';
import type { Replayed } from './goldReplay.ts';
import { busyNote, type Stage } from './stage.ts';

/** A call of a tool, and the rollout up to it. */
export type Sample = {
  readonly tool: Tool;
  readonly task: Task;
  readonly arguments: JsonObject;
  readonly from: readonly RolloutEvent[];
  /** A task of the audit's own that also reads the state of the tool's source; null where no one can. */
  readonly reading: Task | null;
};

/** Calls of one tool that are tried at most. */
const samplesPerTool = 3;

/** Returns the largest number of samples that a domain can have. */
export function mostSamplesOf({ domain }: LoadedDomain): number {
  return samplesPerTool * domain.tools.filter((tool) => sourceOf(tool).isRepeatable).length;
}

/**
 * Calls of every tool of either seat: those of the gold rollouts, else one that is made up from its JSON Schema. What a
 * model simulates is never the same twice, so it is left out.
 */
export function samplesOf(loaded: LoadedDomain, replayed: readonly Omit<Replayed, 'second'>[]): readonly Sample[] {
  let count = 0;
  return loaded.domain.tools.flatMap((tool) => {
    if (!sourceOf(tool).isRepeatable) return [];
    const found = callsOf(tool, replayed);
    const calls = found.length > 0 ? found : madeUp(tool, loaded, replayed);
    return calls.map((call) => ({ ...call, reading: readingTask(loaded, tool, call.task, `audit-${count++}`) }));
  });
}

type Call = Omit<Sample, 'reading'>;

const replyOf = { agent: 'agentReplied', user: 'userReplied' } as const;

function callsOf(tool: Tool, replayed: readonly Omit<Replayed, 'second'>[]): readonly Call[] {
  const found = new Map<string, Call>();
  for (const { placed, first } of replayed) {
    for (const { n, event } of first.arrived) {
      if (event.type !== replyOf[tool.owner] || found.size >= samplesPerTool) continue;
      const call = (event.toolCalls as readonly ToolCall[] | undefined)?.find(({ name }) => name === tool.name);
      if (!call || typeof call.arguments === 'string') continue;
      const from = startFor(tool, first.arrived, n);
      const key = canonicalJson(call.arguments);
      if (!found.has(key)) found.set(key, { tool, task: placed.value, arguments: call.arguments, from });
    }
  }
  return [...found.values()];
}

/** Returns what keeps its state outside is started again, so its call is tried first thing. */
function startFor(tool: Tool, arrived: readonly WorkerEvent[], n: number): readonly RolloutEvent[] {
  const until = externalSource(tool) === null ? n : firstTurnOf(tool, arrived);
  return arrived.slice(0, until).map(({ event }) => event);
}

/** Number of the event with which the seat that may call a tool begins: the user speaks first, and is answered. */
function firstTurnOf({ owner }: Tool, arrived: readonly WorkerEvent[]): number {
  const opening = arrived.findIndex(({ type }) => type === 'userReplied');
  return owner === 'user' ? opening : opening + 1;
}

function madeUp(tool: Tool, loaded: LoadedDomain, replayed: readonly Omit<Replayed, 'second'>[]): readonly Call[] {
  const [played] = replayed;
  if (!played) return [];
  const { placed, first } = played;
  const from = startFor(tool, first.arrived, firstTurnOf(tool, first.arrived));
  return [{ tool, task: placed.value, arguments: argumentsFor(tool, loaded), from }];
}

/** Arguments that a call may have: what users of the domain say under the same name, a row, or any value. */
function argumentsFor({ parameters }: Tool, { tasks, world }: LoadedDomain): JsonObject {
  const { properties = {}, required = [] } = parameters as {
    readonly properties?: Readonly<Record<string, { readonly type?: string; readonly enum?: readonly Json[] }>>;
    readonly required?: readonly string[];
  };
  const values = required.map((name): [string, Json] => {
    const { type, enum: allowed } = properties[name] ?? {};
    const fact = tasks.map(({ user }) => user.known[name]).find((each) => each !== undefined);
    const row = Object.keys(tableOf(name, world)?.rows ?? {})[0];
    if (allowed?.[0] !== undefined) return [name, allowed[0]];
    if (fact !== undefined) return [name, factOf(fact).value];
    if (type === 'number' || type === 'integer') return [name, 1];
    if (type === 'boolean') return [name, true];
    if (type === 'array') return [name, []];
    return [name, type === 'object' ? {} : (row ?? 'x')];
  });
  return Object.fromEntries(values);
}

function readingTask({ file }: LoadedDomain, tool: Tool, task: Task, id: string): Task | null {
  const source = externalSource(tool);
  if (source === null || tool.effect === 'write') return null;
  if (!readableSources(file).includes(source)) return null;
  const assertions = [{ in: source, path: 'state', exists: true }];
  return { ...task, id, assertions, evaluate: ['assertions'], train: ['assertions'] };
}

/** The result of a call that was made twice in one rollout. */
export type Repeated = {
  /** The events of the first call, for a comparison up to ids. */
  readonly events: readonly Json[];
  /** The world after each of the two calls, both of its sides in step, where both succeeded. */
  readonly states: readonly [string, string] | null;
  readonly content: string;
  /** Why a call has no result, as where its tool does not come back. */
  readonly failure: Failure | null;
  /** The mismatch between the result of a call and the output schema of its tool. */
  readonly mismatch: string | null;
};

/** Makes a sample's call twice, and ends. */
export async function repeat(stage: Stage, { tool, task, arguments: args, from }: Sample): Promise<Repeated> {
  const call = (turn: number): ToolCall => ({ id: `audit_${turn}`, name: tool.name, arguments: args });
  const mismatches: string[] = [];
  const onNote = ({ mismatch }: SideNote) => void (mismatch !== undefined && mismatches.push(mismatch));
  const { arrived, failure } = await stage.play({ task, from, onNote, ...calling(tool, [call(0), call(1)]) });
  const [one, other] = [made(arrived, 'audit_0'), made(arrived, 'audit_1')];
  const succeeded = [one, other].every(({ result }) => result && !result.isError);
  return {
    events: one.events as unknown as readonly Json[],
    states: succeeded ? [one.state, other.state] : null,
    content: one.result?.content ?? '',
    failure: one.result && other.result ? null : failure,
    mismatch: mismatches[0] ?? null,
  };
}

/** Returns what a call did: its writes and its result, and the hash of the world when both sides are in step again. */
function made(arrived: readonly WorkerEvent[], id: string) {
  const own = arrived.filter(
    ({ event }) => (event.type === 'databaseWritten' || event.type === 'toolReturned') && event.callId === id,
  );
  const last = own.at(-1);
  const result = last?.event.type === 'toolReturned' ? last.event : null;
  const synced = last && arrived[last.n + 1];
  const state = (synced?.type === 'worldSynced' ? synced : last)?.state ?? '';
  return { events: own.map(({ event }) => event), result, state };
}

/** Seats of which the one that may call a tool makes these calls, one in a turn, before the conversation ends. */
function calling({ owner }: Tool, calls: readonly ToolCall[]) {
  const byUser = owner === 'user' ? calls : [];
  const byAgent = owner === 'user' ? [] : calls;
  return {
    agent: (turn: number): AgentReply => {
      const toolCalls = byAgent.slice(turn, turn + 1);
      return { content: toolCalls.length > 0 ? null : 'Done.', toolCalls };
    },
    user: (turn: number): UserReply => {
      const toolCalls = byUser.slice(turn, turn + 1);
      return toolCalls.length > 0 ? { content: '', stop: null, toolCalls } : { content: 'Bye.', stop: 'done' };
    },
  };
}

/** Whether a call that is declared as a read changes the state of its source; null where that is unknown. */
export async function changesSource(
  stage: Stage,
  { tool, arguments: args, reading }: Sample,
  { volatile, compare }: ComparedFields,
): Promise<boolean | null> {
  if (!reading) return null;
  const stateAfter = async (calls: readonly ToolCall[]) => {
    const { arrived } = await stage.play({ task: reading, agent: calling(tool, calls).agent });
    const read = arrived.findLast(({ type }) => type === 'sourceRead')?.event;
    if (read?.type !== 'sourceRead') return null;
    return comparable([underSource(read.source, read.state as Json)], volatile, compare).texts[0] ?? null;
  };
  const [before, after] = [
    await stateAfter([]),
    await stateAfter([{ id: 'audit_0', name: tool.name, arguments: args }]),
  ];
  return before === null || after === null ? null : firstDifference(before, after, compare) !== null;
}

export type Tried = {
  readonly sample: Sample;
  readonly one: Repeated;
  readonly other: Repeated;
  readonly changes: boolean | null;
};

type ToolContext = {
  /** Servers with a name under `volatile:` that fits no field, and that name. */
  readonly misspelt: ReadonlyMap<string, string>;
  /** Returns the tasks whose gold actions call a tool and whose gold rollout does not have the reward 1. */
  readonly unrewarded: (tool: string) => readonly string[];
};

/**
 * Returns what calls that were made twice say about their tools. Gives the names of those that something is wrong with.
 */
export function noteTools(
  loaded: LoadedDomain,
  tried: readonly Tried[],
  { misspelt, unrewarded }: ToolContext,
  note: Note,
): ReadonlySet<string> {
  const bad = new Set<string>();
  const ambient = new Set<Diagnostic>();
  for (const { sample, one, other, changes } of tried) {
    const { tool } = sample;
    if (bad.has(tool.name)) continue;
    const at = placeOfTool(loaded.parts, tool);
    const fields = comparedFields(loaded.file, tool);
    const difference = fields.volatile.includes(tool.name) ? null : differenceOf(one, other, fields);
    const wrong = misspelt.get(externalSource(tool) ?? '');
    const spelling = wrong === undefined ? null : `First correct ${wrong} under volatile: of its server.`;
    const call = `${tool.name}(${JSON.stringify(sample.arguments)})`;
    if (one.mismatch !== null) noteMismatch(at, call, one.mismatch, note);
    const failure = one.failure ?? other.failure;
    if (failure !== null) {
      bad.add(tool.name);
      const message = `${call} has no result: ${failure.message}.${busyNote(failure)}`;
      note(
        at,
        'error',
        'tool/no-result',
        message,
        'Correct the tool or its server. A rollout that makes such a call has no reward.',
      );
    } else if (changes || (tool.effect === 'read' && /a read tool may not write/.test(one.content))) {
      bad.add(tool.name);
      const message = `${tool.name} is declared as a read, but ${call} changes ${changes ? 'the state of its source' : 'the database'}.`;
      const hint =
        externalSource(tool) === null
          ? 'Declare its effect as write.'
          : `List it under writes: of its server${serverOf(tool) !== null ? ', or list what differs under volatile: if the state differs at each start of the server' : ''}.`;
      note(at, 'error', 'tool/undeclared-write', message, (changes && spelling) || hint, writeFix(loaded, tool));
    } else if (difference !== null) {
      bad.add(tool.name);
      const message = `${call} returned a different result when it was repeated on the same database: ${difference}.`;
      const cause = serverOf(tool) === null ? ambientIn(loaded, at) : null;
      const tasks = unrewarded(tool.name);
      const lost = tasks.length === 0 ? '' : ` The gold seat does not get reward 1 in ${firstNames(tasks)}.`;
      if (cause === null) note(at, 'error', 'tool/not-repeatable', message, spelling ?? repeatHint(tool, one.content));
      else if (!ambient.has(cause)) {
        ambient.add(cause);
        note(cause, 'error', cause.code, `${cause.message} ${message}${lost}`, cause.hint ?? '');
      }
    } else if (tool.idempotent && tool.effect === 'write' && one.states && one.states[0] !== one.states[1]) {
      bad.add(tool.name);
      const message = `${tool.name} is declared idempotent, but ${call} made twice changes the database twice.`;
      const hint = 'Remove `idempotent`: an interrupted call would be repeated.';
      note(at, 'error', 'tool/not-repeatable', message, hint);
    }
  }
  return bad;
}

/**
 * Returns the finding about code that reads the clock or random numbers: in the tool, or else anywhere, where it can be in
 * a function that the tool calls. Null without one.
 */
function ambientIn({ diagnostics, parts: { scan } }: LoadedDomain, { file, line }: Location): Diagnostic | null {
  const found = diagnostics.filter(({ code }) => code === 'tool/ambient');
  const starts = [...scan.tools.values()].filter((each) => each.file === file && each.line > line);
  const end = Math.min(...starts.map((each) => each.line));
  const own = found.find((each) => each.file === file && each.line >= line && each.line < end);
  return own ?? found[0] ?? null;
}

/** Returns how to make two results of a tool comparable. */
function repeatHint(tool: Tool, content: string): string {
  const { name, effect } = tool;
  if (serverOf(tool) === null)
    return 'Use now, random and id of its context, and keep state between calls only in the database.';
  const write = effect === 'read' ? ' List it under writes: if it changes something.' : '';
  // Fields are only looked for in data.
  const isData = /^\s*[[{]/.test(content);
  return isData
    ? `List the field that differs under volatile: of its server, or ${name} if its whole result differs.${write}`
    : `List ${name} under volatile: of its server. Its result is a text without fields.${write}`;
}

function noteMismatch(at: Location, call: string, mismatch: string, note: Note): void {
  const message = `The result of ${call}: ${mismatch}.`;
  const hint = 'Correct the server. Until then, the agent gets the result as it is.';
  note(at, 'warning', 'tool/output-mismatch', message, hint);
}

/** Returns what a call did differently, up to ids that it created and volatile fields, and which id is which; or null. */
function differenceOf(one: Repeated, other: Repeated, { volatile, compare }: ComparedFields): string | null {
  if (one.events.length === 0 || other.events.length === 0) return null;
  const [first, second] = [comparable(one.events, volatile, compare), comparable(other.events, volatile, compare)];
  const at = first.texts.findIndex((text, n) => firstDifference(text, second.texts[n] ?? '', compare) !== null);
  if (at < 0 && first.texts.length === second.texts.length) return null;
  // The content is what a person knows of a call; the field is named where the content is too long to see it.
  const field = differenceBetween(first.texts[at] ?? '', second.texts[at] ?? '', compare);
  const contents = `${excerpt(one.content)}, then ${excerpt(other.content)}`;
  const where = field === null || Math.max(one.content.length, other.content.length) <= 60 ? '' : ` (${field})`;
  return `${contents}${where}${renamingText(pairsOf(first, second))}`;
}

function writeFix({ parts }: LoadedDomain, { name }: Tool): Fix | undefined {
  const at = parts.scan.declared.get(name)?.effectAt;
  return at ? { title: `Declare ${name} as a write`, edits: [{ ...at, text: 'write' }] } : undefined;
}
