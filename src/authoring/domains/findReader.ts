import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { comparable } from '../../engine/core/verifiers/volatile.ts';
import { patchesBetween } from '../../engine/core/world/difference.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import type { ToolSource } from '../../engine/shell/tools/toolSource.ts';
import type { Call, CallPlan, Candidate, PlannedWrite } from './callPlan.ts';

/** A read tool whose result showed what writes changed. */
export type FoundReader = {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Names of the fields that differed between two fresh servers. */
  readonly volatile: readonly string[];
  /** Names of the tools whose calls changed its result. */
  readonly shows: readonly string[];
  /** The arguments, by tool, whose value its result does not show: another value led to the same state. */
  readonly misses: Readonly<Record<string, readonly string[]>>;
  /** Whether a fresh server showed what had been written before it was started. */
  readonly isShared: boolean;
  /** Whether each text of its result is a row. */
  readonly rows?: true;
};

/** A read tool whose result differs in more than single fields without a reason in the calls, as a text with ids does. */
export type UnsteadyReader = {
  readonly tool: string;
  /** Names of the tools whose calls changed its result; empty where it differs without a call. */
  readonly shows: readonly string[];
  readonly isText: boolean;
};

/** The reader of a state, or else a tool that may show the state and whose results cannot be compared. */
export type ReaderSearch = { readonly reader: FoundReader | null; readonly unsteady: UnsteadyReader | null };

/**
 * Finds out how the state of a server is read: for each write, the candidates are called before and after it on a
 * fresh server. The one whose result changes most often is the reader, one that answers with JSON first. A write that was
 * seen is made once more, on another server, to tell which fields differ from server to server. No reader is found
 * where no result changes, or where the states differ in more than single fields. Each call that was seen is also made with other texts as
 * its arguments, because a list of names shows that something was made, and not what is in it. Where servers share their
 * state, the calls add up, so neither volatile fields nor arguments that are not shown are found. Only calls of the plan
 * are made: a write twice at most, and an altered write once.
 * @param start starts a fresh server
 * @param plan a write that fails counts as no change
 * @param onProgress gets how many of the writes were made
 */
export async function findReader(
  start: () => Promise<ToolSource>,
  plan: Pick<CallPlan, 'candidates' | 'writes'>,
  onProgress: (done: number) => void = () => undefined,
): Promise<ReaderSearch> {
  const rows = new Set<string>();
  const untouched = await observed(start, plan.candidates, null, rows);
  let candidates = untouched.map(({ call }) => call);
  const made: { readonly write: PlannedWrite; readonly seen: readonly Seen[] }[] = [];
  for (const write of plan.writes) {
    const seen = await observed(start, candidates, write, rows);
    candidates = candidates.filter((call) => seen.some((each) => each.call === call));
    made.push({ write, seen });
    onProgress(made.length);
  }
  const seenBy = (call: Candidate, all: readonly Seen[]) =>
    all.flatMap((each) => (each.call !== call ? [] : rows.has(call.tool) ? withRows(each) : each))[0];
  const ranked = candidates
    .map((call) => {
      const own = seenBy(call, untouched);
      const ownFields = own ? differingFields(own.before, own.after) : null;
      const shown = made.flatMap(({ write, seen }) => {
        const around = seenBy(call, seen);
        return around && isChanged(around, ownFields) ? [{ write, after: around.after }] : [];
      });
      return { call, shown, isData: typeof shown[0]?.after === 'object' };
    })
    .toSorted((a, b) => Number(b.isData) - Number(a.isData) || b.shown.length - a.shown.length);
  const repeated = new Map<PlannedWrite, readonly Seen[]>();
  const differing = untouched.find(({ before, after }) => differingFields(before, after) === null);
  let unsteady: UnsteadyReader | null = null;
  for (const { call, shown } of ranked) {
    const [first] = shown;
    if (!first) continue;
    const sameFirst = ranked.filter((each) => each.shown[0]?.write === first.write).map((each) => each.call);
    const repetition = repeated.get(first.write) ?? (await observed(start, sameFirst, first.write, rows));
    repeated.set(first.write, repetition);
    const again = seenBy(call, repetition);
    if (!again) continue;
    const starts = [untouched, made[0]?.seen ?? []].map((seen) => seenBy(call, seen)?.before ?? null);
    const { isTyped, ...reader } = call;
    const found = {
      ...reader,
      shows: shown.map(({ write }) => write.tool),
      ...(!isTyped && [...starts, again.after].some(Array.isArray) ? { rows: true as const } : {}),
    };
    if (isShared([...starts, again.before]))
      return { reader: { ...found, volatile: [], misses: {}, isShared: true }, unsteady: null };
    const volatile = differingFields(first.after, again.after);
    if (volatile === null) {
      unsteady ??= { tool: call.tool, shows: found.shows, isText: typeof again.after === 'string' };
      continue;
    }
    const misses = await unseenArguments(start, call, volatile, shown, rows);
    return { reader: { ...found, volatile, misses, isShared: false }, unsteady: null };
  }
  const { call, after } = differing ?? {};
  unsteady ??= call ? { tool: call.tool, shows: [], isText: typeof after === 'string' } : null;
  return { reader: null, unsteady };
}

