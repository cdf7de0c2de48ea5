import * as z from 'zod';
import { issueText } from '../../core/issueText.ts';
import { callArguments, type ToolCall } from '../../core/message.ts';
import type { Offered } from '../../core/tool.ts';
import { readText } from '../disk.ts';
import type { Conversation, ImportProblem, ReadConversations, SpokenMessage } from './conversation.ts';
import { type PlacedValue, valuesIn } from './jsonValues.ts';

const roles: Readonly<Record<string, 'system' | 'user' | 'agent' | 'tool'>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  customer: 'user',
  assistant: 'agent',
  agent: 'agent',
  bot: 'agent',
  tool: 'tool',
  function: 'tool',
};

const roleSchema = z.enum(Object.keys(roles) as [string, ...string[]]);
const contentSchema = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() })), z.null()]);
const functionSchema = z.looseObject({
  name: z.string(),
  arguments: z.union([z.string(), z.record(z.string(), z.json())]),
});
const callSchema = z.looseObject({ id: z.string().optional(), function: functionSchema });
const messageSchema = z.looseObject({
  role: roleSchema,
  content: contentSchema.optional(),
  reasoning_content: z.string().nullish(),
  tool_calls: z.array(callSchema).nullish(),
  function_call: functionSchema.nullish(),
  tool_call_id: z.string().optional(),
  name: z.string().optional(),
});
type ChatMessage = z.infer<typeof messageSchema>;

const toolSchema = z.looseObject({
  function: z.looseObject({
    name: z.string(),
    description: z.string().default(''),
    parameters: z.record(z.string(), z.json()).default({ type: 'object' }),
  }),
});

const conversationSchema = z.looseObject({
  task: z.string().optional(),
  messages: z.array(z.unknown()).min(1),
  tools: z.array(toolSchema).optional(),
});

/** Names under which logs keep the conversation that a line is of. */
const idNames = [
  'conversation_id',
  'conversationId',
  'session_id',
  'sessionId',
  'thread_id',
  'threadId',
  'chat_id',
  'chatId',
];

/**
 * Reads conversations in OpenAI's message format: `{"messages": [...]}` a line, or a message a line with the id of its
 * conversation; also one JSON list of either. What can't be read is named with its line, and the rest is read.
 */
export function readChats(file: string): ReadConversations {
  return chatsIn(file, readText(file));
}

function chatsIn(file: string, text: string): ReadConversations {
  const { values, problems } = valuesIn(text);
  const open = new Map<string, { readonly line: number; readonly given: PlacedValue[] }>();
  const read: (Conversation | ImportProblem | { readonly waits: string })[] = [];
  for (const placed of values) {
    const { value, line } = placed;
    if (isMessage(value)) {
      const id = idOf(value);
      if (id === null) {
        const wanted = `a message needs the id of its conversation (${idNames[0]})`;
        read.push({ file, line, message: `${wanted}, or give {"messages": [...]} a line` });
      } else if (open.has(id)) open.get(id)?.given.push(placed);
      else {
        open.set(id, { line, given: [placed] });
        read.push({ waits: id });
      }
    } else read.push(conversationOf(file, placed));
  }
  const all = read.map((each) => ('waits' in each ? grouped(file, each.waits, open.get(each.waits)) : each));
  const found = all.filter((each) => 'messages' in each);
  // What nobody said anything in is told of, and makes no recording.
  const conversations = found.filter(({ messages }) => messages.length > 0);
  const silent = found.flatMap(({ messages, lost }) => (messages.length > 0 ? [] : lost));
  const refused = all.filter((each): each is ImportProblem => 'message' in each);
  return { conversations, problems: [...problems.map((each) => ({ file, ...each })), ...refused, ...silent] };
}

function isMessage(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && 'role' in value && !('messages' in value);
}

function idOf(value: Readonly<Record<string, unknown>>): string | null {
  const found = idNames.map((name) => value[name]).find((id) => typeof id === 'string' || typeof id === 'number');
  return found === undefined ? null : String(found);
}

