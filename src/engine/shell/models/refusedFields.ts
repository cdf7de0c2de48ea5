import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import type { Json } from '../../core/values/json.ts';
import type { ChatRequest, SentMessage } from './chatMessage.ts';
import { fieldsOf } from './providerError.ts';

/** Something that an endpoint refuses in requests of a model, and what is done about it from then on. */
export type Adaptation =
  /** A field is left out; where `beside` is named, only from requests that have that one too. */
  | { readonly type: 'without'; readonly field: string; readonly beside?: string }
  | { readonly type: 'renamed'; readonly field: string; readonly to: string }
  /** A field has another value, where it has this one; of an object, its type counts. */
  | { readonly type: 'replaced'; readonly field: string; readonly from: Json; readonly to: Json }
  /** Messages of the model go back without a field that came with them. */
  | { readonly type: 'messagesWithout'; readonly field: string }
  /** Messages of the model without a text have an empty one. */
  | { readonly type: 'filled'; readonly field: 'content' }
  /** Ids of calls go as nine letters and digits, which all providers take. */
  | { readonly type: 'shortIds'; readonly field: 'tool_call_id' }
  /** The answer comes as a stream. */
  | { readonly type: 'streamed'; readonly field: 'stream' };

/** An answer with an error, as the border reads it. */
export type RefusedRequest = {
  readonly status: number | undefined;
  readonly message: string;
  readonly code?: string | null | undefined;
  readonly errorType?: string | null | undefined;
  /** Whether it came in an answer whose own status is a success. */
  readonly isInAnswer?: boolean;
  /** The field that the endpoint names. */
  readonly param?: string | null | undefined;
};

/** Fields without which a request says something else. */
const needed = ['model', 'messages', 'tools', 'tool_choice', 'stream'];
const neededInMessages = ['role', 'content', 'tool_calls', 'rehearsal_id'];
const neededInCalls = ['id', 'type', 'function'];

const renamings: Readonly<Record<string, string>> = { max_tokens: 'max_completion_tokens' };

/** The adaptations learned for each model at each endpoint, in this process. */
const learned = new Map<string, readonly Adaptation[]>();
const most = 1000;

const modelKeyOf = ({ baseUrl, model }: ModelSeat) => `${model} ${baseUrl}`;

function adaptationsOf(seat: ModelSeat): readonly Adaptation[] {
  return learned.get(modelKeyOf(seat)) ?? [];
}

/** Remembers what an endpoint refuses. Returns whether that is new. */
function learn(seat: ModelSeat, adaptation: Adaptation): boolean {
  const known = adaptationsOf(seat);
  if (known.some((each) => describeAdaptation(each) === describeAdaptation(adaptation))) return false;
  const [oldest] = learned.keys();
  if (learned.size >= most && oldest !== undefined) learned.delete(oldest);
  learned.set(modelKeyOf(seat), [...known, adaptation]);
  return true;
}

/** Describes an adaptation in words that follow "asked". */
export function describeAdaptation(adaptation: Adaptation): string {
  switch (adaptation.type) {
    case 'without':
      return `without ${fieldText(adaptation)}`;
    case 'renamed':
      return `with ${adaptation.to} in place of ${adaptation.field}`;
    case 'replaced':
      return `with ${adaptation.field} ${adaptation.to} in place of ${adaptation.from}`;
    case 'messagesWithout':
      return `without ${adaptation.field} in messages`;
    case 'filled':
      return `with ${adaptation.field} in every message`;
    case 'shortIds':
      return 'with ids of calls of nine letters and digits';
    case 'streamed':
      return 'to stream its answers';
  }
}

/** Returns the field of an adaptation, with what else belongs to the refusal. */
export function fieldText(adaptation: Adaptation): string {
  const { field } = adaptation;
  if (adaptation.type === 'replaced') return `${field} ${adaptation.from}`;
  if (adaptation.type === 'filled') return `messages without ${field}`;
  return adaptation.type === 'without' && adaptation.beside ? `${field} beside ${adaptation.beside}` : field;
}

/** Reports an adaptation in a sentence. */
export function reportAdaptation(adaptation: Adaptation): string {
  const { type } = adaptation;
  const refused =
    type === 'streamed' ? 'requests for a whole answer' : type === 'shortIds' ? 'ids of calls' : fieldText(adaptation);
  return `the endpoint does not accept ${refused} and is asked ${describeAdaptation(adaptation)} from now on`;
}

