import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { callArguments, type ToolCall } from '../../core/message.ts';
import { isTooDeep } from '../../core/nesting.ts';
import type { Offered } from '../../core/tool.ts';
import { readText } from '../disk.ts';
import type { Conversation, ImportProblem, ReadConversations, SpokenMessage } from './conversation.ts';
import { valuesIn } from './jsonValues.ts';

/** A span or a log record of OpenTelemetry, with its attributes as plain values. */
type Signal = {
  readonly file: string;
  readonly line: number;
  readonly trace: string;
  readonly span: string;
  /** Nanoseconds, as text: they are larger than a number can tell. */
  readonly time: string;
  readonly attributes: JsonObject;
  readonly events: readonly { readonly name: string; readonly time: string; readonly attributes: JsonObject }[];
};

/** A message without its place in the conversation. */
type Unplaced =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'agent';
      readonly content: string | null;
      readonly reasoning?: string;
      readonly calls: readonly ToolCall[];
    }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string; readonly isError: boolean };

/**
 * Reads conversations from OpenTelemetry's spans for generative AI, as OTLP/JSON exports them: messages in the attributes
 * `gen_ai.input.messages` and `gen_ai.output.messages`, or in the events of older versions. Spans of one
 * `gen_ai.conversation.id` are one conversation, without one those of a trace.
 */
export function readSpans(files: readonly string[]): ReadConversations {
  const read = files.map((file) => signalsIn(file, readText(file)));
  const signals = read.flatMap((each) => each.signals);
  const problems = read.flatMap((each) => each.problems);
  const groups = grouped(signals);
  const found = [...groups].map(([id, own]) => conversationOf(id, own));
  const silent = found.filter(({ messages }) => messages.length === 0);
  return {
    conversations: found.filter(({ messages }) => messages.length > 0),
    problems: [...problems, ...silent.map(({ file, line, id }) => ({ file, line, message: silence(id ?? '') }))],
  };
}

function silence(id: string): string {
  return `the spans of ${id} hold no messages; let the agent record them (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT)`;
}

function signalsIn(
  file: string,
  text: string,
): { readonly signals: readonly Signal[]; readonly problems: readonly ImportProblem[] } {
  const { values, problems } = valuesIn(text);
  const signals: Signal[] = [];
  const found: ImportProblem[] = problems.map((each) => ({ file, ...each }));
  for (const { value, line } of values) {
    const spans = partsOf(value as Json, ['resourceSpans', 'scopeSpans', 'spans']);
    const records = partsOf(value as Json, ['resourceLogs', 'scopeLogs', 'logRecords']);
    if (!spans && !records)
      found.push({ file, line, message: 'has no resourceSpans and no resourceLogs; expected an OTLP/JSON export' });
    for (const each of spans ?? []) signals.push(spanOf(file, line, each));
    for (const each of records ?? []) signals.push(recordOf(file, line, each));
  }
  return { signals, problems: found };
}

/** The members of nested lists by their names; null where the first is missing. Some exporters leave the first ones out. */
function partsOf(value: Json | undefined, names: readonly string[]): readonly JsonObject[] | null {
  const [name = '', ...rest] = names;
  const own =
    objectOf(value)[name] ??
    objectOf(value)[snake(name)] ??
    (name === 'scopeSpans' ? objectOf(value)['instrumentationLibrarySpans'] : undefined);
  if (!Array.isArray(own)) return null;
  if (rest.length === 0) return own.map(objectOf);
  return own.flatMap((each) => partsOf(each, rest) ?? []);
}

