import * as z from 'zod';
import type { ModelSeat } from '../../engine/core/domain/seatSpec.ts';
import { jsonOf } from '../../engine/core/values/json.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import type { ChatRequest } from '../../engine/shell/models/chatMessage.ts';
import { requestTo } from '../../engine/shell/models/chatRequest.ts';
import { faultOf, type Waited, waitAdvice, waitText } from '../../engine/shell/models/endpointFaults.ts';
import { askOnce, type Outcome } from '../../engine/shell/models/openai.ts';
import { adaptationFor, askAdapted, describeAdaptation, fieldText } from '../../engine/shell/models/refusedFields.ts';
import { structured } from '../../engine/shell/models/structuredOutput.ts';
import { type Condition, fine, lacking } from './condition.ts';

export type Endpoint = {
  /** The model, with its settings and the values of its headers. */
  readonly seat: ModelSeat;
  /** Empty for a server without a key. */
  readonly key: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** The outcome of a request, with its body. */
type Tried = Outcome & { readonly request: ChatRequest };

const lookUp = {
  type: 'function',
  function: {
    name: 'look_up',
    description: 'Returns the parcel with an id.',
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  },
};
const verdict = {
  type: 'object',
  properties: { holds: { type: 'boolean' } },
  required: ['holds'],
  additionalProperties: false,
};
const verdictSchema = z.object({ holds: z.boolean() });
/** Parameters with the values that they have where no setting names another one. */
const parameters = {
  temperature: 0,
  max_tokens: 16,
  max_completion_tokens: 16,
  seed: 1,
  parallel_tool_calls: false,
  reasoning_effort: 'low',
} as const;

/**
 * Sends small requests to an endpoint and reports what it supports. A request that fails counts as not supported, and one
 * that the endpoint limits as not tried; no further one is sent then.
 */
export async function endpointSupport(endpoint: Endpoint): Promise<readonly Condition[]> {
  const { key, timeoutMs, signal } = endpoint;
  const seat = { ...endpoint.seat, timeoutMs };
  let refusal: Tried | undefined;
  const { maxTokens: _, ...unlimited } = seat;
  let asked: ModelSeat = seat;
  const ask = async (content: string, more: object = {}, probed?: string) => {
    if (refusal) return refusal;
    const fixed = probed === undefined ? [] : [probed];
    // An endpoint may refuse two limits in one request.
    const whole = requestTo(probed?.startsWith('max_') ? unlimited : asked, {
      messages: [{ role: 'user', content }],
      ...more,
    });
    // A rollout leaves out what the endpoint refuses, too.
    const answered = await askAdapted(seat, whole, fixed, (request) => askOnce(seat, key, request, signal));
    if (answered.status === 429) refusal = answered;
    return answered;
  };
  // A model without an end writes until its context is full.
  const first = await ask('Say hello.');
  if (isRefused(first)) asked = unlimited;
  const plain = isRefused(first) ? await ask('Say hello.') : first;
  if (!plain.answer) return [unreached(plain, seat, key)];
  const tools = { tools: [lookUp] };
  const one = await ask('Look up the parcel P1 with the tool.', tools);
  const two = await ask('Look up the parcels P1 and P2. Make both calls at once.', tools);
  const form = { response_format: structured('verdict', verdict) };
  const judged = await ask('Does 1 + 1 = 2 hold?', form, 'response_format');
  const streamed = await ask('Say hello.', { stream: true });
  const named: (readonly [name: string, tried: Tried])[] = [];
  for (const [name, value] of Object.entries(parameters)) {
    const ofTools = name === 'parallel_tool_calls';
    // An endpoint without tools does not accept their parameter either.
    if (ofTools && one.status !== 200) continue;
    named.push([name, await ask('Say hello.', { ...(ofTools ? tools : {}), [name]: value }, name)]);
  }
  const all = [plain, one, two, judged];
  const leftOut = Object.keys(seat.extraBody ?? {}).filter((name) => !(name in plain.request));
  return [
    found('calls', one, callsIn(one) > 0, ['makes tool calls', 'made no tool call'], callAdvice(one)),
    found(
      'parallel calls',
      two,
      callsIn(two) > 1,
      ['makes several calls in one answer', 'made no two calls in one answer'],
      'Nothing to do: rollouts work with one call in each answer',
    ),
    found(
      'structured output',
      judged,
      verdictSchema.safeParse(jsonOf(judged.answer?.content ?? '')).success,
      ['keeps to a JSON schema', withoutSchema(judged)],
      'Judges and simulated tools read JSON in prose instead. Use a model that follows instructions well there',
    ),
    found(
      'streaming',
      streamed,
      streamed.isStreamed,
      ['streams answers', 'did not stream an answer'],
      'Nothing to do: Rehearsal asks for whole answers',
    ),
    found(
      'reasoning',
      plain,
      all.some(({ answer }) => answer?.thoughts),
      ['sends its reasoning', 'sent no reasoning'],
      'Nothing to do. If the model reasons, start the server with its reasoning parser',
    ),
    found(
      'token counts',
      plain,
      all.every(({ answer }) => !answer || answer.usage !== null),
      ['counts the tokens of its answers', 'did not count the tokens of an answer'],
      'Leave out --budget-tokens and --budget-money: they cannot be kept without counts',
    ),
    parametersFound(named, leftOut),
    limitsFound(all),
  ];
}

function unreached(tried: Tried, seat: ModelSeat, key: string): Condition {
  if (tried.status === 429) return lacking('endpoint', 'not tried (429)', limitAdvice(tried.waited));
  const advice = 'Check the base URL, the name of the model and the key in OPENAI_API_KEY';
  return lacking('endpoint', `does not answer a plain question (${problemOf(tried, seat, key)})`, advice);
}

function problemOf({ status, failure }: Tried, seat: ModelSeat, key: string): string {
  if (failure instanceof Fault) return failure.message;
  if (failure === null || (failure.type === 'refused' && !failure.isInAnswer)) return `it answered ${status}`;
  if (failure.type === 'refused') return failure.message;
  return failure.type === 'unreadable' ? failure.problem : faultOf(failure, seat, 'agent', key !== '').message;
}

const limitAdvice = (waited: Waited) =>
  `The endpoint limits the rate of requests${waitText(waited)}. Run this again later, or ${waitAdvice(waited)}`;

/**
 * @param tried the request that shows it
 * @param seen what an endpoint does that supports it, and what this one did otherwise
 */
function found(
  name: string,
  { status, waited }: Tried,
  isSupported: boolean,
  [seen, missed]: readonly [string, string],
  advice: string,
): Condition {
  if (status === 429) return lacking(name, 'not tried (429)', limitAdvice(waited));
  return isSupported ? fine(name, seen) : lacking(name, missed, advice);
}

/** Describes an answer that does not keep to a JSON schema; a rollout asks otherwise where the endpoint refuses it. */
function withoutSchema({ refused, request }: Tried): string {
  const adaptation = refused && adaptationFor(refused, request);
  return adaptation
    ? `does not accept a JSON schema, and is asked ${describeAdaptation(adaptation)}`
    : 'did not keep to a JSON schema';
}

const isRefused = ({ status }: Tried) => [400, 404, 422].includes(status);

const callsIn = ({ answer }: Tried) => answer?.toolCalls.length ?? 0;

function callAdvice({ status }: Tried): string {
  if (status === 0) return 'It did not answer a request with tools in time. Raise --timeout, or use a faster model';
  return status === 200
    ? 'Start the server with the tool-call parser of this model, or use a model that is trained for tools'
    : `The endpoint answered ${status} to a request with tools. Turn tool calls on in the server, or use another model`;
}

/** Returns the name of a parameter, with its value where an endpoint refuses only that one. */
function refusedText(name: string, { refused, request }: Tried): string {
  const adaptation = refused && adaptationFor(refused, request);
  return adaptation?.type === 'replaced' ? fieldText(adaptation) : name;
}

/** @param leftOut fields of the settings that the endpoint refuses */
function parametersFound(
  asked: readonly (readonly [name: string, tried: Tried])[],
  leftOut: readonly string[],
): Condition {
  const names = (fits: (tried: Tried) => boolean) =>
    asked.flatMap(([name, tried]) => (fits(tried) ? [refusedText(name, tried)] : [])).join(', ');
  const accepted = names(({ answer }) => answer !== null);
  const refused = [...leftOut, names(isRefused)].filter(Boolean).join(', ');
  const untried = asked
    .filter(([, tried]) => tried.answer === null && !isRefused(tried))
    .map(([name, { status }]) => `${name} (${status === 0 ? 'no answer' : status})`)
    .join(', ');
  const what = [
    refused === '' ? accepted && `accepts ${accepted}` : `does not accept ${refused}`,
    untried && `not tried: ${untried}`,
  ].filter(Boolean);
  if (refused === '' && untried === '') return fine('parameters', what.join('; '));
  const advice = refused === '' ? 'Run this again later' : `Do not set ${refused} for this endpoint`;
  return lacking('parameters', what.join('; '), advice);
}

/** Names the headers only: their values are of this moment. */
function limitsFound(all: readonly Tried[]): Condition {
  const names = new Set(all.flatMap(({ headers }) => [...headers.keys()].filter((name) => name.includes('ratelimit'))));
  if (names.size > 0) return fine('rate limits', [...names].sort().join(', '));
  return {
    name: 'rate limits',
    status: 'ok',
    found: 'no rate-limit headers',
    advice: 'If it answers 429, Rehearsal waits 1, 2, 4 … seconds. Lower --concurrency if that takes too long',
  };
}
