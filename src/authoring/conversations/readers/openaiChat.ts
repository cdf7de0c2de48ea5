import { dirname } from 'node:path';
import { isObject, type Json, type JsonObject } from '../../../engine/core/values/json.ts';
import type { Conversation, ImportProblem } from '../conversation.ts';
import { type ConversationReader, joinedReads, readOf } from '../conversationReader.ts';
import type { PlacedValue } from '../jsonValues.ts';
import type { LogFile } from '../logFile.ts';
import { readAnswer } from '../loggedAnswer.ts';
import { conversationIdOf, isMessageRow, readRows } from '../messageRows.ts';
import { toolsIn } from '../offeredTools.ts';
import { firstOf, listIn, objectOf, textOf } from '../saidMessage.ts';
import { conversationOf, type PlacedRead, readMessages } from '../transcript.ts';

/**
 * Reads `{"messages": [...]}` a line, also with the answer that an endpoint gave to it, or a message a line with the id of
 * its conversation; also one JSON list of any of them.
 */
export const openaiChat: ConversationReader = {
  name: 'openai-chat',
  label: 'OpenAI chat completions',
  source: 'chats',
  keys: ['messages'],
  messageKeys: ['messages', 'completion'],
  matches: (value) =>
    isMessageRow(value) || messagesIn(value) !== undefined || (Array.isArray(value) && value.some(isMessageRow)),
  read: (logs) => joinedReads([...Map.groupBy(logs, ({ path }) => dirname(path)).values()].map(readChats)),
};

/** Reads the files of a folder. */
function readChats(logs: readonly LogFile[]) {
  const given = logs.map(({ path: file, values }) => {
    const others = values.filter(({ value }) => !isMessageRow(value));
    return { file, others, rows: values.filter(({ value }) => isMessageRow(value)), hasOthers: others.length > 0 };
  });
  const ofRows = readRows(given);
  const read = given.flatMap(({ file, others }) => others.map((each) => chatOf(file, each)));
  const conversations = [...ofRows.conversations, ...read.filter((each): each is Conversation => 'messages' in each)];
  const problems = [...ofRows.problems, ...read.filter((each): each is ImportProblem => 'message' in each)];
  const places = new Map(logs.map(({ path }, at) => [path, at]));
  const byPlace = (a: LineOfFile, b: LineOfFile) =>
    (places.get(a.file) ?? 0) - (places.get(b.file) ?? 0) || a.line - b.line;
  return readOf(conversations.toSorted(byPlace), problems.toSorted(byPlace), ofRows.notes);
}

type LineOfFile = Pick<ImportProblem, 'file' | 'line'>;

/** The request that a line logs, in an object of the batch API as in that of a proxy. */
function requestIn(value: unknown): JsonObject {
  const object = objectOf(value);
  const { messages, body, request, kwargs } = object;
  if (messages !== undefined && messages !== null) return object;
  const inner = [body, request, objectOf(request)['body'], kwargs].find((each) => objectOf(each)['messages']);
  return inner === undefined ? object : { ...object, ...objectOf(inner) };
}

function messagesIn(value: unknown): readonly Json[] | undefined {
  if (Array.isArray(value)) return value.map(messageIn);
  const { messages } = requestIn(value);
  if (messages === undefined || messages === null) return undefined;
  const list = listIn(messages);
  return Array.isArray(messages) || list.length > 0 ? list.map(messageIn) : undefined;
}

/** A message, also if it is written as JSON text: some versions of `datasets` write objects of different keys so. */
function messageIn(value: Json): Json {
  const [read] = typeof value === 'string' ? listIn(value) : [];
  return read !== undefined && textOf(objectOf(read)['role']) !== undefined ? read : value;
}

/** Reads a value that holds one conversation as a list of messages. */
export function chatOf(file: string, { value, line }: PlacedValue): Conversation | ImportProblem {
  const given = messagesIn(value);
  const request = requestIn(value);
  if (given === undefined || given.length === 0)
    return { file, line, message: `messages: ${given ? 'has no message' : 'a list of messages is expected'}` };
  const { id, task, tools, functions } = request;
  const system = firstOf(request, 'system', 'system_prompt', 'systemInstruction', 'system_instruction');
  const opening: readonly PlacedRead[] =
    system === undefined || textOf(objectOf(given[0])['role']) === 'system'
      ? []
      : readMessages(
          [isObject(system) ? { ...system, role: 'system' } : { role: 'system', content: system }],
          line,
          'system',
        );
  const asked = readMessages(given, line);
  const answer = readAnswer(value, asked, line);
  return conversationOf(
    {
      file,
      line,
      id: textOf(request['custom_id']) ?? textOf(id) ?? conversationIdOf(request),
      task: textOf(task),
      tools: toolsIn(tools ?? functions ?? request['tool_defs']),
      isRequest: answer.length > 0,
    },
    [...opening, ...asked, ...answer],
  );
}
