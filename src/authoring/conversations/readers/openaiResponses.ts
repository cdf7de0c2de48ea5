import { isObject, type Json, type JsonObject } from '../../../engine/core/values/json.ts';
import type { Conversation, ImportProblem } from '../conversation.ts';
import { type ConversationReader, readOf } from '../conversationReader.ts';
import { unrepeated } from '../history.ts';
import { conversationIdOf, type FileRow } from '../messageRows.ts';
import { toolsIn } from '../offeredTools.ts';
import {
  callOf,
  listIn,
  objectOf,
  type ReadMessage,
  readMessage,
  resultText,
  soundsFailed,
  textOf,
} from '../saidMessage.ts';
import { conversationOf, joinedItems, type PlacedRead, readMessages } from '../transcript.ts';

/** Reads requests and answers of OpenAI's Responses API, and lists of its items. */
export const openaiResponses: ConversationReader = {
  name: 'openai-responses',
  label: 'OpenAI Responses',
  source: 'chats',
  keys: ['input', 'output'],
  matches: (value) => itemsIn(value).some(isItem) || isBatched(value),
  read: (logs) => {
    const values = logs.flatMap((log) => log.values.map((each) => ({ ...each, file: log.path })));
    const threads = threadsOf(values);
    return readOf(threads.map(responseOf), [], [...new Set(threads.map(([first]) => first))].flatMap(cutStart));
  },
};

const isBatched = (value: unknown) => /\/responses$/.test(textOf(objectOf(value)['url']) ?? '');

/** The answer that a line logs with its request, in an object of the batch API as in that of a proxy. */
const answerIn = (value: unknown): JsonObject => {
  const { response } = objectOf(value);
  const body = objectOf(response)['body'] ?? response;
  return isObject(body) ? body : objectOf(value);
};

/** Requests that name the answer before them continue its conversation, which the server kept. */
function threadsOf(values: readonly FileRow[]): readonly (readonly FileRow[])[] {
  const byId = new Map(values.map((each) => [textOf(answerIn(each.value)['id']), each] as const));
  const before = (each: FileRow) => {
    const id = previousId(each);
    return id === undefined ? undefined : byId.get(id);
  };
  const continued = new Set(values.map(before));
  return values
    .filter((each) => !continued.has(each))
    .map((last) => {
      const thread = [last];
      for (let at = before(last); at !== undefined && !thread.includes(at); at = before(at)) thread.unshift(at);
      return thread;
    });
}

/** Returns the id of the answer that a request continues. */
function previousId({ value }: FileRow): string | undefined {
  const object = objectOf(value);
  const found = [object, requestIn(object), answerIn(object)].map((part) => textOf(part['previous_response_id']));
  return found.find((name) => name !== undefined);
}

/** Returns a note where the answer that a thread continues is not in the files. */
function cutStart(first: FileRow | undefined): readonly ImportProblem[] {
  const id = first && previousId(first);
  if (!first || id === undefined) return [];
  const { file, line } = first;
  const message = `the conversation begins earlier: the answer ${id} (previous_response_id) is not in the files. Import the file of it together with this one`;
  return [{ file, line, message }];
}

const callTypes = new Set(['function_call', 'custom_tool_call', 'local_shell_call', 'mcp_call', 'web_search_call']);
const resultTypes = new Set(['function_call_output', 'custom_tool_call_output', 'local_shell_call_output']);

/** Returns whether values of a type are items of the Responses API: calls, results and thoughts. */
export const isItemType = (type: string): boolean =>
  callTypes.has(type) || resultTypes.has(type) || type === 'reasoning';

/** Returns whether a value is an item of the Responses API, and not a message of another one. */
function isItem(value: Json): boolean {
  const { type, content } = objectOf(value);
  if (callTypes.has(textOf(type) ?? '') || resultTypes.has(textOf(type) ?? '')) return true;
  if (type !== 'message') return false;
  return listIn(content).some((part) => /^(input|output)_text$/.test(textOf(objectOf(part)['type']) ?? ''));
}

