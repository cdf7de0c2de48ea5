import { isObject, type Json, type JsonObject, withoutNulls } from '../../../engine/core/values/json.ts';
import type { ImportProblem, Read } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { LogFile } from '../logFile.ts';
import { callOf, objectOf, type ReadMessage, resultText, type Said, textOf } from '../saidMessage.ts';
import { conversationOf, joinedItems, type PlacedRead } from '../transcript.ts';
import { readItem } from './openaiResponses.ts';

/**
 * Reads sessions of Codex: items of the Responses API in an envelope, or bare after a first line about the session. The
 * events that `codex exec --json` prints are sessions as well.
 */
export const codex: ConversationReader = {
  name: 'codex',
  label: 'Codex session',
  source: 'chats',
  keys: ['timestamp', 'type', 'payload'],
  isWhole: true,
  matches: (value, { values }) => {
    const { type, payload } = objectOf(value);
    if (lineTypes.has(textOf(type) ?? '') && payload !== undefined) return true;
    return isExecEvent(value) || isBareSession(values[0]?.value);
  },
  read: (logs) => joinedReads(logs.flatMap(sessionsIn).map(readSession)),
};

const lineTypes = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted']);

const isBareSession = (first: unknown) => {
  const { id, timestamp, instructions, type } = objectOf(first);
  return id !== undefined && timestamp !== undefined && instructions !== undefined && type === undefined;
};

/** Returns whether a value is an event of `codex exec --json`. */
const isExecEvent = (value: unknown) => {
  const { type, thread_id, item } = objectOf(value);
  if (type === 'thread.started') return thread_id !== undefined;
  return /^turn\.(?:started|completed|failed)$/.test(textOf(type) ?? '') || (isItemEvent(type) && isObject(item));
};

const isItemEvent = (type: unknown) => /^item\.(?:started|updated|completed)$/.test(textOf(type) ?? '');

/**
 * Returns the sessions of a file. One that continues another begins with the first lines of both; a thread that
 * `codex exec` resumes begins with the same line again.
 */
function sessionsIn(log: LogFile): readonly LogFile[] {
  const sessions: LogFile['values'][number][][] = [];
  let hasItems = true;
  let thread: Json | undefined;
  for (const each of log.values) {
    const { type, thread_id } = objectOf(each.value);
    const isNewThread = type === 'thread.started' && thread_id !== thread;
    if (isNewThread) thread = thread_id;
    const isStart = isNewThread || isBareSession(each.value) || type === 'session_meta';
    if (sessions.length === 0 || (isStart && hasItems)) sessions.push([]);
    hasItems = !isStart;
    sessions.at(-1)?.push(each);
  }
  return sessions.map((values) => ({ ...log, values }));
}

function readSession(log: LogFile): Read {
  if (log.values.some(({ value }) => isExecEvent(value))) return readExec(log);
  const { path: file, values } = log;
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

/** Reads what `codex exec --json` printed. An item counts as it was last, in the place where it began. */
function readExec({ path: file, values }: LogFile): Read {
  const notes: ImportProblem[] = [];
  const note = (line: number, message: string) => void notes.push({ file, line, message });
  const start = values[0]?.line ?? 1;
  note(start, 'codex exec does not print the prompts, so the conversation has no words of the user');
  // Each run of a thread numbers its items from 0.
  let run = 0;
  const placed = values.map(({ value, line }) => {
    const event = objectOf(value);
    if (event['type'] === 'thread.started') run += 1;
    return { event, line, id: isItemEvent(event['type']) ? `${run} ${textOf(objectOf(event['item'])['id'])}` : '' };
  });
  const last = new Map(placed.map(({ event, id }) => [id, objectOf(event['item'])]));
  const begun = new Set<string>();
  const read = placed.flatMap(({ event, line, id }): readonly PlacedRead[] => {
    const { type, error, message } = event;
    const failure = textOf(objectOf(error)['message'] ?? message);
    if (failure !== undefined) note(line, `the turn failed: ${failure}`);
    const item = last.get(id);
    if (id === '' || !item) return [];
    if (item['type'] === 'error' && !begun.has(id)) note(line, `an error: ${textOf(item['message']) ?? ''}`);
    const parts = [
      ...(begun.has(id) ? [] : [begunItem(item)]),
      ...(type === 'item.completed' ? [endedItem(item)] : []),
    ];
    begun.add(id);
    return parts.flatMap((part) => (part ? { ...part, line, path: `line ${line}` } : []));
  });
  const id = textOf(placed[0]?.event['thread_id']);
  return readOf([conversationOf({ file, line: start, id }, joinedItems(read))], [], notes);
}

const ofAgent = { role: 'agent', content: '', calls: [] } as const;

/** Returns what the agent said, thought or called with an item; null for a state of the program. */
function begunItem({ id = null, type, text = '', tool = null, ...more }: JsonObject): ReadMessage | null {
  const said = (message: Said): ReadMessage => ({ said: [message], lost: [] });
  const { command = null, changes = null, query = null, arguments: given = null } = more;
  switch (type) {
    case 'agent_message':
      return said({ ...ofAgent, content: textOf(text) ?? '' });
    case 'reasoning':
      return said({ ...ofAgent, reasoning: textOf(text) ?? '' });
    case 'mcp_tool_call':
      return said({ ...ofAgent, content: null, calls: [callOf({ id, name: tool, arguments: given })] });
    case 'command_execution':
    case 'file_change':
    case 'web_search': {
      const own = withoutNulls({ command, changes, query });
      return said({ ...ofAgent, content: null, calls: [callOf({ id, name: type, arguments: own })] });
    }
    case 'todo_list':
    case 'error':
      return null;
    default:
      return { said: [], lost: [`an item of type "${textOf(type) ?? ''}" is left out`] };
  }
}

/** Returns the result of an item; null for words, and for a search, of which no result is printed. */
function endedItem({ id, type, status, aggregated_output = '', result, error }: JsonObject): ReadMessage | null {
  const contents = new Map<string, Json>([
    ['command_execution', aggregated_output],
    ['file_change', status ?? ''],
    ['mcp_tool_call', objectOf(error)['message'] ?? objectOf(result)['content'] ?? ''],
  ]);
  const content = contents.get(textOf(type) ?? '');
  if (content === undefined) return null;
  const returned = { role: 'tool', callId: textOf(id), content: resultText(content) } as const;
  return { said: [{ ...returned, isError: status !== 'completed' }], lost: [] };
}
