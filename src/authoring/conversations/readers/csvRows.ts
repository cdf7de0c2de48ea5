import { type Json, type JsonObject, put } from '../../../engine/core/values/json.ts';
import type { Conversation, ImportProblem, Read } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { LogFile } from '../logFile.ts';
import { readRows } from '../messageRows.ts';
import { plainKey } from '../messageTimes.ts';
import { objectOf, textOf } from '../saidMessage.ts';
import { chatOf } from './openaiChat.ts';
import { pairOf } from './promptCompletion.ts';

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
  read: (logs) => joinedReads(logs.map(readTable)),
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

function readTable({ path, values }: LogFile): Read {
  const rows = values.map(({ value, line }) => ({ value: plainRow(objectOf(value)), line }));
  const messages = rows.filter(({ value }) => value['role'] !== undefined);
  const others = rows.filter(({ value }) => value['role'] === undefined);
  const ofRows = readRows(path, messages);
  const read = others.map((row): Conversation | ImportProblem => {
    if (textOf(row.value['messages']) !== undefined) return chatOf(path, row);
    if (row.value['prompt'] !== undefined && row.value['completion'] !== undefined) return pairOf(path, row);
    return { file: path, line: row.line, message: 'the row has neither a role nor a question with an answer' };
  });
  return readOf(
    [...ofRows.conversations, ...read.filter((each): each is Conversation => 'messages' in each)],
    [...ofRows.problems, ...read.filter((each): each is ImportProblem => 'message' in each)],
    ofRows.notes,
  );
}
