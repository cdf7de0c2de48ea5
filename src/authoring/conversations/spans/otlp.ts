import type { Json, JsonObject } from '../../../engine/core/values/json.ts';
import { timeIn } from '../messageTimes.ts';
import { objectOf, textOf } from '../saidMessage.ts';

/** A span of OpenTelemetry with its attributes as plain values. */
export type Span = {
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
  readonly links: readonly string[];
  readonly time: string;
  readonly name: string;
  readonly isError: boolean;
  /** Whether it is a log record: an event of the span that it names. */
  readonly isRecord: boolean;
  readonly attributes: JsonObject;
  readonly events: readonly SpanEvent[];
};
export type SpanEvent = { readonly name: string; readonly time: string; readonly attributes: JsonObject };

/** Returns the spans of a value: an OTLP export, its log records, or one span as the SDKs print it; null for others. */
export function spansIn(value: Json): readonly Span[] | null {
  const spans = partsOf(value, ['resourceSpans', 'scopeSpans', 'spans']);
  const records = partsOf(value, ['resourceLogs', 'scopeLogs', 'logRecords']);
  if (spans || records) return [...(spans ?? []).map(spanOf), ...(records ?? []).map(recordOf)];
  const printed = printedSpan(objectOf(value));
  return printed && [printed];
}

/** Returns whether a value has the shape of spans, without reading them. */
export const isSpans = (value: JsonObject): boolean =>
  ['resourceSpans', 'resourceLogs'].some((name) => Array.isArray(either(value, name))) || printedSpan(value) !== null;

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

const either = (object: JsonObject, name: string) => object[name] ?? object[snake(name)];

const words = (value: Json | undefined) => textOf(value) ?? '';

function spanOf(span: JsonObject): Span {
  const events = Array.isArray(span['events']) ? span['events'].map(objectOf) : [];
  const links = Array.isArray(span['links']) ? span['links'].map(objectOf) : [];
  const code = objectOf(span['status'])['code'];
  return {
    trace: words(either(span, 'traceId')),
    id: words(either(span, 'spanId')),
    parent: words(either(span, 'parentSpanId')),
    links: links.map((link) => words(either(link, 'traceId'))).filter((trace) => trace !== ''),
    time: words(either(span, 'startTimeUnixNano')),
    name: words(span['name']),
    isError: code === 2 || code === 'STATUS_CODE_ERROR',
    isRecord: false,
    attributes: attributesOf(span['attributes']),
    events: events.map((event) => ({
      name: words(event['name']),
      time: words(either(event, 'timeUnixNano')),
      attributes: attributesOf(event['attributes']),
    })),
  };
}

/** A log record that is an event of a span. */
function recordOf(record: JsonObject): Span {
  const attributes = attributesOf(record['attributes']);
  const body = plainValue(record['body'] ?? null);
  const time = words(either(record, 'timeUnixNano') ?? either(record, 'observedTimeUnixNano'));
  const name = words(either(record, 'eventName') ?? attributes['event.name']);
  const own = objectOf(body);
  return {
    trace: words(either(record, 'traceId')),
    id: words(either(record, 'spanId')),
    parent: '',
    links: [],
    time,
    name: '',
    isError: false,
    isRecord: true,
    attributes,
    events: [{ name, time, attributes: { ...attributes, ...own } }],
  };
}

/** Joins log records to their span, or to each other where their span is not there. */
export function withRecords<Placed extends Span>(spans: readonly Placed[]): readonly Placed[] {
  const keyOf = ({ trace, id, attributes }: Placed) => `${trace}/${id}/${words(attributes['gen_ai.conversation.id'])}`;
  const events = Map.groupBy(
    spans.filter(({ isRecord }) => isRecord),
    ({ trace, id }) => `${trace}/${id}`,
  );
  const joined = (own: Placed, records: readonly Placed[]): Placed => {
    const attributes = Object.assign({}, ...records.map((each) => each.attributes), own.attributes);
    return { ...own, attributes, events: [...own.events, ...records.flatMap((each) => each.events)] };
  };
  const real = spans.filter(({ isRecord }) => !isRecord);
  const known = new Set(real.map(({ trace, id }) => `${trace}/${id}`));
  const loose = spans.filter(({ isRecord, trace, id }) => isRecord && !known.has(`${trace}/${id}`));
  return [
    ...real.map((each) => joined(each, each.id === '' ? [] : (events.get(`${each.trace}/${each.id}`) ?? []))),
    ...[...Map.groupBy(loose, keyOf).values()].flatMap(([first, ...others]) => (first ? [joined(first, others)] : [])),
  ];
}

/** OTLP writes attributes as a list of keys and typed values. */
function attributesOf(list: Json | undefined): JsonObject {
  if (!Array.isArray(list)) return objectOf(list);
  return Object.fromEntries(list.map(objectOf).map(({ key, value }) => [words(key), plainValue(value ?? null)]));
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

/** The trace that a link is to: Python prints it as a number in base 16. */
function traceOfLink(link: JsonObject): string {
  const context = objectOf(link['context']);
  return words(context['trace_id'] ?? either(context, 'traceId') ?? either(link, 'traceId'));
}

/** A span as the console exporters print it, or as a store of spans lists it. */
function printedSpan(span: JsonObject): Span | null {
  const context = objectOf(span['context']);
  const trace = words(
    context['trace_id'] ?? either(context, 'traceId') ?? either(span, 'traceId') ?? span['context.trace_id'],
  );
  const { attributes } = span;
  if (trace === '' || typeof attributes !== 'object' || attributes === null) return null;
  const time =
    span['start_time'] ?? either(span, 'startTimeUnixNano') ?? span['startTime'] ?? span['timestamp'] ?? null;
  const events = Array.isArray(span['events']) ? span['events'].map(objectOf) : [];
  const links = Array.isArray(span['links']) ? span['links'].map(objectOf) : [];
  const status = span['status_code'] ?? objectOf(span['status'])['status_code'] ?? objectOf(span['status'])['code'];
  return {
    trace,
    id: words(
      context['span_id'] ??
        either(context, 'spanId') ??
        either(span, 'spanId') ??
        span['context.span_id'] ??
        span['id'],
    ),
    parent: words(span['parent_id'] ?? either(span, 'parentSpanId') ?? either(span, 'parentId')),
    links: links.map(traceOfLink).filter((other) => other !== ''),
    time: nanoseconds(time),
    name: words(span['name']),
    isError: status === 'ERROR' || status === 2,
    isRecord: false,
    attributes: attributesOf(attributes),
    events: events.map((event) => ({
      name: words(event['name']),
      time: nanoseconds(event['timestamp'] ?? event['time'] ?? null),
      attributes: attributesOf(event['attributes']),
    })),
  };
}

/** Returns a time as nanoseconds. */
export function nanoseconds(value: Json): string {
  const text = textOf(value) ?? '';
  if (/^\d{19}$/.test(text)) return text;
  // Microseconds tell apart what one agent does within a millisecond.
  const micros = /\.\d{3}(\d{1,6})/.exec(text)?.[1]?.padEnd(6, '0') ?? '000000';
  const time = timeIn(value);
  return time === undefined ? '' : `${BigInt(Math.floor(time)) * 1_000_000n + BigInt(micros)}`;
}

/** Compares times in nanoseconds as texts. */
export function byTime(one: { readonly time: string }, other: { readonly time: string }): number {
  return one.time.length - other.time.length || (one.time < other.time ? -1 : one.time > other.time ? 1 : 0);
}