/**
 * Asks an endpoint without what it refuses, and learns that from its answers. It is asked again while that changes the
 * request: an endpoint may refuse a field also under another name.
 * @param fixed fields that stay as they are
 * @param onLearned receives each adaptation that was not known before
 */
export async function askAdapted<Answered extends { readonly refused: RefusedRequest | null }>(
  seat: ModelSeat,
  whole: ChatRequest,
  fixed: readonly string[],
  ask: (request: ChatRequest) => Promise<Answered>,
  onLearned: (adaptation: Adaptation) => void = () => undefined,
): Promise<Answered & Adapted> {
  for (let adapted = adapt(seat, whole, fixed); ; ) {
    const { request } = adapted;
    const answered = await ask(request);
    const adaptation = answered.refused && adaptationFor(answered.refused, request, fixed);
    if (adaptation && learn(seat, adaptation)) onLearned(adaptation);
    const next = adapt(seat, whole, fixed);
    if (!adaptation || isDeepStrictEqual(next.request, request)) return { ...answered, ...adapted };
    adapted = next;
  }
}

/** A request as its endpoint accepts it, and the adaptations that changed it. */
type Adapted = { readonly request: ChatRequest; readonly applied: readonly Adaptation[] };

/**
 * Returns a request without what its endpoint is known to refuse.
 * @param fixed fields that stay as they are
 */
export function adapt(seat: ModelSeat, request: ChatRequest, fixed: readonly string[] = []): Adapted {
  const applied: Adaptation[] = [];
  let fields = request;
  for (const each of adaptationsOf(seat)) {
    const isInMessages = ['messagesWithout', 'filled', 'shortIds'].includes(each.type);
    if (fixed.includes(isInMessages ? 'messages' : each.field)) continue;
    const next = change(fields, each);
    if (next === fields) continue;
    applied.push(each);
    fields = next;
  }
  return { request: fields, applied };
}

function change(request: ChatRequest, adaptation: Adaptation): ChatRequest {
  const { field } = adaptation;
  if (adaptation.type === 'messagesWithout') return withMessages(request, (each) => withoutField(each, field));
  if (adaptation.type === 'shortIds') return withMessages(request, withShortIds);
  if (adaptation.type === 'filled') return withMessages(request, withContent);
  if (adaptation.type === 'streamed')
    // Without this option, some servers count no tokens in a stream.
    return { stream_options: { include_usage: true }, ...request, stream: true };
  if (adaptation.type === 'replaced')
    return hasValue(request, field, adaptation.from)
      ? { ...request, [field]: fieldsOf(request[field]) ? { type: adaptation.to } : adaptation.to }
      : request;
  const beside = adaptation.type === 'without' ? (adaptation.beside ?? field) : field;
  if (!Object.hasOwn(request, field) || !Object.hasOwn(request, beside)) return request;
  const to = adaptation.type === 'renamed' ? [adaptation.to] : [];
  const entries = Object.entries(request).flatMap(([name, value]) =>
    (name === field ? to : [name]).map((sent) => [sent, value] as const),
  );
  const { model, messages } = request;
  return { ...Object.fromEntries(entries), model, messages };
}

function withMessages(request: ChatRequest, changed: (message: SentMessage) => SentMessage): ChatRequest {
  const messages = request.messages.map(changed);
  return messages.every((each, at) => each === request.messages[at]) ? request : { ...request, messages };
}

const withContent = (message: SentMessage): SentMessage =>
  message.role === 'assistant' && (message.content ?? null) === null ? { ...message, content: '' } : message;

function hasValue(request: ChatRequest, field: string, value: Json): boolean {
  const own = request[field];
  return (fieldsOf(own)?.['type'] ?? own) === value;
}

const isShort = (id: unknown) => typeof id !== 'string' || /^[a-zA-Z0-9]{9}$/.test(id);
const shortId = (id: unknown) => (isShort(id) ? id : createHash('sha256').update(String(id)).digest('hex').slice(0, 9));

function withShortIds(message: SentMessage): SentMessage {
  const { tool_call_id: id, tool_calls: calls } = message;
  if (isShort(id) && (calls ?? []).every((call) => isShort(call['id']))) return message;
  return {
    ...message,
    ...(id === undefined ? {} : { tool_call_id: shortId(id) }),
    ...(calls ? { tool_calls: calls.map((call) => ({ ...call, id: shortId(call['id']) })) } : {}),
  };
}

