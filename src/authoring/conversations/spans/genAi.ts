import { isObject, type Json, type JsonObject, jsonOf } from '../../../engine/core/values/json.ts';
import { toolsIn } from '../offeredTools.ts';
import { listIn, objectOf, readMessage, resultText, soundsFailed, textOf } from '../saidMessage.ts';
import type { Dialect, DialectSpan } from './dialect.ts';
import { byTime, type Span, type SpanEvent } from './otlp.ts';
import { type CalledTool, type Exchange, exchangeIn, joined, nothing, type StepKind } from './step.ts';

/**
 * OpenTelemetry's conventions for generative AI: messages in the attributes `gen_ai.input.messages` and
 * `gen_ai.output.messages`, in the event of the operation's details, or in an event for each message as older versions
 * have it.
 */
export const genAi: Dialect = {
  label: 'GenAI conventions of OpenTelemetry',
  matches: ({ attributes, events, name }) =>
    [...Object.keys(attributes), ...events.map((event) => event.name), name].some((key) => key.startsWith('gen_ai.')),
  read: readSpan,
};

const kinds: Readonly<Record<string, StepKind>> = {
  chat: 'chat',
  text_completion: 'chat',
  generate_content: 'chat',
  execute_tool: 'tool',
  embeddings: 'other',
  retrieval: 'other',
  create_agent: 'other',
};

function readSpan(span: Span): DialectSpan {
  const { attributes, events } = span;
  const operation = textOf(attributes['gen_ai.operation.name']) ?? /^[a-z_]+(?= |$)/.exec(span.name)?.[0] ?? '';
  const named = kinds[operation] ?? (/^invoke_/.test(operation) ? 'agent' : undefined);
  const kind = named ?? (attributes['gen_ai.tool.call.id'] === undefined ? undefined : 'tool');
  const isCycle = operation === 'execute_event_loop_cycle';
  const details = events.filter(({ name }) => name === detailsName).map((each) => each.attributes);
  // A log record has the details both as its attributes and as its event.
  const firstOf = (...names: readonly string[]) =>
    [attributes, ...details].flatMap((each) => names.map((name) => each[name])).find((value) => value !== undefined);
  const single = events.filter(({ name }) => name !== detailsName).toSorted(byTime);
  const own = [...single, ...listedEvents(attributes)].map(eventMessage);
  const input = joined(
    systemIn(firstOf('gen_ai.system_instructions')),
    messagesIn(firstOf('gen_ai.input.messages', 'gen_ai.prompt'), 'user'),
    ...own.filter(({ isOutput }) => !isOutput).map(({ exchange }) => exchange),
  );
  const output = joined(
    messagesIn(firstOf('gen_ai.output.messages', 'gen_ai.completion'), 'assistant'),
    ...own.filter(({ isOutput }) => isOutput).map(({ exchange }) => exchange),
  );
  const hasWords = input.said.length + output.said.length > 0;
  return {
    kind: kind ?? (isCycle ? 'other' : hasWords ? 'chat' : undefined),
    input: kind === 'tool' ? nothing : input,
    output: kind === 'tool' ? nothing : output,
    tools: toolsIn(attributes['gen_ai.tool.definitions'] ?? attributes['gen_ai.request.tools']),
    called: kind === 'tool' ? calledIn(span, details) : undefined,
  };
}

/** Logfire writes the events of a span as a list into one attribute. */
function listedEvents(attributes: JsonObject): readonly SpanEvent[] {
  const listed = listIn(attributes['events']).map(objectOf);
  return listed.map((each) => ({ name: textOf(each['event.name']) ?? '', time: '', attributes: each }));
}

const detailsName = 'gen_ai.client.inference.operation.details';

function systemIn(value: Json | undefined): Exchange {
  if (value === undefined) return nothing;
  const parts = listIn(value);
  const content =
    parts.length > 0
      ? parts.map((part) => textOf(objectOf(part)['content'] ?? objectOf(part)['text']) ?? '').join('\n')
      : (textOf(value) ?? '');
  return content === '' ? nothing : { said: [{ role: 'system', content }], lost: [] };
}