function grouped(
  file: string,
  id: string,
  group: { readonly line: number; readonly given: readonly PlacedValue[] } | undefined,
) {
  const { line = 1, given = [] } = group ?? {};
  const read = messagesOf(
    file,
    given.map(({ value, line: own }, index) => ({ value, line: own, path: `message ${index + 1}` })),
  );
  return { id, file, line, ...read };
}

function conversationOf(file: string, { value, line }: PlacedValue): Conversation | ImportProblem {
  const { data, error } = conversationSchema.safeParse(value);
  if (!data) return { file, line, message: issueText(error, 'the line') };
  const named = (data['id'] ?? idOf(data)) as unknown;
  const id = typeof named === 'string' || typeof named === 'number' ? String(named) : null;
  const given = data.messages.map((message, index) => ({ value: message, line, path: `messages.${index}` }));
  const tools = data.tools?.map(({ function: { name, description, parameters } }): Offered => {
    return { name, description, parameters: parameters as Offered['parameters'] };
  });
  return { id, file, line, task: data.task, tools, ...messagesOf(file, given) };
}

type Given = { readonly value: unknown; readonly line: number; readonly path: string };

function messagesOf(file: string, given: readonly Given[]): Pick<Conversation, 'messages' | 'lost'> {
  const messages: SpokenMessage[] = [];
  const lost: ImportProblem[] = [];
  for (const [index, { value, line, path }] of given.entries()) {
    const { data, error } = messageSchema.safeParse(value);
    if (!data) {
      const [issue] = error.issues;
      lost.push({ file, line, message: `${[path, ...(issue?.path ?? [])].join('.')}: ${issue?.message}` });
      continue;
    }
    const at = { line, number: index + 1 };
    const read = spoken(data, at, messages);
    if (typeof read === 'string') lost.push({ file, line, message: `${path}: ${read}` });
    else messages.push(read);
    if (hasOtherParts(data))
      lost.push({ file, line, message: `${path}: has parts that are no text (a picture, a file); they are left out` });
  }
  return { messages, lost };
}

function hasOtherParts({ content }: ChatMessage): boolean {
  return Array.isArray(content) && content.some(({ text }) => text === undefined);
}

function textOf(content: ChatMessage['content']): string | null {
  return Array.isArray(content) ? content.map(({ text = '' }) => text).join('') : (content ?? null);
}

function spoken(
  data: ChatMessage,
  at: Pick<SpokenMessage, 'line' | 'number'>,
  before: readonly SpokenMessage[],
): SpokenMessage | string {
  const role = roles[data.role] ?? 'user';
  const text = textOf(data.content);
  if (role === 'system' || role === 'user') return { ...at, role, content: text ?? '' };
  if (role === 'tool') {
    const callId = data.tool_call_id ?? lastCallOf(before, data.name);
    if (callId === undefined) return 'a result needs the id of its call (tool_call_id)';
    const isError = data['is_error'] === true || data['isError'] === true || /^Error: /.test(text ?? '');
    return { ...at, role, callId, content: text ?? '', isError };
  }
  const calls = callsOf(data, at.number);
  const content = text ?? (calls.length > 0 ? null : '');
  const reasoning = data.reasoning_content;
  return { ...at, role, content, calls, ...(reasoning ? { reasoning } : {}) };
}

/** Before calls had ids, a result named the function that was called last. */
function lastCallOf(before: readonly SpokenMessage[], name: string | undefined): string | undefined {
  const calls = before.flatMap((each) => (each.role === 'agent' ? each.calls : []));
  return calls.findLast((call) => call.name === name)?.id;
}

function callsOf({ tool_calls, function_call }: ChatMessage, number: number): readonly ToolCall[] {
  const given = [...(tool_calls ?? []), ...(function_call ? [{ id: undefined, function: function_call }] : [])];
  return given.map(({ id, function: { name, arguments: written } }, index) => ({
    id: id ?? `call_${number}_${index}`,
    name,
    ...(typeof written === 'string' ? callArguments(written) : { arguments: written as never }),
  }));
}
