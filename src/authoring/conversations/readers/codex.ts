import { type Json, type JsonObject, withoutNulls } from '../../../engine/core/values/json.ts';
import type { ImportProblem, Read } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { LogFile } from '../logFile.ts';
import { objectOf, type ReadMessage, textOf } from '../saidMessage.ts';
import { conversationOf, joinedItems, type PlacedRead } from '../transcript.ts';
import { readItem } from './openaiResponses.ts';

/** Reads sessions of Codex: items of the Responses API in an envelope, or bare after a first line about the session. */
export const codex: ConversationReader = {
  name: 'codex',
  label: 'Codex session',
  source: 'chats',
  keys: ['timestamp', 'type', 'payload'],
  isWhole: true,
  matches: (value, { values }) => {
    const { type, payload } = objectOf(value);
    return lineTypes.has(textOf(type) ?? '') && payload !== undefined ? true : isBareSession(values[0]?.value);
  },
  read: (logs) => joinedReads(logs.flatMap(sessionsIn).map(readSession)),
};

const lineTypes = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted']);

const isBareSession = (first: unknown) => {
  const { id, timestamp, instructions, type } = objectOf(first);
  return id !== undefined && timestamp !== undefined && instructions !== undefined && type === undefined;
};

/** Returns the sessions of a file. One that continues another begins with the first lines of both. */
function sessionsIn(log: LogFile): readonly LogFile[] {
  const sessions: LogFile['values'][number][][] = [];
  let hasItems = true;
  for (const each of log.values) {
    const isStart = isBareSession(each.value) || objectOf(each.value)['type'] === 'session_meta';
    if (sessions.length === 0 || (isStart && hasItems)) sessions.push([]);
    hasItems = !isStart;
    sessions.at(-1)?.push(each);
  }
  return sessions.map((values) => ({ ...log, values }));
}

function readSession({ path: file, values }: LogFile): Read {
  const notes: ImportProblem[] = [];
  const lines = values.map(({ value, line }) => ({ value: objectOf(value), line }));
  const isBare = isBareSession(lines[0]?.value);
  const meta = isBare
    ? lines[0]?.value
    : objectOf(lines.find(({ value }) => value['type'] === 'session_meta')?.value['payload']);
  const instructions = textOf(objectOf(meta?.['base_instructions'])['text'] ?? meta?.['instructions']);
  const opening: readonly PlacedRead[] = instructions
    ? [{ said: [{ role: 'system', content: instructions }], lost: [], line: 1, path: 'instructions' }]
    : [];
  const items = lines.flatMap(({ value, line }, index): readonly PlacedRead[] => {
    const item = isBare ? (index === 0 ? null : value) : value['type'] === 'response_item' ? value['payload'] : null;
    if (value['type'] === 'compacted') notes.push({ file, line, message: 'the agent compacted its history here' });
    return item === null || item === undefined || isAside(objectOf(item))
      ? []
      : [{ ...readSessionItem(item), line, path: `line ${line}` }];
  });
  const { line = 1 } = lines[0] ?? {};
  return readOf(
    [conversationOf({ file, line, id: textOf(meta?.['id']) }, joinedItems([...opening, ...items]))],
    [],
    notes,
  );
}

/** Returns whether an item is a state of the program: a mark of a bare session, or a copy of the files. */
const isAside = (item: JsonObject) => 'record_type' in item || item['type'] === 'ghost_snapshot';

/** Matches messages in the user's name that the program itself sends to the model. */
const context =
  /^\s*(?:<(?:environment_context|user_instructions|permissions|INSTRUCTIONS|turn_aborted)|# AGENTS\.md instructions)/;

function readSessionItem(value: Json): ReadMessage {
  const { said, lost } = readItem(withoutNulls(objectOf(value)));
  return {
    lost,
    said: said.map((each) => (each.role === 'user' && context.test(each.content) ? { ...each, role: 'system' } : each)),
  };
}