function messagesIn(value: Json | undefined, role: 'user' | 'assistant'): Exchange {
  if (typeof value === 'string' && /^\s*\[\s*\{/.test(value) && jsonOf(value) === undefined)
    return {
      said: [],
      lost: ['its messages were cut off. Raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT where the agent runs'],
    };
  return exchangeIn(value, role);
}

type EventMessage = { readonly isOutput: boolean; readonly exchange: Exchange };

const roleOfEvent: Readonly<Record<string, string>> = {
  'gen_ai.system.message': 'system',
  'gen_ai.user.message': 'user',
  'gen_ai.assistant.message': 'assistant',
  'gen_ai.tool.message': 'tool',
};

/** Reads an event that is a message: `gen_ai.user.message`, `gen_ai.choice` and their like. */
function eventMessage({ name, attributes }: SpanEvent): EventMessage {
  const whole = jsonOf(textOf(attributes['gen_ai.event.content']) ?? '');
  const event = isObject(whole as Json) ? { ...attributes, ...(whole as JsonObject) } : attributes;
  const role = roleOfEvent[name];
  if (role !== undefined) {
    const plain = event === attributes ? textOf(event['gen_ai.event.content']) : undefined;
    const content = event['content'] ?? plain ?? null;
    const { id, tool_calls } = event;
    const own = { role, content: asParts(content), tool_calls: tool_calls ?? null, id: id ?? null };
    return { isOutput: false, exchange: readMessage(own) };
  }
  if (name === 'gen_ai.choice') {
    // Of several choices the first one was taken.
    if (Number(event['index'] ?? 0) !== 0) return { isOutput: true, exchange: nothing };
    const given = event['message'] ?? event;
    const [read] = typeof given === 'string' ? listIn(given) : [given];
    const isMessage = isObject(read) && ('role' in read || 'content' in read || 'tool_calls' in read);
    const message = isMessage ? { role: 'assistant', ...read } : { role: 'assistant', content: asParts(given) };
    return { isOutput: true, exchange: readMessage({ ...message, role: 'assistant' }) };
  }
  if (name === 'gen_ai.content.prompt')
    return { isOutput: false, exchange: exchangeIn(event['gen_ai.prompt'], 'user') };
  if (name === 'gen_ai.content.completion')
    return { isOutput: true, exchange: exchangeIn(event['gen_ai.completion'], 'assistant') };
  const isUnknown = name.startsWith('gen_ai.') && !name.includes('evaluation');
  return {
    isOutput: false,
    exchange: { said: [], lost: isUnknown ? [`the event ${name} is unknown; it is left out`] : [] },
  };
}

/** Contents that are an object without the shape of a part are what a tool returned or was given. */
function asParts(content: Json): Json {
  return isObject(content) ? JSON.stringify(content) : content;
}

/** Returns the arguments of a call as JSON text without spaces, or as the text that they are. */
function argumentsIn(value: Json | undefined): string | undefined {
  const text = textOf(value);
  const read = text === undefined ? value : jsonOf(text);
  return read === undefined ? text : JSON.stringify(read);
}

function calledIn({ attributes, events, isError }: Span, details: readonly JsonObject[]): CalledTool {
  const choice = events.find(({ name }) => name === 'gen_ai.choice')?.attributes;
  const answers = details.flatMap((each) => messagesIn(each['gen_ai.output.messages'], 'assistant').said);
  const told = answers.find((each) => each.role === 'tool');
  const result = attributes['gen_ai.tool.call.result'] ?? choice?.['message'] ?? told?.content;
  const content = result === undefined || result === null ? undefined : resultText(result);
  return {
    id: textOf(attributes['gen_ai.tool.call.id'] ?? choice?.['id']),
    name: textOf(attributes['gen_ai.tool.name']) ?? '',
    given: argumentsIn(attributes['gen_ai.tool.call.arguments']),
    result: content === undefined ? undefined : { content, isError: isError || soundsFailed(content) },
  };
}