function withoutField(message: SentMessage, field: string): SentMessage {
  if (message.role !== 'assistant') return message;
  const { tool_calls: calls } = message;
  const isInCalls = calls?.some((call) => Object.hasOwn(call, field)) ?? false;
  if (!Object.hasOwn(message, field) && !isInCalls) return message;
  const { [field]: _, ...rest } = message;
  return {
    ...rest,
    role: message.role,
    ...(calls ? { tool_calls: calls.map(({ [field]: _value, ...call }) => call) } : {}),
  };
}

const refusal =
  /unsupported|(?:schema conversion|parse grammar) failed|failed to parse grammar|(?:not|n't) support|not (?:permitted|allowed|available|accepted|recogni[sz]ed)|unavailable|unknown|unrecogni[sz]ed|unexpected|extra (?:inputs|fields)|extra_forbidden|only (?:the default|\S+ is (?:allowed|supported))|may only be|deprecated|不支持/i;
/** A refusal where the endpoint names the field apart from its words. */
const invalidField = /invalid (?:parameter|argument|field|property)/i;
/** A value that is too large is a mistake of a person, and a field that must be there is not refused. */
const otherFault =
  /too (?:large|long|big|high|many)|greater than|at most|exceed|must be (?:passed|provided|set)|is required/i;
const structuredOutput = /json.?schema|response.?(?:format|schema)|structured.?output|grammar|guided/i;

/** Matches how servers report that they accept either of two fields, but not both in one request. */
const notTogether =
  /\bboth\b|together|at the same time|simultaneously|mutually exclusive|one of|either|(?:not|n't) be (?:used|set|specified|combined) (?:with|when|if)/i;

/** Matches how servers report that they only stream; Qwen's thinks only in streams. */
const onlyStreams =
  /only supports? stream|stream(?:ing)? (?:is required|mode only|only)|non-?stream\S*(?: \w+)* (?:is|are) not (?:supported|allowed)|(?:not|n't) support non-?stream|for non-streaming calls|stream\W+(?:must be|needs to be|should be|to)(?: set to)? "?'?`?true|enable the stream parameter/i;

/**
 * Matches how providers refuse call ids of other models: Mistral, and a server of its models that refuses its own ids;
 * OpenAI for long ids; Anthropic and Bedrock for ids with other characters.
 */
const wantsShortIds =
  /tool.?call.?ids? .*length(?: of)? 9\b|tool_call(?:s\[\d+\]\.|_)id\b.*(?:too long|pattern)|tool_?use[._]?id\b.*(?:pattern|length)/i;

/**
 * Returns what to change in a request that an endpoint refused, or null where its answer names no field that can be
 * left out.
 * @param fixed fields that stay as they are
 */
export function adaptationFor(
  { status, message, code, param }: RefusedRequest,
  request: ChatRequest,
  fixed: readonly string[] = [],
): Adaptation | null {
  if (wantsShortIds.test(message)) {
    const isLong = request.messages.some((each) => withShortIds(each) !== each);
    return isLong && !fixed.includes('messages') ? { type: 'shortIds', field: 'tool_call_id' } : null;
  }
  if (![400, 404, 422, 500].includes(status ?? 0)) return null;
  const words = `${message} ${param ?? ''}`;
  const replaced =
    formatFor(words, request, fixed) ?? temperatureFor(words, request, fixed) ?? contentFor(message, request, fixed);
  if (replaced || status === 500) return replaced;
  if (onlyStreams.test(message))
    return request['stream'] === true || fixed.includes('stream') ? null : { type: 'streamed', field: 'stream' };
  const exclusive = exclusiveFieldIn(message, request, fixed);
  if (exclusive) return exclusive;
  const said = `${message} ${code ?? ''}`;
  if (!(refusal.test(said) || (param && invalidField.test(said))) || otherFault.test(message)) return null;
  // Such as body.temperature, response_format.type or messages[1].reasoning.
  const place = (param ?? '').split(/[^\w]+/);
  const isInNeeded = place.some((part) => needed.includes(part));
  const names = Object.keys(request).filter((field) => !needed.includes(field) && !fixed.includes(field));
  const field =
    (isInNeeded ? undefined : names.find((name) => place.includes(name))) ??
    bySize(names).find((name) => mentions(message, name)) ??
    names.find((name) => name === 'response_format' && structuredOutput.test(message));
  if (field !== undefined) {
    const to = renamings[field];
    return to === undefined ? { type: 'without', field } : { type: 'renamed', field, to };
  }
  if (fixed.includes('messages')) return null;
  const inMessages = bySize(fieldsOfMessages(request)).find(
    (name) => mentions(message, name) || (place.includes('messages') && place.includes(name)),
  );
  return inMessages === undefined ? null : { type: 'messagesWithout', field: inMessages };
}

/**
 * Whatever is wrong with the form of an answer, the model can be asked without it. llama-cpp-python answers 500 to a form
 * that it does not know.
 */
function formatFor(message: string, request: ChatRequest, fixed: readonly string[]): Adaptation | null {
  const field = 'response_format';
  const [named, ...others] = Object.keys(request).filter((name) => !needed.includes(name) && mentions(message, name));
  if (named !== field || others.length > 0 || fixed.includes(field)) return null;
  const [from, to] = ['json_schema', 'json_object'];
  return hasValue(request, field, from) && message.includes(to)
    ? { type: 'replaced', field, from, to }
    : { type: 'without', field };
}

/** Matches how servers report that the content of a message is not a text: those that check messages with pydantic. */
const wantsContent =
  /\bcontent\b\W.{0,80}(?:valid string|(?:expected|must be|should be) a string|\bnull\b|none is not)/i;

/** llama-cpp-python takes no null for the content of a message with calls. */
function contentFor(message: string, request: ChatRequest, fixed: readonly string[]): Adaptation | null {
  const lacks = request.messages.some((each) => withContent(each) !== each);
  return lacks && wantsContent.test(message) && !fixed.includes('messages')
    ? { type: 'filled', field: 'content' }
    : null;
}

/** Matches how servers report that 0 is not a temperature, such as TGI and Transformers. */
const wantsPositive =
  /strictly positive|must be positive|(?:greater|larger|more|higher|bigger) than (?:0|zero)\b(?!\.)|\(0(?:\.0+)?,|> ?0(?:\.0+)?(?![.\d])|(?:not|n't) be (?:0|zero)\b|do_sample/i;

/** Close to 0, so that the answers stay almost the same. */
function temperatureFor(message: string, request: ChatRequest, fixed: readonly string[]): Adaptation | null {
  const field = 'temperature';
  const isRefused = hasValue(request, field, 0) && mentions(message, field) && wantsPositive.test(message);
  return isRefused && !fixed.includes(field) ? { type: 'replaced', field, from: 0, to: 0.01 } : null;
}

/** Anthropic and Bedrock take `temperature` or `top_p`. A field that is not the temperature is left out first. */
function exclusiveFieldIn(message: string, request: ChatRequest, fixed: readonly string[]): Adaptation | null {
  const named = Object.keys(request).filter((name) => !needed.includes(name) && mentions(message, name));
  if (named.length < 2 || !notTogether.test(message)) return null;
  const free = named.filter((name) => !fixed.includes(name));
  const field = free.find((name) => name !== 'temperature') ?? free[0];
  const beside = named.find((name) => name !== field);
  return field === undefined || beside === undefined ? null : { type: 'without', field, beside };
}

/** The longest first: one name may be a part of another. */
const bySize = (names: readonly string[]) => names.toSorted((one, other) => other.length - one.length);

/** Whether a text names a field, in snake case or camel case. */
function mentions(text: string, field: string): boolean {
  if (!/^[a-z0-9_]*[a-z0-9][a-z0-9_]*$/i.test(field)) return text.includes(field);
  const words = field.split('_');
  return new RegExp(`(?<![a-z0-9_])${words.join('_?')}(?![a-z0-9_])`, 'i').test(text);
}

function fieldsOfMessages({ messages }: ChatRequest): readonly string[] {
  const fields = messages.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    const own = Object.keys(message).filter((name) => !neededInMessages.includes(name));
    const ofCalls = (message.tool_calls ?? []).flatMap((call) => Object.keys(call));
    return [...own, ...ofCalls.filter((name) => !neededInCalls.includes(name))];
  });
  return [...new Set(fields)];
}
