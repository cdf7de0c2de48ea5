import { dirname } from 'node:path';
import { type Json, type JsonObject, put } from '../../../engine/core/values/json.ts';
import type { Conversation, ImportProblem, Read } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import type { LogFile } from '../logFile.ts';
import { readRows } from '../messageRows.ts';
import { plainKey } from '../messageTimes.ts';
import { objectOf, textOf } from '../saidMessage.ts';
import { chatOf } from './openaiChat.ts';
import { isPair, readPairs } from './promptCompletion.ts';

/** Reads rows of a table: a message each, a question with its answer, or a list of messages as JSON. */
export const csvRows: ConversationReader = {
  name: 'csv',
  label: 'CSV rows',
  source: 'chats',
  keys: ['conversation_id', 'role', 'content'],
  messageKeys: ['messages', 'prompt', 'completion', 'history'],
  isWhole: true,
  matches: (value, { isTable }) => {
    const { role, content, prompt, completion, messages } = plainRow(objectOf(value));
    const all = [
      role !== undefined && content !== undefined,
      prompt !== undefined && completion !== undefined,
      messages !== undefined,
    ];
    return isTable && all.some(Boolean);
  },
  read: (logs) => joinedReads([...Map.groupBy(logs, ({ path }) => dirname(path)).values()].map(readTables)),
};

/** The names that columns have in tables of conversations. */
const columns: Readonly<Record<string, readonly string[]>> = {
  role: ['role', 'sender', 'speaker', 'author', 'from', 'sendertype', 'authortype', 'participant'],
  content: ['content', 'text', 'message', 'body', 'utterance', 'messagetext', 'value', 'parts'],
  prompt: ['prompt', 'question', 'input', 'query', 'instruction', 'usermessage'],
  completion: ['completion', 'answer', 'output', 'response', 'reply', 'assistantmessage'],
  messages: ['messages'],
};

/** Returns a row with the names of the columns that are known; all others keep theirs. */
function plainRow(row: JsonObject): JsonObject {
  const plain: Record<string, Json> = {};
  for (const [key, value] of Object.entries(row)) {
    const found = Object.entries(columns).find(([, names]) => names.includes(plainKey(key)))?.[0];
    if (value !== '') put(plain, found !== undefined && !(found in plain) ? found : key, value);
  }
  return plain;
}

/** Reads the tables of a folder. */
function readTables(logs: readonly LogFile[]): Read {
  const tables = logs.map(({ path: file, values }) => {
    const rows = values.map(({ value, line }) => ({ value: plainRow(objectOf(value)), line, file }));
    return { file, ...Object.groupBy(rows, kindOf) };
  });
  const ofRows = readRows(tables.map(({ file, message = [] }) => ({ file, rows: message })));
  const ofPairs = readPairs(tables.flatMap(({ pair = [] }) => pair));
  const read = tables.flatMap(({ list = [], other = [] }): readonly (Conversation | ImportProblem)[] => [
    ...list.map((row) => chatOf(row.file, row)),
    ...other.map(({ file, line }) => ({ file, line, message: unread })),
  ]);
  return readOf(
    [
      ...ofRows.conversations,
      ...ofPairs.conversations,
      ...read.filter((each): each is Conversation => 'messages' in each),
    ],
    [...ofRows.problems, ...read.filter((each): each is ImportProblem => 'message' in each)],
    [...ofRows.notes, ...ofPairs.notes],
  );
}

const unread = 'the row has neither a role nor a question with an answer';

function kindOf({ value }: PlacedValue): 'message' | 'list' | 'pair' | 'other' {
  const { role, messages } = objectOf(value);
  if (role !== undefined) return 'message';
  if (textOf(messages) !== undefined) return 'list';
  return isPair(value) ? 'pair' : 'other';
}
