import { callArguments, type ToolCall } from '../../engine/core/events/message.ts';
import { isObject, type Json, type JsonObject, withoutNulls } from '../../engine/core/values/json.ts';
import { exactJsonOf } from '../../engine/core/values/largeIntegers.ts';
import { isTooDeep } from '../../engine/core/values/nesting.ts';
import { hasContent, mediaIn, partKind } from './partTypes.ts';

/** A call as a log has it: older formats give it no id. */
export type SaidCall = Omit<ToolCall, 'id'> & { readonly id?: string | undefined };

/** A message as a log has it, before results are paired with their calls. */
export type Said =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'agent';
      readonly content: string | null;
      readonly reasoning?: string;
      readonly calls: readonly SaidCall[];
    }
  | {
      readonly role: 'tool';
      readonly callId?: string | undefined;
      readonly name?: string | undefined;
      readonly content: string;
      readonly isError: boolean;
    };

/** The content of a message, and descriptions of the parts that cannot be read. */
export type ReadMessage = { readonly said: readonly Said[]; readonly lost: readonly string[] };

const roles: Readonly<Record<string, Said['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  customer: 'user',
  client: 'user',
  visitor: 'user',
  caller: 'user',
  'end-user': 'user',
  assistant: 'agent',
  agent: 'agent',
  operator: 'agent',
  support: 'agent',
  representative: 'agent',
  ai: 'agent',
  bot: 'agent',
  chatbot: 'agent',
  gpt: 'agent',
  model: 'agent',
  chatgpt: 'agent',
  function_call: 'agent',
  tool_call: 'agent',
  'tool-call': 'agent',
  tool: 'tool',
  function: 'tool',
  tool_result: 'tool',
  tool_response: 'tool',
  'tool-response': 'tool',
  function_response: 'tool',
  observation: 'tool',
  ipython: 'tool',
};

/** Returns who speaks under a name of the formats; undefined for a name that none of them has. */
export const roleNamed = (name: string): Said['role'] | undefined => {
  const key = name.trim().toLowerCase();
  return Object.hasOwn(roles, key) ? roles[key] : undefined;
};

export const objectOf = (value: unknown): JsonObject => (isObject(value as Json) ? (value as JsonObject) : {});

/** Returns a text or a number as a text; undefined for everything else, null included. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}

/** Returns the first of some keys of an object that has a value. */
export function firstOf(object: JsonObject, ...keys: readonly string[]): Json | undefined {
  const key = keys.find((each) => object[each] !== undefined && object[each] !== null);
  return key === undefined ? undefined : object[key];
}

/** Returns the list in a value, also if it is written as JSON text; an object is a list of one. */
export function listIn(value: unknown): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (isObject(value as Json)) return [value as JsonObject];
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return [];
  const read = exactJsonOf(value);
  return typeof read === 'object' && read !== null && !isTooDeep(read) ? listIn(read) : [];
}

/** Words of a part. A piece is of the same sentence as the parts around it. */
type TextPart = { readonly text: string; readonly isPiece: boolean };

/** Puts each part on its own line, as the chat templates of servers do. Anthropic splits a sentence where it cites. */
function joinedParts(parts: readonly TextPart[]): string {
  const isOneText = parts.some(({ isPiece }) => isPiece);
  return parts.map(({ text }) => text).join(isOneText ? '' : '\n');
}

/** Collects the content of a message until a result or a step ends it. */
class Collected {
  readonly #role: Said['role'];
  readonly said: Said[] = [];
  readonly lost: string[] = [];
  #texts: TextPart[] = [];
  #thoughts: string[] = [];
  #calls: SaidCall[] = [];
  #results: Said[] = [];

  constructor(role: Said['role']) {
    this.#role = role;
  }

