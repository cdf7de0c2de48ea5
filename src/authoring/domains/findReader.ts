import type { Tool } from '../../engine/core/domain/tool.ts';
import type { Json, JsonObject } from '../../engine/core/values/json.ts';
import { comparable } from '../../engine/core/verifiers/volatile.ts';
import { patchesBetween } from '../../engine/core/world/difference.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import type { ToolSource } from '../../engine/shell/tools/toolSource.ts';

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

type Call = { readonly tool: string; readonly arguments: JsonObject };

/** Arguments of one call that are tried with another value. */
const mostAltered = 3;

/** More tools are not tried: a server with many read tools has one for its state among the first, or none. */
const mostCandidates = 12;

/**
 * Finds out how the state of a server is read: for each write, the tools that read are called before and after it on a
 * fresh server. The one whose result changes most often is the reader, one that answers with JSON first. A write that was
 * seen is made once more, on another server, to tell which fields differ from server to server. Null where no result
 * changes, or where the states differ in more than single fields. Each call that was seen is also made with other texts as
 * its arguments, because a list of names shows that something was made, and not what is in it. Where servers share their
 * state, the calls add up, so neither volatile fields nor arguments that are not shown are found.
 * @param start starts a fresh server
 * @param reads the tools that may show the state; one that needs more than a folder is not tried
 * @param writes calls that may change something; one that fails counts as no change
 * @param onProgress gets how many of the writes were made
 */
export async function findReader(
  start: () => Promise<ToolSource>,
  reads: readonly Tool[],
  writes: readonly Call[],
  onProgress: (done: number) => void = () => undefined,
): Promise<FoundReader | null> {
  let candidates = reads.flatMap((tool) => candidateOf(tool) ?? []).slice(0, mostCandidates);
  const rows = new Set<string>();
  const untouched = await observed(start, candidates, null, rows);
  candidates = untouched.map(({ call }) => call);
  const made: { readonly write: Call; readonly seen: readonly Seen[] }[] = [];
  for (const write of writes) {
    const seen = await observed(start, candidates, write, rows);
    candidates = candidates.filter(({ tool }) => seen.some(({ call }) => call.tool === tool));
    made.push({ write, seen });
    onProgress(made.length);
  }
  const seenBy = (call: Call, all: readonly Seen[]) =>
    all.flatMap((each) => (each.call !== call ? [] : rows.has(call.tool) ? withRows(each) : each))[0];
  const ranked = candidates
    .map((call) => {
      const shown = made.flatMap(({ write, seen }) => {
        const own = seenBy(call, seen);
        return own && isChanged(own) ? [{ write, after: own.after }] : [];
      });
      return { call, shown, isData: typeof shown[0]?.after === 'object' };
    })
    .toSorted((a, b) => Number(b.isData) - Number(a.isData) || b.shown.length - a.shown.length);
  for (const { call, shown } of ranked) {
    const [first] = shown;
    if (!first) continue;
    const again = seenBy(call, await observed(start, [call], first.write, rows));
    if (!again) continue;
    const starts = [untouched, made[0]?.seen ?? []].map((seen) => seenBy(call, seen)?.start ?? null);
    const isTyped = reads.some(({ name, outputSchema }) => name === call.tool && outputSchema !== undefined);
    const found = {
      ...call,
      shows: shown.map(({ write }) => write.tool),
      ...(!isTyped && [...starts, again.after].some(Array.isArray) ? { rows: true as const } : {}),
    };
    if (isShared([...starts, again.start])) return { ...found, volatile: [], misses: {}, isShared: true };
    const volatile = differingFields(first.after, again.after);
    if (volatile === null) continue;
    const misses = await unseenArguments(start, call, volatile, shown, rows);
    return { ...found, volatile, misses, isShared: false };
  }
  return null;
}

/** Returns states that were read before a result with several texts, or none, showed that each text is a row. */
function withRows({ call, start, again, after }: Seen): Seen {
  const rowsOf = (state: Json) => (state === null || Array.isArray(state) ? state : state === '' ? [] : [state]);
  return { call, start: rowsOf(start), again: rowsOf(again), after: rowsOf(after) };
}

