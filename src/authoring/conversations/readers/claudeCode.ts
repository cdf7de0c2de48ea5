import type { JsonObject } from '../../../engine/core/values/json.ts';
import type { ImportProblem, Read } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { LogFile } from '../logFile.ts';
import { objectOf, readMessage, textOf } from '../saidMessage.ts';
import { conversationOf, joinedItems, type PlacedRead } from '../transcript.ts';

type Entry = {
  readonly line: number;
  readonly object: JsonObject;
  readonly uuid: string;
  readonly parent: string | undefined;
};

/** Reads sessions of Claude Code: a line for each part of a message, which names the line before it. */
export const claudeCode: ConversationReader = {
  name: 'claude-code',
  label: 'Claude Code session',
  source: 'chats',
  keys: ['type', 'sessionId', 'uuid', 'message'],
  matches: (value) => {
    const { type, sessionId, message, uuid } = objectOf(value);
    return sessionId !== undefined && uuid !== undefined && (message !== undefined || type === 'system');
  },
  read: (logs) => joinedReads(logs.map(readSessions)),
};

function readSessions({ path: file, values }: LogFile): Read {
  const sessions = new Map<string, Entry[]>();
  for (const { value, line } of values) {
    const object = objectOf(value);
    const [session, uuid] = [textOf(object['sessionId']), textOf(object['uuid'])];
    if (session === undefined || uuid === undefined) continue;
    const parent = textOf(object['parentUuid'] ?? object['logicalParentUuid']);
    const entries = sessions.get(session) ?? [];
    entries.push({ line, object, uuid, parent });
    sessions.set(session, entries);
  }
  const notes: ImportProblem[] = [];
  const found = [...sessions].map(([id, entries]) => {
    const { line = 1 } = entries[0] ?? {};
    const own = entries.filter(({ object }) => object['isSidechain'] !== true);
    if (own.length < entries.length)
      notes.push({
        file,
        line,
        message: `session ${id}: ${entries.length - own.length} lines of subagents are left out`,
      });
    const chain = chainOf(own);
    const shown = new Set(chain);
    const left = own.filter((each) => isSpoken(each) && !shown.has(each)).length;
    if (left > 0)
      notes.push({ file, line, message: `session ${id}: ${left} lines of abandoned branches are left out` });
    const read = chain.filter(isSpoken).map(({ object, line: at }): PlacedRead => {
      return {
        ...readMessage(object['message'] ?? null, object['type'] === 'user' ? 'user' : 'agent'),
        line: at,
        path: `line ${at}`,
      };
    });
    return conversationOf({ file, line, id }, joinedItems(read));
  });
  return readOf(found, [], notes);
}

const isSpoken = ({ object: { type, message, isMeta } }: Entry) =>
  (type === 'user' || type === 'assistant') && message !== undefined && isMeta !== true;

/** The lines from the first to the last one, by the parents that they name. */
function chainOf(entries: readonly Entry[]): readonly Entry[] {
  const byId = new Map(entries.map((each) => [each.uuid, each]));
  const chain: Entry[] = [];
  const seen = new Set<Entry>();
  let at = entries.findLast(isSpoken);
  while (at && !seen.has(at)) {
    seen.add(at);
    chain.push(at);
    at = byId.get(at.parent ?? '');
  }
  return chain.toReversed();
}