  text(text: string, isPiece = false): void {
    if (this.#results.length > 0 && this.#role === 'agent') this.end();
    this.#texts.push({ text, isPiece });
  }

  thought(text: string): void {
    if (this.#results.length > 0 || this.#calls.length > 0) this.end();
    this.#thoughts.push(text);
  }

  call(given: JsonObject): void {
    const call = callOf(given);
    if (call.name.trim() === '') {
      this.lost.push(`has a tool call without a name (${keysOf(given)}); it is left out`);
      return;
    }
    if (this.#results.length > 0 && this.#role === 'agent') this.#startCalls();
    this.#calls.push(call);
  }

  /** Parts of one step list each call with its result: the calls of a step are one message. */
  #startCalls(): void {
    const isParallel = this.#calls.length > 0 && this.#calls.length === this.#results.length;
    if (!isParallel) this.end();
  }

  result(result: Said): void {
    this.#results.push(result);
  }

  end(): void {
    const [content, reasoning] = [joinedParts(this.#texts), this.#thoughts.join('\n')];
    const isSaid = content.trim() !== '';
    if (this.#role === 'agent') {
      if (isSaid || this.#calls.length > 0 || reasoning !== '')
        this.said.push({
          role: 'agent',
          content: content === '' && this.#calls.length > 0 ? null : content,
          calls: this.#calls,
          ...(reasoning === '' ? {} : { reasoning }),
        });
      this.said.push(...this.#results);
    } else {
      // A user's message brings the results first, then the words.
      this.said.push(...this.#results);
      if (isSaid && this.#role !== 'tool') this.said.push({ role: this.#role, content });
    }
    [this.#texts, this.#thoughts, this.#calls, this.#results] = [[], [], [], []];
  }
}

/** The sender of a message may be a person, whose name is not repeated: no one knows it yet when this is masked. */
const unknownRole = (named: string) =>
  /^[a-z][a-z\d_-]{0,30}$/.test(named)
    ? `role: "${named}" is unknown`
    : 'role: its value is unknown, and is not repeated here since it may be a name. Write who speaks as user, assistant, system or tool';

/**
 * Reads one message in any form that chat formats share. Its content is text or parts, its calls are next to the
 * content or among the parts, and results are separate messages or part of a user's message. A message without readable
 * content is reported as lost with the reason, and never becomes an empty turn.
 */
export function readMessage(given: Json, known?: Said['role']): ReadMessage {
  const message = withoutNulls(unwrappedMessage(objectOf(given)));
  const named = roleNameOf(message);
  const role = known ?? (named === undefined ? undefined : roleNamed(named));
  if (role === undefined)
    return { said: [], lost: [named === undefined ? `has no role (${keysOf(message)})` : unknownRole(named)] };
  const content = contentOf(message);
  if (role === 'tool' && !hasResultParts(content)) return { said: [resultOf(message, content)], lost: [] };
  const collected = new Collected(role);
  const reasoning = textOf(firstOf(message, 'reasoning_content', 'reasoning', 'thinking'));
  if (reasoning !== undefined && reasoning !== '' && role === 'agent') collected.thought(reasoning);
  for (const part of partsOf(content)) readPart(part, collected);
  if (role === 'agent') for (const call of callsBeside(message)) collected.call(call);
  // Where a message has parts as well, they repeat these.
  if (listIn(message['parts']).length === 0)
    for (const invocation of listIn(message['toolInvocations'])) readUiTool(objectOf(invocation), collected);
  collected.end();
  const { said, lost } = collected;
  if (said.length === 0 && lost.length === 0) lost.push(emptiness(message, content));
  return { said, lost };
}

function keysOf(message: JsonObject): string {
  const keys = Object.keys(message);
  return keys.length === 0 ? 'it has no fields' : `its fields are ${keys.join(', ')}`;
}

function emptiness(message: JsonObject, content: Json | undefined): string {
  if (content !== undefined) return 'is empty; it is left out';
  return `has no content that can be read (${keysOf(message)}); it is left out`;
}

/** LangChain writes a message as `{"lc", "id": [..., "HumanMessage"], "kwargs"}` or `{"type", "data"}`. */
function unwrappedMessage(message: JsonObject): JsonObject {
  const { id, kwargs, type, data } = message;
  if (Array.isArray(id) && isObject(kwargs)) {
    const name = /^(\w+?)Message(?:Chunk)?$/.exec(textOf(id.at(-1)) ?? '')?.[1]?.toLowerCase() ?? '';
    return { type: name, ...kwargs, role: kwargs['role'] ?? name };
  }
  if (typeof type === 'string' && isObject(data) && 'content' in data) return { ...data, role: type };
  return message;
}

function roleNameOf(message: JsonObject): string | undefined {
  const author = message['author'];
  const own = firstOf(message, 'role', 'from', 'sender', 'speaker') ?? (isObject(author) ? author['role'] : author);
  if (typeof own === 'string') return own;
  const type = textOf(message['type']);
  return type !== undefined && roleNamed(type) !== undefined ? type : undefined;
}

/** The content of a message under the names that formats give it. Parts are preferred to a text that repeats them. */
function contentOf(message: JsonObject): Json | undefined {
  const { parts, content } = message;
  const listed = listIn(parts);
  if (listed.length > 0) return listed;
  const own = content === '' ? firstOf(message, 'text', 'value', 'body', 'refusal') : undefined;
  const spoken = objectOf(message['audio'])['transcript'];
  const said = content === '' && typeof spoken === 'string' ? spoken : undefined;
  return own ?? said ?? firstOf(message, 'content', 'text', 'value', 'body', 'message', 'refusal') ?? spoken;
}

function partsOf(content: Json | undefined): readonly Json[] {
  if (Array.isArray(content)) return content;
  if (typeof content !== 'string') return content === undefined ? [] : [content];
  // Some exports write parts as a JSON text.
  if (/^\s*\[\s*\{\s*"/.test(content)) {
    const parts = listIn(content);
    if (parts.length > 0 && parts.every(isPart)) return parts;
  }
  return [content];
}

const partNames = [
  'text',
  'toolUse',
  'toolResult',
  'reasoningContent',
  'functionCall',
  'functionResponse',
  'function_call',
  'function_response',
];

function isPart(value: Json): boolean {
  const object = objectOf(value);
  const { type } = object;
  if (mediaIn(object) !== undefined) return true;
  if (typeof type === 'string') return hasContent(type);
  const [first, ...others] = Object.keys(object);
  return first !== undefined && others.length === 0 && partNames.includes(first);
}

function hasResultParts(content: Json | undefined): boolean {
  return partsOf(content).some((part) => {
    const { type, toolResult, functionResponse, function_response } = objectOf(part);
    const named = [toolResult, functionResponse, function_response];
    return partKind(textOf(type) ?? '') === 'result' || named.some(isObject);
  });
}

/** Returns the calls that are next to the content. */
function callsBeside(message: JsonObject): readonly JsonObject[] {
  const extra = objectOf(message['additional_kwargs']);
  const listed = [
    ...listIn(firstOf(message, 'tool_calls', 'toolCalls') ?? extra['tool_calls']),
    ...listIn(firstOf(message, 'function_call')),
  ];
  // Tables that need the same fields in each call have it as JSON text.
  return listed.map((each) => objectOf(typeof each === 'string' ? listIn(each)[0] : each));
}

/** Reads a call in the forms of OpenAI, LangChain, inspect_ai, tau2, Anthropic, Bedrock, Gemini and the AI SDK. */
export function callOf(given: JsonObject): SaidCall {
  const call = withoutNulls(given);
  const own = objectOf(call['function'] ?? call['custom']);
  const name =
    textOf(own['name']) ?? textOf(call['function']) ?? textOf(firstOf(call, 'name', 'toolName', 'tool_name'));
  const id = textOf(firstOf(call, 'call_id', 'id', 'toolCallId', 'toolUseId', 'tool_call_id', 'callId'));
  const written = firstOf(own, 'arguments', 'input') ?? firstOf(call, 'arguments', 'args', 'input', 'parameters');
  return { id: id === '' ? undefined : id, name: name ?? '', ...argumentsOf(written) };
}

function argumentsOf(written: Json | undefined): Pick<ToolCall, 'arguments' | 'floats'> {
  if (typeof written === 'string') return callArguments(written);
  if (written === undefined || isObject(written)) return { arguments: objectOf(written) };
  return { arguments: JSON.stringify(written) };
}

/** Returns a result that is its own message. */
function resultOf(message: JsonObject, content: Json | undefined): Said {
  const callId = textOf(firstOf(message, 'tool_call_id', 'toolCallId', 'call_id', 'tool_use_id', 'id'));
  const name = textOf(firstOf(message, 'name', 'tool_name', 'toolName', 'function'));
  const text = resultText(content ?? firstOf(message, 'output', 'result', 'response') ?? '');
  const error = firstOf(message, 'is_error', 'isError', 'error');
  const isError = error === true || isObject(error) || message['status'] === 'error' || soundsFailed(text);
  return {
    role: 'tool',
    callId,
    name,
    content: isObject(error) && text === '' ? (textOf(error['message']) ?? '') : text,
    isError,
  };
}

/** Returns whether a result is an error by its words, as this engine and many programs write it. */
export const soundsFailed = (text: string) => /^Error: /.test(text);

/** Returns a result as the text that a model was shown. */
export function resultText(value: Json): string {
  if (typeof value === 'string') {
    const parts = partsOf(value);
    return parts.length > 0 && parts.every((each) => typeof each !== 'string') ? resultText(parts) : value;
  }
  const list = Array.isArray(value) ? value : [value];
  const media = list.map((each) => mediaIn(objectOf(each)));
  const isMedia = media.length > 0 && !media.includes(undefined);
  if (isMedia || (Array.isArray(value) && list.some((each) => resultPart(each) !== undefined)))
    return list
      .map(
        (each, at) => resultPart(each) ?? `[${media[at] ?? textOf(objectOf(each)['type']) ?? 'a part without text'}]`,
      )
      .join('\n');
  const inner = objectOf(value);
  if (['text', 'error-text'].includes(textOf(inner['type']) ?? '') && typeof inner['value'] === 'string')
    return inner['value'];
  if (['json', 'error-json', 'content'].includes(textOf(inner['type']) ?? '') && inner['value'] !== undefined)
    return resultText(inner['value']);
  return JSON.stringify(value);
}

/** Returns the text of a part of a result; undefined if it is data rather than a part. */
function resultPart(value: Json): string | undefined {
  const object = objectOf(value);
  const { text, json, type, content } = object;
  if (partKind(textOf(type) ?? '') === 'text' || Object.keys(object).length === 1) {
    const found = textOf(text) ?? textOf(content);
    return found ?? (json === undefined ? undefined : JSON.stringify(json));
  }
  return undefined;
}

/** Reads a part of a message. A part that is not text, thoughts, a call or a result is lost. */
function readPart(part: Json, to: Collected): void {
  const given = typeof part === 'string' ? { text: part } : withoutNulls(objectOf(part));
  const object = keyedPart(given) ?? given;
  const type = textOf(object['type']);
  const kind = type === undefined ? 'text' : partKind(type);
  const text = textIn(object, type);
  if (text !== undefined) to.text(text, Array.isArray(object['citations']));
  else if (kind === 'thought') to.thought(textOf(firstOf(object, 'thinking', 'text', 'reasoning', 'content')) ?? '');
  else if (kind === 'step') to.end();
  else if (kind === 'call') {
    to.call(object);
    // A tool of the model's server has its result in the same part.
    if (textOf(object['result']) !== undefined) to.result(resultPartOf(object));
  } else if (kind === 'result' || type?.endsWith('_tool_result')) to.result(resultPartOf(object));
  else if (kind === 'invocation') readUiTool(objectOf(object['toolInvocation'] ?? object), to);
  else if (type?.startsWith('tool-') && 'toolCallId' in object)
    readUiTool({ toolName: type.slice('tool-'.length), ...object }, to);
  else if (kind !== 'silent') to.lost.push(unreadPart(type));
}

function unreadPart(type: string | undefined): string {
  if (type === undefined) return 'has parts that are not text; they are left out';
  return `has parts that are not text (a picture, a file): a part of type "${type}" is left out`;
}

/** The words of a part; undefined for a part of another kind. */
function textIn(part: JsonObject, type: string | undefined): string | undefined {
  // Of what was spoken only the words are kept.
  if (type !== undefined && /^(?:(?:in|out)put_)?audio$/.test(type))
    return textOf(firstOf(part, 'transcript') ?? objectOf(part[type])['transcript']);
  if (type !== undefined && partKind(type) !== 'text') return undefined;
  const text = firstOf(part, 'text', 'content', 'refusal');
  return textOf(text) ?? textOf(objectOf(text)['value']);
}

/** Bedrock and Gemini name a part by its only key. Gemini marks thoughts among its texts. */
function keyedPart(part: JsonObject): JsonObject | undefined {
  const { toolUse, toolResult, reasoningContent, thought, text } = part;
  const functionCall = part['functionCall'] ?? part['function_call'];
  const functionResponse = part['functionResponse'] ?? part['function_response'];
  if (thought === true) return { type: 'thinking', thinking: text ?? '' };
  if (isObject(toolUse)) return { type: 'tool_use', ...toolUse };
  if (isObject(toolResult)) return { type: 'tool_result', ...toolResult };
  if (isObject(functionCall)) return { type: 'tool_call', ...functionCall };
  if (isObject(functionResponse)) return { type: 'tool_result', ...functionResponse };
  if (isObject(reasoningContent))
    return { type: 'thinking', thinking: firstOf(objectOf(reasoningContent['reasoningText']), 'text') ?? '' };
  return undefined;
}

function resultPartOf(part: JsonObject): Said {
  const callId = textOf(firstOf(part, 'tool_use_id', 'toolUseId', 'toolCallId', 'tool_call_id', 'id'));
  const name = textOf(firstOf(part, 'toolName', 'name'));
  const output = firstOf(part, 'output', 'result', 'response', 'content') ?? '';
  const content = resultText(output);
  const kind = textOf(objectOf(output)['type']) ?? '';
  const isError =
    part['is_error'] === true ||
    part['isError'] === true ||
    part['status'] === 'error' ||
    kind.startsWith('error') ||
    soundsFailed(content);
  return { role: 'tool', callId, name, content, isError };
}

/** Reads a call of the AI SDK's user interface, which holds its result. */
function readUiTool(part: JsonObject, to: Collected): void {
  const callId = textOf(part['toolCallId']);
  to.call({ ...part, id: part['toolCallId'] ?? null });
  const { errorText, approval } = part;
  const { approved, reason } = objectOf(approval);
  const output = firstOf(part, 'output', 'result');
  if (approved === false)
    to.result({ role: 'tool', callId, content: textOf(reason) ?? 'The call was denied.', isError: true });
  else if (typeof errorText === 'string') to.result({ role: 'tool', callId, content: errorText, isError: true });
  else if (output !== undefined) to.result({ role: 'tool', callId, content: resultText(output), isError: false });
}