/** Returns the items of a request and of its answer. The request of a lone answer is unknown. */
const itemsIn = (value: unknown): readonly Json[] => [...askedIn(value), ...answeredIn(value)];

function askedIn(value: unknown): readonly Json[] {
  if (Array.isArray(value)) return value;
  const { object, data } = objectOf(value);
  // The API lists the items of a conversation with the newest first.
  if (object === 'list' && Array.isArray(data)) return data.toReversed();
  const asked = requestIn(value)['input'];
  return typeof asked === 'string' ? [{ role: 'user', content: asked }] : listIn(asked);
}

function answeredIn(value: unknown): readonly Json[] {
  const { output, object } = objectOf(value);
  const answered = object === 'list' ? undefined : (output ?? answerIn(value)['output']);
  return Array.isArray(answered) ? answered : [];
}

/** The request that a line logs, in an object of the batch API as in that of a proxy. */
function requestIn(value: unknown): JsonObject {
  const object = objectOf(value);
  return [object['request'], object['body']].map(objectOf).find((each) => 'input' in each) ?? object;
}

function responseOf(thread: readonly FileRow[]): Conversation {
  const [first] = thread;
  const object = objectOf(first?.value);
  const { instructions, tools, conversation } = requestIn(object);
  const opening = textOf(instructions) ? [{ role: 'system', content: textOf(instructions) ?? '' }] : [];
  const { file = '', line = 1 } = first ?? {};
  let count = opening.length;
  const readItems = (given: readonly Json[], at: number): readonly PlacedRead[] => {
    const items = given.map((each, index) => ({ ...readItem(each), line: at, path: `item ${count + index}` }));
    count += given.length;
    return joinedItems(items);
  };
  const said = thread.flatMap(({ value, line: at }) => {
    const asked = readItems(askedIn(value), at);
    return [...asked, ...unrepeated(asked, readItems(answeredIn(value), at))];
  });
  const read = [...readMessages(opening, line, 'instructions'), ...said];
  const id =
    textOf(object['custom_id']) ??
    conversationIdOf(object) ??
    textOf(objectOf(conversation)['id'] ?? conversation) ??
    textOf(object['id'] ?? answerIn(object)['id']);
  const isRequest = thread.some(({ value }) => askedIn(value).length > 0 && answeredIn(value).length > 0);
  const outline = { file, line, id, tools: toolsIn(tools ?? answerIn(object)['tools']), isRequest };
  return conversationOf(outline, joinedItems(read));
}

/** Reads an item: a message, a call, a result or thoughts. */
export function readItem(value: Json): ReadMessage {
  const item = objectOf(value);
  const type = textOf(item['type']) ?? '';
  if (resultTypes.has(type)) {
    const content = resultText(item['output'] ?? '');
    return {
      said: [{ role: 'tool', callId: textOf(item['call_id'] ?? item['id']), content, isError: soundsFailed(content) }],
      lost: [],
    };
  }
  if (callTypes.has(type)) {
    const name = textOf(item['name']) ?? type.replace(/_call$/, '');
    const call = callOf({ ...item, name, arguments: item['arguments'] ?? item['input'] ?? item['action'] ?? {} });
    const output = item['output'];
    const result =
      output === undefined || output === null
        ? []
        : [{ role: 'tool' as const, callId: call.id, content: resultText(output), isError: false }];
    return { said: [{ role: 'agent', content: null, calls: [call] }, ...result], lost: [] };
  }
  if (type === 'reasoning') {
    const texts = [...listIn(item['summary']), ...listIn(item['content'])].map(
      (part) => textOf(objectOf(part)['text']) ?? '',
    );
    const reasoning = texts.filter(Boolean).join('\n');
    return { said: reasoning === '' ? [] : [{ role: 'agent', content: '', calls: [], reasoning }], lost: [] };
  }
  if (type !== '' && type !== 'message') return { said: [], lost: [`an item of type "${type}" is left out`] };
  return readMessage(value);
}