const snake = (name: string) => name.replace(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`);

function spanOf(file: string, line: number, span: JsonObject): Signal {
  const events = Array.isArray(span['events']) ? span['events'].map(objectOf) : [];
  return {
    file,
    line,
    trace: textOf(span['traceId'] ?? span['trace_id']),
    span: textOf(span['spanId'] ?? span['span_id']),
    time: textOf(span['startTimeUnixNano'] ?? span['start_time_unix_nano']),
    attributes: attributesOf(span['attributes']),
    events: events.map((event) => ({
      name: textOf(event['name']),
      time: textOf(event['timeUnixNano'] ?? event['time_unix_nano']),
      attributes: attributesOf(event['attributes']),
    })),
  };
}

/** A log record that is an event of a span. */
function recordOf(file: string, line: number, record: JsonObject): Signal {
  const attributes = attributesOf(record['attributes']);
  const body = plainValue(record['body'] ?? null);
  const name = textOf(record['eventName'] ?? attributes['event.name']);
  const time = textOf(record['timeUnixNano'] ?? record['observedTimeUnixNano']);
  const own = {
    name,
    time,
    attributes: { ...attributes, ...(typeof body === 'object' && body !== null ? (body as JsonObject) : {}) },
  };
  const trace = textOf(record['traceId']);
  return { file, line, trace, span: textOf(record['spanId']), time, attributes, events: [own] };
}

/** OTLP writes attributes as a list of keys and typed values. */
function attributesOf(list: Json | undefined): JsonObject {
  if (!Array.isArray(list)) return objectOf(list);
  return Object.fromEntries(list.map(objectOf).map(({ key, value }) => [textOf(key), plainValue(value ?? null)]));
}

/** The value of an `AnyValue` of OTLP. */
function plainValue(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const any = value as JsonObject;
  if ('stringValue' in any) return any['stringValue'] ?? '';
  if ('boolValue' in any) return any['boolValue'] ?? false;
  if ('intValue' in any) return Number(any['intValue']);
  if ('doubleValue' in any) return any['doubleValue'] ?? 0;
  if ('bytesValue' in any) return any['bytesValue'] ?? '';
  if ('arrayValue' in any) {
    const { values } = objectOf(any['arrayValue']);
    return Array.isArray(values) ? values.map((each) => plainValue(each)) : [];
  }
  if ('kvlistValue' in any) return attributesOf(objectOf(any['kvlistValue'])['values'] ?? []);
  return any;
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

const textOf = (value: Json | undefined) =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value);

const isOurs = ({ attributes, events }: Signal) =>
  [...Object.keys(attributes), ...events.map(({ name }) => name)].some((name) => name.startsWith('gen_ai.'));

/** Signals by the conversation that they are of, in the order of their time. */
function grouped(signals: readonly Signal[]): ReadonlyMap<string, readonly Signal[]> {
  const named = new Map<string, string>();
  const idOf = ({ attributes }: Signal) => textOf(attributes['gen_ai.conversation.id'] ?? attributes['session.id']);
  for (const each of signals) if (idOf(each) !== '' && each.trace !== '') named.set(each.trace, idOf(each));
  const groups = new Map<string, Signal[]>();
  for (const each of signals.filter(isOurs)) {
    const id = idOf(each) || named.get(each.trace) || each.trace || each.span;
    groups.set(id, [...(groups.get(id) ?? []), each]);
  }
  return new Map([...groups].map(([id, own]) => [id, own.toSorted(byTime)]));
}

function byTime(one: { readonly time: string }, other: { readonly time: string }): number {
  return one.time.length - other.time.length || (one.time < other.time ? -1 : one.time > other.time ? 1 : 0);
}

function conversationOf(id: string, signals: readonly Signal[]): Conversation {
  const [first] = signals;
  const lost: ImportProblem[] = [];
  let known: readonly (Unplaced & { readonly line: number })[] = [];
  for (const signal of signals) {
    const { line, file } = signal;
    const said = [...saidIn(signal, (what) => lost.push({ file, line, message: `span ${signal.span}: ${what}` }))];
    known = followed(
      known,
      said.map((each) => ({ ...each, line })),
    );
  }
  const whole = withResults(known, signals);
  const tools = signals.map(({ attributes }) => toolsIn(attributes)).findLast((each) => each.length > 0);
  return {
    id,
    file: first?.file ?? '',
    line: first?.line ?? 1,
    ...(tools ? { tools } : {}),
    messages: whole.map((each, index): SpokenMessage => ({ ...each, number: index + 1 })),
    lost,
  };
}

/** The messages of a span: what the model was asked with, then what it answered. */
function* saidIn(signal: Signal, onLost: (what: string) => void): Iterable<Unplaced> {
  const { attributes, events } = signal;
  const details = events.filter(({ name }) => name === 'gen_ai.client.inference.operation.details');
  for (const source of [attributes, ...details.map((each) => each.attributes)]) {
    const instructions = listOf(source['gen_ai.system_instructions']);
    const text = instructions.map((part) => textOf(objectOf(part)['content'])).join('\n');
    if (text !== '') yield { role: 'system', content: text };
    for (const name of ['gen_ai.input.messages', 'gen_ai.output.messages'])
      for (const message of listOf(source[name])) yield* inParts(objectOf(message), onLost);
  }
  for (const { name, attributes: own } of events.toSorted(byTime)) yield* inEvent(name, own, onLost);
}

/** A list that an attribute holds, as such or as a JSON text. */
function listOf(value: Json | undefined): readonly Json[] {
  if (typeof value !== 'string') return Array.isArray(value) ? value : [];
  try {
    const read: unknown = JSON.parse(value);
    if (isTooDeep(read)) return [];
    return Array.isArray(read) ? read : typeof read === 'object' && read !== null ? [read as Json] : [];
  } catch {
    return [];
  }
}

/** A message of parts: `{"role", "parts": [{"type": "text", "content"}, {"type": "tool_call", ...}]}`. */
function* inParts(message: JsonObject, onLost: (what: string) => void): Iterable<Unplaced> {
  const parts = (Array.isArray(message['parts']) ? message['parts'] : []).map(objectOf);
  const role = textOf(message['role']);
  const ofType = (type: string) => parts.filter((part) => part['type'] === type);
  const text = ofType('text')
    .map((part) => textOf(part['content']))
    .join('');
  for (const part of [...ofType('tool_call_response'), ...ofType('tool_result')])
    yield resultOf(textOf(part['id']), part['response'] ?? part['result'] ?? part['content'] ?? '');
  const known = ['text', 'tool_call', 'tool_call_response', 'tool_result', 'reasoning'];
  for (const part of parts.filter((each) => !known.includes(textOf(each['type']))))
    onLost(`a part of type "${textOf(part['type'])}" is no text; it is left out`);
  if (role === 'assistant') {
    const calls = ofType('tool_call').map((part, index) =>
      callOf(textOf(part['id']) || `call_${index}`, part['name'], part['arguments']),
    );
    const reasoning = ofType('reasoning')
      .map((part) => textOf(part['content']))
      .join('');
    yield {
      role: 'agent',
      content: text === '' && calls.length > 0 ? null : text,
      calls,
      ...(reasoning === '' ? {} : { reasoning }),
    };
  } else if (role === 'user' || role === 'system' || role === 'developer') {
    if (text !== '') yield { role: role === 'user' ? 'user' : 'system', content: text };
  } else if (role !== 'tool') onLost(`a message has the role "${role}"; it is left out`);
}

/** The events that were messages before the attributes were: `gen_ai.user.message`, `gen_ai.choice` and their like. */
function* inEvent(name: string, event: JsonObject, onLost: (what: string) => void): Iterable<Unplaced> {
  const content = contentOf(event['content'] ?? event['gen_ai.event.content'] ?? null);
  switch (name) {
    case 'gen_ai.system.message':
      return yield { role: 'system', content };
    case 'gen_ai.user.message':
      return yield { role: 'user', content };
    case 'gen_ai.tool.message':
      return yield resultOf(textOf(event['id']), content);
    case 'gen_ai.assistant.message':
      return yield answerOf(event, onLost);
    case 'gen_ai.choice': {
      const { message } = event;
      const [read] = typeof message === 'string' ? listOf(message) : [message ?? null];
      // Of several choices the first one was taken.
      if (Number(event['index'] ?? 0) === 0)
        yield answerOf(read === null || read === undefined ? event : objectOf(read), onLost);
      return;
    }
    case 'gen_ai.content.prompt':
      for (const each of listOf(event['gen_ai.prompt'])) yield* inRole(objectOf(each), onLost);
      return;
    case 'gen_ai.content.completion':
      for (const each of listOf(event['gen_ai.completion'])) yield* inRole(objectOf(each), onLost);
      return;
    default:
      if (name.startsWith('gen_ai.') && !/operation\.details$|evaluation/.test(name))
        onLost(`the event ${name} is unknown; it is left out`);
  }
}

function* inRole(message: JsonObject, onLost: (what: string) => void): Iterable<Unplaced> {
  const role = textOf(message['role']);
  const content = contentOf(message['content'] ?? null);
  if (role === 'system' || role === 'user') yield { role, content };
  else if (role === 'assistant') yield answerOf(message, onLost);
  else if (role === 'tool') yield resultOf(textOf(message['tool_call_id'] ?? message['id']), content);
  else onLost(`a message has the role "${role}"; it is left out`);
}

function answerOf(message: JsonObject, onLost: (what: string) => void): Unplaced {
  const listed = message['tool_calls'];
  if (listed !== undefined && typeof listed !== 'string' && !Array.isArray(listed))
    onLost('its tool_calls are no list; they are left out');
  const calls = listOf(listed).map((each, index) => {
    const { id, function: own } = objectOf(each);
    return callOf(textOf(id) || `call_${index}`, objectOf(own)['name'], objectOf(own)['arguments']);
  });
  const content = contentOf(message['content'] ?? null);
  return { role: 'agent', content: content === '' && calls.length > 0 ? null : content, calls };
}

function contentOf(content: Json): string {
  if (Array.isArray(content)) return content.map((part) => textOf(objectOf(part)['text'])).join('');
  return typeof content === 'object' && content !== null ? JSON.stringify(content) : textOf(content);
}

function callOf(id: string, name: Json | undefined, given: Json | undefined): ToolCall {
  const written = typeof given === 'string' ? callArguments(given) : { arguments: objectOf(given) };
  return { id, name: textOf(name), ...written };
}

function resultOf(callId: string, result: Json): Unplaced {
  const content = typeof result === 'string' ? result : JSON.stringify(result);
  return { role: 'tool', callId, content, isError: /^Error: /.test(content) };
}

/** Each span of a conversation tells what came before it again: only what is new is added. */
function followed<Said extends Unplaced>(known: readonly Said[], said: readonly Said[]): readonly Said[] {
  const keys = said.map(keyOf);
  const before = known.map(keyOf);
  for (let from = 0; from < before.length; from++) {
    const rest = before.slice(from);
    if (rest.length <= keys.length && rest.every((key, index) => key === keys[index]))
      return [...known, ...said.slice(rest.length)];
  }
  // A span may tell less than all that came before: what is known of it already is not said twice.
  const isKnown = keys.length > 0 && before.some((_, from) => keys.every((key, index) => before[from + index] === key));
  if (isKnown) return known;
  const isSystem = (each: Said) => each.role === 'system' && before.includes(keyOf(each));
  return [...known, ...said.filter((each) => !isSystem(each))];
}

/** Equal for messages that say the same; reasoning is often left out where a message is told again. */
function keyOf(said: Unplaced): string {
  if (said.role === 'tool') return JSON.stringify(['tool', said.callId, said.content]);
  if (said.role !== 'agent') return JSON.stringify([said.role, said.content]);
  return JSON.stringify([
    'agent',
    said.content ?? '',
    said.calls.map(({ id, name, arguments: given }) => [id, name, given]),
  ]);
}

/** Results that only the spans of the tools themselves tell, put behind their calls. */
function withResults<Said extends Unplaced & { readonly line: number }>(
  said: readonly Said[],
  signals: readonly Signal[],
): readonly (Unplaced & { readonly line: number })[] {
  const told = new Set(said.flatMap((each) => (each.role === 'tool' ? [each.callId] : [])));
  const executed = new Map(
    signals.flatMap(({ attributes, line }) => {
      const id = textOf(attributes['gen_ai.tool.call.id']);
      const result = attributes['gen_ai.tool.call.result'];
      return id === '' || result === undefined ? [] : [[id, { ...resultOf(id, result), line }] as const];
    }),
  );
  return said.flatMap((each) => {
    if (each.role !== 'agent') return [each];
    return [each, ...each.calls.flatMap(({ id }) => (told.has(id) ? [] : (executed.get(id) ?? [])))];
  });
}

/** The tools that the model was offered, where a span says so. */
function toolsIn(attributes: JsonObject): readonly Offered[] {
  return listOf(attributes['gen_ai.tool.definitions'])
    .map((each) => ({ ...objectOf(each), ...objectOf(objectOf(each)['function']) }) as JsonObject)
    .filter(({ name }) => typeof name === 'string')
    .map(({ name, description, parameters }) => ({
      name: textOf(name),
      description: textOf(description),
      parameters: Object.keys(objectOf(parameters)).length > 0 ? objectOf(parameters) : { type: 'object' },
    }));
}
