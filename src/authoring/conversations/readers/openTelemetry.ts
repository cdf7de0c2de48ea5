import { isObject, type Json } from '../../../engine/core/values/json.ts';
import type { Read } from '../conversation.ts';
import type { ConversationReader } from '../conversationReader.ts';
import type { LogFile } from '../logFile.ts';
import { conversationIdOf } from '../messageRows.ts';
import { objectOf, textOf } from '../saidMessage.ts';
import { conversationsIn } from '../spans/conversationTree.ts';
import type { Dialect, DialectSpan } from '../spans/dialect.ts';
import { genAi } from '../spans/genAi.ts';
import { googleAdk } from '../spans/googleAdk.ts';
import { openInference } from '../spans/openInference.ts';
import { isSpans, type Span, spansIn, withRecords } from '../spans/otlp.ts';
import { nothing, type Step } from '../spans/step.ts';
import { traceloop } from '../spans/traceloop.ts';
import { vercelAi } from '../spans/vercelAi.ts';

/** Reads spans of OpenTelemetry: OTLP as JSON, its log records, and spans as the SDKs print them. */
export const openTelemetry: ConversationReader = {
  name: 'opentelemetry',
  label: 'OpenTelemetry spans',
  source: 'spans',
  keys: ['resourceSpans'],
  matches: (value) => isSpans(objectOf(value)),
  read: readSpans,
};

/** The dialects of attributes that are read. The first one that finds messages in a span reads it. */
const dialects: readonly Dialect[] = [vercelAi, openInference, traceloop, googleAdk, genAi];

type PlacedSpan = Span & { readonly file: string; readonly line: number };

function readSpans(logs: readonly LogFile[]): Read {
  const values = logs.flatMap(({ path: file, values: own }) => own.map((each) => ({ file, ...each })));
  const found = values.map(({ file, line, value }) => ({ file, line, spans: spansIn(value as Json) }));
  const problems = found.flatMap(({ file, line, spans }) =>
    spans ? [] : [{ file, line, message: 'has no spans and no log records; expected an OTLP/JSON export' }],
  );
  const spans = found.flatMap(({ file, line, spans: own }) =>
    (own ?? []).map((each): PlacedSpan => ({ ...each, file, line })),
  );
  const steps = withRecords(spans).map(stepOf);
  const read = conversationsIn(steps.filter(isOfModels(steps)), silence);
  return { ...read, problems: [...problems, ...read.problems] };
}

/** Spans of models and what is around them: a program's other traces are not reported. */
function isOfModels(steps: readonly Step[]): (step: Step) => boolean {
  const traces = new Set(
    steps.flatMap(({ kind, unread, trace, id }) => (kind !== 'other' || unread.length > 0 ? [trace || id] : [])),
  );
  return ({ trace, id }) => traces.has(trace || id);
}

function stepOf(span: PlacedSpan): Step {
  const { file, line, trace, id, parent, links, time, name, isError, attributes } = span;
  const own = dialects.filter((each) => each.matches(span)).map((each) => each.read(span));
  const words = own.find(({ input, output }) => input.said.length + output.said.length > 0) ?? own[0];
  const { input = nothing, output = nothing }: Partial<DialectSpan> = words ?? {};
  const kind =
    own.find((each) => each.kind !== undefined)?.kind ?? (own.length > 0 && isModelSpan(span) ? 'chat' : 'other');
  const isSilent = input.said.length + output.said.length === 0 && kind !== 'tool';
  return {
    ...{ file, line, trace, id, parent, links, time, name, isError, kind },
    conversation: conversationIn(attributes),
    input: input.said,
    output: output.said,
    tools: own.find((each) => each.tools)?.tools,
    called: own.find((each) => each.called)?.called,
    lost: [...input.lost, ...output.lost],
    unread: isSilent ? unreadIn(span) : [],
  };
}

const isModelSpan = ({ attributes }: Span) =>
  Object.keys(attributes).some((key) => /^gen_ai\.(?:request|response)\.model$/.test(key));

/** The id of the conversation under the last word of an attribute: `gen_ai.conversation.id`, `session.id` and others. */
function conversationIn(attributes: Span['attributes']): string | undefined {
  const named = Object.entries(attributes).map(([key, value]) => {
    const words = key.split('.');
    const last = words.at(-1) ?? '';
    return [last === 'id' ? `${words.at(-2) ?? ''}_id` : last, value] as const;
  });
  return textOf(attributes['gen_ai.conversation.id']) ?? conversationIdOf(Object.fromEntries(named));
}

const wordsKey = /(?:prompt|completion|messages?|input|output|request|response|content)s?(?:\.value|_json)?$/i;

/** Attributes that look like words of a conversation. */
function unreadIn({ attributes, events }: Span): readonly string[] {
  const all = [attributes, ...events.map((each) => each.attributes)].flatMap((each) => Object.entries(each));
  const found = all.filter(([key, value]) => {
    if (key.startsWith('exception.')) return false;
    const isStructure = isObject(value) || Array.isArray(value);
    const text = isStructure ? JSON.stringify(value) : (textOf(value) ?? '');
    return /"(?:role|content|parts|messages|text)"\s*:/.test(text) || (wordsKey.test(key) && text.length >= 20);
  });
  return [...new Set(found.map(([key]) => key))];
}

function silence(id: string, steps: readonly Step[]): string {
  const unread = [...new Set(steps.flatMap((each) => each.unread))];
  const known = dialects.map(({ label }) => label).join(', ');
  if (unread.length > 0)
    return `the spans of ${id} have messages in attributes that are not read (${unread.slice(0, 4).join(', ')}). Read are ${known}. Record them in one of these, or write the messages as chats`;
  return `the spans of ${id} hold no messages; let the agent record them (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT)`;
}
