import { randomUUID } from 'node:crypto';
import OpenAI, { APIConnectionError, APIError, APIUserAbortError } from 'openai';
import * as z from 'zod';
import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import type { Offered } from '../../core/domain/tool.ts';
import { offeredNow } from '../../core/events/message.ts';
import { hasTextCall } from '../../core/events/textCall.ts';
import type { AgentReply, SeatView } from '../../core/seats/seat.ts';
import { truncated } from '../../core/values/answerEnd.ts';
import { providedBy } from '../../core/values/providerFields.ts';
import { Fault } from '../files/fault.ts';
import { boundFetch } from '../keys/boundFetch.ts';
import { type ChatAnswer, textOf } from './chatAnswer.ts';
import { idsOfCalls, nameCalls } from './chatCalls.ts';
import type { ChatBody, ChatRequest } from './chatMessage.ts';
import { agentBody, requestTo, withoutMedia } from './chatRequest.ts';
import { inAnswer } from './endpointAttempt.ts';
import { Attempts, type OnRetry } from './endpointAttempts.ts';
import { type EndpointFailure, faultOf, type ModelPurpose, missingKeyFault, type Waited } from './endpointFaults.ts';
import { limiterOf } from './endpointLimiter.ts';
import { isModelCall, joinCalls, type ModelCall } from './modelCall.ts';
import { defaultBaseUrl } from './parseSeat.ts';
import { isBlank } from './providerError.ts';
import { askAdapted, describeAdaptation, type RefusedRequest, reportAdaptation } from './refusedFields.ts';
import { recordedFields } from './sentBack.ts';

export type Answered<Reply> = { readonly reply: Reply; readonly call: ModelCall };

/** The part of a view that a model seat needs; it crosses the worker's border. */
export type ModelView = Pick<SeatView, 'started' | 'messages' | 'task' | 'persona'> & {
  readonly domain: { readonly name: string };
};

/**
 * A model in the agent's seat, at any OpenAI-compatible endpoint.
 * @param key the API key, or empty for a server that wants none
 */
export async function askAgentModel(
  seat: ModelSeat,
  key: string,
  view: ModelView,
  signal: AbortSignal,
  onRetry?: OnRetry,
): Promise<Answered<AgentReply>> {
  const { answer, call } = await completeWhole(seat, key, 'agent', signal, agentBody(view, seat), onRetry);
  const providerFields = recordedFields(seat, answer.cameWith);
  const brokenEnd = endOfAnswer(answer, offeredNow(view.started.tools, view.messages));
  const reply = replyOf({ ...answer, brokenEnd }, view.messages.length, idsOfCalls(view.messages));
  return { reply: { ...reply, ...providedBy({ providerFields }) }, call };
}

/** Returns how an answer of a seat ended: a call that its server left in the text is not made, and a seat says something. */
export function endOfAnswer({ brokenEnd, content, toolCalls, raw }: ChatAnswer, tools: readonly Offered[]) {
  if (brokenEnd !== null || toolCalls.length > 0) return brokenEnd;
  const whole = textOf(raw.choices[0]?.message?.content);
  // Where only thoughts are left, a call can be among them, and gpt-oss can say something before it.
  const text = content && !whole.includes('to=functions.') ? content : whole;
  const names = tools.map(({ name }) => name);
  if (hasTextCall(text, names)) return 'unparsed';
  return isBlank(content) ? 'empty' : null;
}

/**
 * A model's answer as the reply of the agent's seat.
 * @param at how many messages came before; names calls that came without an id
 * @param taken ids of earlier calls of the rollout
 */
export function replyOf(
  { content, thoughts, toolCalls, messageId, brokenEnd }: ChatAnswer,
  at: number,
  taken: readonly string[],
): AgentReply {
  return {
    content,
    toolCalls: nameCalls(toolCalls, `call_${at}`, taken),
    ...(thoughts === null ? {} : { reasoning: thoughts }),
    ...(messageId === null ? {} : { messageId }),
    ...(brokenEnd === null ? {} : { brokenEnd }),
  };
}

export type Completed = {
  readonly answer: ChatAnswer;
  readonly call: ModelCall;
};

/**
 * One chat completion; one that is cut off at the limit of tokens is treated as the seat's `onTruncation` says. One in
 * which its endpoint sends nothing, as Gemini does at times, is asked for once more. If the endpoint then counts no token
 * again, its model was not at work, which is a fault.
 * @param fixed as for `complete`
 */