type Shown = { readonly write: Call; readonly after: Json };

async function unseenArguments(
  start: () => Promise<ToolSource>,
  reader: Call,
  volatile: readonly string[],
  shown: readonly Shown[],
  rows: Set<string>,
): Promise<FoundReader['misses']> {
  const misses: Record<string, readonly string[]> = {};
  const textOf = (state: Json) => comparable([state], volatile).texts[0];
  for (const { write, after } of shown) {
    const names = Object.keys(write.arguments).filter((name) => typeof write.arguments[name] === 'string');
    const unseen: string[] = [];
    for (const name of names.slice(0, mostAltered)) {
      const altered = { ...write.arguments, [name]: `${write.arguments[name]} 2` };
      const [other] = await observed(start, [reader], { tool: write.tool, arguments: altered }, rows).catch(
        noneIfFault,
      );
      if (other && textOf(other.after) === textOf(after)) unseen.push(name);
    }
    if (unseen.length > 0) misses[write.tool] = unseen;
  }
  return misses;
}

/** Returns how a tool is called to show the state: with nothing, or with the folder of the instance. */
function candidateOf({ name, parameters }: Tool): Call | null {
  const required = (parameters['required'] ?? []) as readonly string[];
  if (required.length === 0) return { tool: name, arguments: {} };
  const [only = ''] = required;
  const isFolder = required.length === 1 && /path|dir|folder|root/i.test(only);
  return isFolder ? { tool: name, arguments: { [only]: '${instanceFolder}' } } : null;
}

/** The results of a candidate at the start, when called again, and after a write; null if the call fails. */
type Seen = { readonly call: Call; readonly start: Json; readonly again: Json; readonly after: Json };

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
 * Returns what the candidates answer on a fresh server around a write, or without one. One that ends the server is left
 * out, and the others are asked again.
 * @param rows gets the names of tools each text of whose results is a row
 */
async function observed(
  start: () => Promise<ToolSource>,
  candidates: readonly Call[],
  write: Call | null,
  rows: Set<string>,
): Promise<readonly Seen[]> {
  if (candidates.length === 0) return [];
  const source = await start();
  let asked: Call | null = null;
  const states = async () => {
    const found: Json[] = [];
    for (asked of candidates) {
      found.push(await stateBy(asked, source, rows).catch(noState));
    }
    asked = null;
    return found;
  };
  try {
    const [first, again] = [await states(), await states()];
    if (write) await source.call(write.tool, write.arguments);
    const after = await states();
    return candidates.map((call, at) => ({
      call,
      start: first[at] ?? null,
      again: again[at] ?? null,
      after: after[at] ?? null,
    }));
  } catch (error) {
    if (asked === null) throw error;
    return observed(
      start,
      candidates.filter((call) => call !== asked),
      write,
      rows,
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

/** A server that does not get past a call says nothing of it. */
function noneIfFault(error: unknown): readonly Seen[] {
  if (error instanceof Fault) return [];
  throw error;
}

/** Returns null for a tool whose result is an error. Rejects where the server itself has failed. */
function noState(error: unknown): null {
  if (error instanceof Fault && error.failure.code === 'mcp/reader') return null;
  throw error;
}

/**
 * Whether the answer changed in fields that do not differ without a write, as the time of day does. An answer that fails
 * after the write shows no state.
 */
function isChanged({ start, again, after }: Seen): boolean {
  if (after === null) return false;
  const own = differingFields(start, again);
  if (own === null) return false;
  const [before, later] = [again, after].map((state) => comparable([state], own).texts[0]);
  return before !== later;
}

/** The names of the fields in which two states differ, or null where they differ in another way. */
function differingFields(one: Json, other: Json): readonly string[] | null {
  const names = patchesBetween(one, other).map(({ path }) => path.findLast((key) => typeof key === 'string'));
  const fields = [...new Set(names.flatMap((name) => (typeof name === 'string' ? [name] : [])))];
  const [first, second] = [comparable([one], fields), comparable([other], fields)];
  return first.texts[0] === second.texts[0] ? fields : null;
}
