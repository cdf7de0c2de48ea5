import type { JsonObject } from '../../../engine/core/values/json.ts';
import type { ImportProblem, Read } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { LogFile } from '../logFile.ts';
import { listIn, objectOf, readMessage, textOf } from '../saidMessage.ts';
import { conversationOf, joinedItems, type PlacedRead } from '../transcript.ts';

type Entry = {
  readonly line: number;
  readonly object: JsonObject;
  readonly uuid: string;
  readonly parent: string | undefined;
};

/**
 * Reads sessions of Claude Code: a line for each part of a message, which names the line before it. What `claude -p` prints
 * as `stream-json` has the same lines without these names, in order.
 */
export const claudeCode: ConversationReader = {
  name: 'claude-code',
  label: 'Claude Code session',
  source: 'chats',
  keys: ['type', 'sessionId', 'uuid', 'message'],
  isWhole: true,
  matches: (value) => {
    const { type, sessionId, session_id, message, uuid, subtype } = objectOf(value);
    if (sessionId !== undefined) return uuid !== undefined && (message !== undefined || type === 'system');
    return session_id !== undefined && (Array.isArray(objectOf(message)['content']) || textOf(subtype) === 'init');
  },
  read: (logs) => joinedReads(logs.map(readSessions)),
};

function readSessions({ path: file, values }: LogFile): Read {
  const sessions = new Map<string, Entry[]>();
  for (const [index, { value, line }] of values.entries()) {
    const object = objectOf(value);
    const session = textOf(object['sessionId'] ?? object['session_id']);
    const uuid = textOf(object['uuid']) ?? (object['session_id'] === undefined ? undefined : `line ${index}`);
    if (session === undefined || uuid === undefined) continue;
    const parent = textOf(object['parentUuid'] ?? object['logicalParentUuid']);
    const entries = sessions.get(session) ?? [];
    entries.push({ line, object, uuid, parent });
    sessions.set(session, entries);
  }
  const notes: ImportProblem[] = [];
  const found = [...sessions].map(([id, entries]) => {
    const { line = 1 } = entries[0] ?? {};
    const note = (count: number, what: string) => {
      if (count > 0) notes.push({ file, line, message: `session ${id}: ${count} lines of ${what} are left out` });
    };
    const own = entries.filter((each) => !isOfSubagent(each));
    const said = own.filter((each) => each.object['isApiErrorMessage'] !== true);
    const chain = chainOf(said);
    const shown = new Set(chain);
    note(entries.length - own.length, 'subagents');
    note(own.length - said.length, 'failed requests');
    note(said.filter((each) => isSpoken(each) && !shown.has(each)).length, 'abandoned branches');
    note(chain.filter(isOfProgram).length, 'the program, in the name of the user,');
    const spoken = chain.filter((each) => isSpoken(each) && !isOfProgram(each));
    return conversationOf({ file, line, id }, joinedItems(spoken.map(readEntry)));
  });
  return readOf(found, [], notes);
}

const isOfSubagent = ({ object }: Entry) =>
  object['isSidechain'] === true || textOf(object['parent_tool_use_id']) !== undefined;

const messageOf = ({ object }: Entry) => objectOf(object['message']);

/** Returns what a person typed while the agent worked. */
const queuedIn = ({ object }: Entry) =>
  object['type'] === 'attachment' ? textOf(objectOf(object['attachment'])['prompt']) : undefined;

const isSpoken = (entry: Entry) => {
  const { type, message, isMeta } = entry.object;
  return ((type === 'user' || type === 'assistant') && message !== undefined && isMeta !== true) || queuedIn(entry);
};

/** Reports whether a line is in the user's name and not of the user: a summary of earlier lines, or output of a command. */
const isOfProgram = (entry: Entry) => {
  const { content } = messageOf(entry);
  const isOutput = typeof content === 'string' && /^\s*<local-command-(?:stdout|stderr)>/.test(content);
  return entry.object['type'] === 'user' && (entry.object['isCompactSummary'] === true || isOutput);
};

function readEntry(entry: Entry): PlacedRead {
  const { object, line } = entry;
  const queued = queuedIn(entry);
  const isUsers = object['type'] === 'user' || queued !== undefined;
  const message = queued === undefined ? (object['message'] ?? null) : { content: queued };
  return { ...readMessage(message, isUsers ? 'user' : 'agent'), line, path: `line ${line}` };
}

/**
 * Returns the lines from the first to the last one, by the parents that they name. Some versions name lines that were
 * never written: the line before is the parent then.
 */
function chainOf(entries: readonly Entry[]): readonly Entry[] {
  if (entries.every(({ parent }) => parent === undefined) && entries.some(({ object }) => 'session_id' in object))
    return entries;
  const byId = new Map(entries.map((each) => [each.uuid, each]));
  const places = new Map(entries.map((each, place) => [each, place]));
  const seen = new Set<Entry>();
  let at = entries.findLast(isSpoken);
  while (at && !seen.has(at)) {
    seen.add(at);
    const { parent } = at;
    at = parent === undefined ? undefined : (byId.get(parent) ?? entries[(places.get(at) ?? 0) - 1]);
  }
  return wholeOf(seen, entries);
}

/**
 * Adds the lines beside a chain that are of its messages: calls that are made together have a line each, and each of their
 * results names the line of its own call.
 */
function wholeOf(chain: ReadonlySet<Entry>, entries: readonly Entry[]): readonly Entry[] {
  const ids = new Set([...chain].flatMap((each) => textOf(messageOf(each)['id']) ?? []));
  const own = new Set(entries.filter((each) => chain.has(each) || ids.has(textOf(messageOf(each)['id']) ?? '')));
  const calls = new Set([...own].flatMap((each) => blocksIn(each, 'tool_use', 'id')));
  const isResult = (each: Entry) => blocksIn(each, 'tool_result', 'tool_use_id').some((id) => calls.has(id));
  const all = entries.filter((each) => own.has(each) || isResult(each));
  const firsts = new Map<string, number>();
  const places = all.map((each, index) => {
    const id = textOf(messageOf(each)['id']);
    if (id === undefined) return index;
    firsts.set(id, firsts.get(id) ?? index);
    return firsts.get(id) ?? index;
  });
  return all
    .map((entry, index) => ({ entry, place: places[index] ?? index }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ entry }) => entry);
}

function blocksIn(entry: Entry, type: string, key: string): readonly string[] {
  const blocks = listIn(messageOf(entry)['content']).map(objectOf);
  return blocks.flatMap((block) => (block['type'] === type ? (textOf(block[key]) ?? []) : []));
}