export async function completeWhole(
  seat: ModelSeat,
  key: string,
  who: ModelPurpose,
  signal: AbortSignal,
  body: ChatBody,
  onRetry: OnRetry = () => undefined,
  fixed: readonly string[] = [],
): Promise<Completed> {
  const ask = async () => noted(await complete(seat, key, who, signal, body, onRetry, fixed));
  const first = await ask();
  const isCut = first.answer.brokenEnd === 'length';
  if (isCut && seat.onTruncation === 'fail') throw truncationFault(seat, who, first.call);
  const isAskedAgain = isCut ? seat.onTruncation === 'retry' : isNothing(first.answer);
  if (!isAskedAgain) return first;
  onRetry({ attempt: 1, of: 1, reason: isCut ? 'its answer was cut off at the token limit' : 'its answer is empty' });
  const second = await ask().catch((error: unknown) => {
    throw error instanceof Fault ? afterCall(first.call, error) : error;
  });
  const call = joinCalls([first.call, second.call]) ?? second.call;
  if (!isCut && isNothing(second.answer) && second.answer.usage) throw emptyFault(seat, who, call);
  return { ...second, call };
}

/** Whether an endpoint sent nothing: a model that ends its answer at once has a token. */
function isNothing({ content, thoughts, toolCalls, usage, brokenEnd }: ChatAnswer): boolean {
  return isBlank(content) && thoughts === null && toolCalls.length === 0 && !usage?.output && brokenEnd === null;
}

/** Names an answer in its note that says nothing. */
const noted = ({ answer, call }: Completed): Completed =>
  isNothing(answer) ? { answer, call: { ...call, brokenEnd: 'empty' } } : { answer, call };

/** Returns a fault whose note also has the call that was answered before. */
export function afterCall(call: ModelCall, { failure, reason, note = null }: Fault): Fault {
  const used = call.usage ? { usage: call.usage } : {};
  return new Fault(failure, { reason, note: isModelCall(note) ? { ...joinCalls([call, note]), ...used } : call });
}

function emptyFault(seat: ModelSeat, who: ModelPurpose, note: ModelCall): Fault {
  const problem = 'the answer has neither a text nor a token, also when it was asked again';
  return new Fault(faultOf({ type: 'unreadable', problem }, seat, who, true).failure, { note });
}

function truncationFault(seat: ModelSeat, who: ModelPurpose, note: ModelCall): Fault {
  const isSeat = who === 'agent' || who === 'simulator';
  return new Fault(
    {
      who: isSeat ? who : 'infrastructure',
      code: truncated,
      message: `an answer of ${seat.model} (the ${who}'s seat) was cut off at the token limit, and onTruncation is "fail". Increase maxTokens or the context of the server, or set onTruncation to "say"`,
    },
    { note },
  );
}

/**
 * One chat completion. Every way in which an endpoint can fail is a `Fault`. Errors that may pass are tried again; an
 * endpoint that is silent for the seat's time is asked once more, since each such attempt costs the whole time. A field
 * that the endpoint refuses is left out from then on.
 * @param fixed fields of the body that stay also where they are refused
 */
export async function complete(
  seat: ModelSeat,
  key: string,
  who: ModelPurpose,
  signal: AbortSignal,
  body: ChatBody,
  onRetry: OnRetry = () => undefined,
  fixed: readonly string[] = [],
): Promise<Completed> {
  if (key === '' && seat.baseUrl === defaultBaseUrl && !hasAuthorization(seat)) throw missingKeyFault(seat);
  const { answer, failure, ms, retries, request, applied } = await askAdapted(
    seat,
    requestTo(seat, body),
    fixed,
    (asked) => askOnce(seat, key, asked, signal, onRetry),
    (adaptation) => onRetry({ attempt: 1, of: 1, reason: reportAdaptation(adaptation) }),
  );
  const note = { ms, request: withoutMedia(request) };
  if (!answer) {
    // A custom agent is responsible for what it sends. A greeting is an answer before the first question.
    const roles = request.messages.map(({ role }) => role);
    const isFirst = !fixed.includes('messages') && roles.lastIndexOf('assistant') <= roles.indexOf('user');
    const fault = failure instanceof Fault ? failure : faultOf(failure, seat, who, key !== '', isFirst);
    throw new Fault(fault.failure, { reason: fault.reason, note });
  }
  const { usage } = answer;
  const call: ModelCall = {
    ...note,
    ...(usage ? { usage } : {}),
    ...answer.note,
    ...(retries > 0 ? { retries } : {}),
    ...(applied.length > 0 ? { adapted: applied.map(describeAdaptation) } : {}),
  };
  return { answer, call };
}

const hasAuthorization = ({ headers = {} }: ModelSeat) =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');

/** The outcome of a request after all attempts: a chat completion, or the reason for the failure. */
export type Outcome = {
  /** The HTTP status; 0 if the endpoint did not answer. */
  readonly status: number;
  readonly headers: Headers;
  readonly isStreamed: boolean;
  readonly ms: number;
  readonly retries: number;
  readonly waited: Waited;
  /** The error with which the endpoint refused the request. */
  readonly refused: RefusedRequest | null;
} & (
  | { readonly answer: ChatAnswer; readonly failure: null }
  | { readonly answer: null; readonly failure: Fault | EndpointFailure }
);