/** Returns states that were read before a result with several texts, or none, showed that each text is a row. */
function withRows({ call, before, after }: Seen): Seen {
  const rowsOf = (state: Json) => (state === null || Array.isArray(state) ? state : state === '' ? [] : [state]);
  return { call, before: rowsOf(before), after: rowsOf(after) };
}

type Shown = { readonly write: PlannedWrite; readonly after: Json };

async function unseenArguments(
  start: () => Promise<ToolSource>,
  reader: Candidate,
  volatile: readonly string[],
  shown: readonly Shown[],
  rows: Set<string>,
): Promise<FoundReader['misses']> {
  const misses: Record<string, readonly string[]> = {};
  const textOf = (state: Json) => comparable([state], volatile).texts[0];
  for (const { write, after } of shown) {
    const unseen: string[] = [];
    for (const altered of write.altered) {
      const other = await stateAfter(start, altered, reader, rows);
      if (other !== undefined && textOf(other) === textOf(after)) unseen.push(altered.argument);
    }
    if (unseen.length > 0) misses[write.tool] = unseen;
  }
  return misses;
}

/** Returns the state of a fresh server after a write; undefined if the server fails. */
async function stateAfter(
  start: () => Promise<ToolSource>,
  write: Call,
  reader: Candidate,
  rows: Set<string>,
): Promise<Json | undefined> {
  let source: ToolSource | undefined;
  try {
    source = await start();
    await source.call(write.tool, write.arguments);
    return await stateBy(reader, source, rows);
  } catch (error) {
    return noState(error);
  } finally {
    await source?.close();
  }
}

/** The results of a candidate before and after a write; null if the call fails. */
type Seen = { readonly call: Candidate; readonly before: Json; readonly after: Json };

/**
 * Whether a server that is started after writes shows another state than servers that were started before them.
 * @param starts the state at the start of servers; the first two were started before any write
 */
function isShared([one = null, other = null, ...later]: readonly Json[]): boolean {
  const own = differingFields(one, other);
  if (own === null) return false;
  const textOf = (state: Json) => comparable([state], own).texts[0];
  return later.some((state) => textOf(state) !== textOf(other));
}

/**
 * Returns what the candidates answer on a fresh server around a write, or twice without one. One that ends the server
 * before the write is left out, and the others are asked again. One that ends it after the write is left out as well, but
 * the write is not made again, so those that were not asked yet show nothing.
 * @param rows gets the names of tools each text of whose results is a row
 */
async function observed(
  start: () => Promise<ToolSource>,
  candidates: readonly Candidate[],
  write: Call | null,
  rows: Set<string>,
): Promise<readonly Seen[]> {
  if (candidates.length === 0) return [];
  const source = await start();
  const states = async () => {
    const found: Json[] = [];
    for (const asked of candidates) {
      const state = await stateBy(asked, source, rows).catch(noState);
      if (state === undefined) return { found, ended: asked };
      found.push(state);
    }
    return { found, ended: null };
  };
  const without = (call: Candidate) => candidates.filter((each) => each !== call);
  try {
    const before = await states();
    if (before.ended) return observed(start, without(before.ended), write, rows);
    if (write) await source.call(write.tool, write.arguments);
    const after = await states();
    if (after.ended && !write) return observed(start, without(after.ended), write, rows);
    return candidates.flatMap((call, at) =>
      call === after.ended ? [] : { call, before: before.found[at] ?? null, after: after.found[at] ?? null },
    );
  } finally {
    await source.close();
  }
}

/** Reads the state by a call, as rows where its result is unclear without that declaration. */
async function stateBy(call: Call, source: ToolSource, rows: Set<string>): Promise<Json> {
  try {
    return await source.read(rows.has(call.tool) ? { ...call, rows: true } : call);
  } catch (error) {
    if (!(error instanceof Fault) || error.failure.code !== 'mcp/unclear-rows') throw error;
    rows.add(call.tool);
    return source.read({ ...call, rows: true });
  }
}

/** Returns null for a tool whose result is an error, and undefined where the server itself has failed. */
function noState(error: unknown): null | undefined {
  if (!(error instanceof Fault)) throw error;
  return error.failure.code === 'mcp/reader' ? null : undefined;
}

/**
 * Whether the answer changed in other fields than those that differ without a write, as the time of day does. An answer
 * that fails after the write shows no state.
 */
function isChanged({ before, after }: Seen, own: readonly string[] | null): boolean {
  if (after === null || own === null) return false;
  const [one, other] = [before, after].map((state) => comparable([state], own).texts[0]);
  return one !== other;
}

/** The names of the fields in which two states differ, or null where they differ in another way. */
function differingFields(one: Json, other: Json): readonly string[] | null {
  const names = patchesBetween(one, other).map(({ path }) => path.findLast((key) => typeof key === 'string'));
  const fields = [...new Set(names.flatMap((name) => (typeof name === 'string' ? [name] : [])))];
  const [first, second] = [comparable([one], fields), comparable([other], fields)];
  return first.texts[0] === second.texts[0] ? fields : null;
}