/** Sends a request as it is, at the pace that its endpoint allows and with retries. */
export async function askOnce(
  seat: ModelSeat,
  key: string,
  request: ChatRequest,
  signal: AbortSignal,
  onRetry?: OnRetry,
): Promise<Outcome> {
  const attempts = new Attempts(seat, limiterOf(seat, key), onRetry);
  const client = clientOf(seat, key, attempts.fetch);
  const from = performance.now();
  const effort = () => ({
    ms: Math.round(performance.now() - from),
    retries: attempts.retries,
    waited: attempts.waited,
  });
  try {
    const sent = client.post('/chat/completions', {
      body: request,
      signal: AbortSignal.any([signal, attempts.over]),
    });
    const { status, headers } = await sent.asResponse();
    const read = attempts.read;
    if (read?.type !== 'answer') throw new Error('an answer with a successful status was not read');
    const { answer, isStreamed } = read;
    return { status, headers, isStreamed, answer, failure: null, refused: null, ...effort() };
  } catch (error) {
    const said = failureIn(error);
    const own = attempts.failure;
    const refused = said?.type === 'refused' ? { ...said, waited: attempts.waited } : null;
    const failure = own instanceof Fault || !signal.aborted ? (own ?? refused ?? said) : said;
    if (!failure) throw error;
    const { status, headers } = error instanceof APIError ? error : { status: undefined, headers: undefined };
    const came = { status: status ?? 0, headers: headers ?? new Headers(), isStreamed: false };
    return { ...came, answer: null, failure, refused, ...effort() };
  }
}

/** The client's own clock stops at the first byte and then asks again, so it is set to a time that never comes. */
const longestTimeoutMs = 2 ** 31 - 1;

/**
 * Returns a client for one request, as `send` sends it.
 * @param key the API key, or empty for a server that wants none
 */
function clientOf(seat: ModelSeat, key: string, send: typeof fetch): OpenAI {
  return new OpenAI({
    apiKey: key || 'none',
    baseURL: seat.baseUrl,
    maxRetries: 0,
    timeout: longestTimeoutMs,
    // Attempts at one request have one id. The trainer's gateway gives the same answer to each.
    defaultHeaders: { 'x-client-request-id': randomUUID(), ...seat.headers },
    fetch: send,
  });
}

/** Returns what an error of the client says about an endpoint; null for any other error. */
function failureIn(error: unknown): EndpointFailure | null {
  if (error instanceof APIUserAbortError) return { type: 'cancelled' };
  if (error instanceof APIConnectionError) return { type: 'unreachable' };
  if (!(error instanceof APIError)) return null;
  const { status, message, code, type: errorType, param, headers } = error;
  const isInAnswer = headers?.has(inAnswer) ?? false;
  return { type: 'refused', status, message: withoutStatus(message, status), code, errorType, param, isInAnswer };
}

/** Returns the words of an error without its status, which the client, and some providers, write before them. */
function withoutStatus(message: string, status: number | undefined): string {
  return message.replace(new RegExp(`^(?:(?:error code: ?)?<?${status}\\b>?[\\s:,-]*)+(?=\\S)`, 'i'), '');
}

/** The time that an endpoint may take to list its models, in ms. */
const listTimeoutMs = 15_000;

const modelsSchema = z.array(z.looseObject({ id: z.string() }));

/**
 * Returns the names of the models that an endpoint lists, which it is asked for once. Throws a `Fault` where no one
 * answers or where it refuses.
 * @param key the API key, or empty for a server that wants none
 */
export async function listedModels(seat: ModelSeat, key: string, signal: AbortSignal): Promise<readonly string[]> {
  const client = clientOf(seat, key, (url, init) => {
    const signals = [AbortSignal.timeout(listTimeoutMs), ...(init?.signal ? [init.signal] : [])];
    return boundFetch(url, { ...init, signal: AbortSignal.any(signals) });
  });
  try {
    const { data } = await client.models.list({ signal });
    return (modelsSchema.safeParse(data).data ?? []).map(({ id }) => id);
  } catch (error) {
    const failure = failureIn(error);
    throw error instanceof Fault || !failure ? error : faultOf(failure, seat, 'simulator', key !== '');
  }
}

/**
 * Throws a `Fault` where no one answers at an endpoint or where it refuses the key; whatever else it answers is left to
 * the first question.
 * @param key the API key, or empty for a server that wants none
 */
export async function throwUnlessServed(seat: ModelSeat, key: string, signal: AbortSignal): Promise<void> {
  try {
    await listedModels(seat, key, signal);
  } catch (error) {
    const code = error instanceof Fault ? error.failure.code : '';
    if (signal.aborted || /^(model\/(unreachable|key)|http\/too-long)$/.test(code)) throw error;
  }
}
