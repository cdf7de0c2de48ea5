import { randomUUID } from 'node:crypto';
import OpenAI, { APIConnectionError, APIError, APIUserAbortError, AuthenticationError, RateLimitError } from 'openai';
import * as z from 'zod';
import { jsonOf } from '../../core/json.ts';
import { providedBy } from '../../core/providerFields.ts';
import type { AgentReply, SeatView } from '../../core/seat.ts';
import { boundFetch } from '../boundFetch.ts';
import { pauseAfter } from '../clock.ts';
import { cancelled, Fault } from '../fault.ts';
import { withoutPage } from '../htmlPage.ts';
import { type ChatAnswer, readCompletion } from './chatAnswer.ts';
import { idsOfCalls, named } from './chatCalls.ts';
import type { ChatBody } from './chatMessage.ts';
import { agentBody, requestTo, withoutMedia } from './chatRequest.ts';
import { isContextRefusal } from './contextLimit.ts';
import { type EndpointLimiter, limiterOf } from './endpointLimiter.ts';
import { isModelCall, joined, type ModelCall } from './modelCall.ts';
import { requestedWait } from './rateLimitHeaders.ts';
import { adaptationFor, adapted, describeAdaptation, learn } from './refusedFields.ts';
import type { ModelSeat } from './seatSpec.ts';
import { recordedFields } from './sentBack.ts';
import { completionIn } from './streamedAnswer.ts';

export type Answered<Reply> = { readonly reply: Reply; readonly call: ModelCall };

/** An endpoint is asked once more for an answer that it could not give; after `waitMs` where it limits the rate. */
export type Retry = {
  readonly attempt: number;
  readonly of: number;
  readonly reason: string;
  readonly waitMs?: number;
};
export type OnRetry = (retry: Retry) => void;

/** How long a model may take for one answer where nobody says otherwise. */
export const defaultTimeoutMs = 120_000;
/** How long a request may wait altogether for an endpoint that limits the rate. */
const defaultRateLimitMs = 300_000;
const mostRetries = 3;
/** Of these, attempts that may follow one that was silent for the seat's whole time. */
const mostSilentRetries = 1;

/** The part of a view that a model seat needs; it crosses the lane's border. */
export type ModelView = Pick<SeatView, 'started' | 'messages' | 'task' | 'persona'> & {
  readonly domain: { readonly name: string };
};

type Asked = 'agent' | 'simulator' | 'judge' | 'tool' | 'author';

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
  const reply = replyOf(answer, view.messages.length, idsOfCalls(view.messages));
  return { reply: { ...reply, ...providedBy({ providerFields }) }, call };
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
    toolCalls: named(toolCalls, `call_${at}`, taken),
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
 * One chat completion; one that is cut off at the limit of tokens is treated as the seat's `onTruncation` says.
 * @param fixed as for `complete`
 */
export async function completeWhole(
  seat: ModelSeat,
  key: string,
  who: Asked,
  signal: AbortSignal,
  body: ChatBody,
  onRetry: OnRetry = () => undefined,
  fixed: readonly string[] = [],
): Promise<Completed> {
  const first = await complete(seat, key, who, signal, body, onRetry, fixed);
  if (first.answer.brokenEnd !== 'length') return first;
  if (seat.onTruncation === 'fail') throw truncated(seat, who, first.call);
  if (seat.onTruncation !== 'retry') return first;
  onRetry({ attempt: 1, of: 1, reason: 'its answer was cut off at the token limit' });
  const second = await complete(seat, key, who, signal, body, onRetry, fixed).catch((error: unknown) => {
    throw error instanceof Fault ? afterCall(first.call, error) : error;
  });
  return { ...second, call: joined([first.call, second.call]) ?? second.call };
}

/** A fault whose note also has the call that was answered before. */
function afterCall(call: ModelCall, { failure, reason, note = null }: Fault): Fault {
  const used = call.usage ? { usage: call.usage } : {};
  return new Fault(failure, { reason, note: isModelCall(note) ? { ...joined([call, note]), ...used } : call });
}

function truncated(seat: ModelSeat, who: Asked, note: ModelCall): Fault {
  const isSeat = who === 'agent' || who === 'simulator';
  return new Fault(
    {
      who: isSeat ? who : 'infrastructure',
      code: 'model/truncated',
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
  who: Asked,
  signal: AbortSignal,
  body: ChatBody,
  onRetry: OnRetry = () => undefined,
  fixed: readonly string[] = [],
): Promise<Completed> {
  const attempts = timedAttempts(seat, limiterOf(seat, key), onRetry);
  const client = new OpenAI({
    apiKey: key || 'none',
    baseURL: seat.baseUrl,
    // Attempts are made again by `timedAttempts` alone.
    maxRetries: 0,
    timeout: longestTimeoutMs,
    // Attempts at one request have one id. The trainer's gateway gives the same answer to each.
    defaultHeaders: { 'x-client-request-id': randomUUID(), ...seat.headers },
    fetch: attempts.fetch,
  });
  const { request, applied } = adapted(seat, requestTo(seat, body), fixed);
  const recorded = withoutMedia(request);
  const from = performance.now();
  try {
    const completion = await client.post<unknown>('/chat/completions', {
      body: request,
      signal: AbortSignal.any([signal, attempts.late]),
    });
    const answer = readCompletion(completion);
    if ('problem' in answer) throw broken(seat, who, answer.problem);
    const { usage } = answer;
    const retries = attempts.retries();
    const call: ModelCall = {
      ms: Math.round(performance.now() - from),
      request: recorded,
      ...(usage ? { usage } : {}),
      ...answer.note,
      ...(retries > 0 ? { retries } : {}),
      ...(applied.length > 0 ? { adapted: applied.map(describeAdaptation) } : {}),
    };
    return { answer, call };
  } catch (error) {
    const adaptation = error instanceof APIError ? adaptationFor(error, request, fixed) : null;
    if (adaptation) {
      const reason = `the endpoint does not accept ${adaptation.field} and is asked ${describeAdaptation(adaptation)} from now on`;
      if (learn(seat, adaptation)) onRetry({ attempt: 1, of: 1, reason });
      return complete(seat, key, who, signal, body, onRetry, fixed);
    }
    const isLate = attempts.late.aborted && !signal.aborted;
    const isCut = attempts.isCut() && !signal.aborted;
    // What an agent of the user's own asks for is its own doing.
    const isFirst = !fixed.includes('messages') && request.messages.every(({ role }) => role !== 'assistant');
    const fault =
      attempts.fault() ?? (isLate ? late(seat) : isCut ? cutOff(seat) : classified(error, seat, who, isFirst));
    if (!(fault instanceof Fault)) throw fault;
    const { failure, reason } = fault;
    throw new Fault(failure, { reason, note: { ms: Math.round(performance.now() - from), request: recorded } });
  }
}

/** How long an endpoint may take to say which models it has. */
const listTimeoutMs = 15_000;

/**
 * Asks an endpoint which models it has, once. Throws a `Fault` where nobody answers or the key is refused; whatever else
 * it answers is left to the first question.
 * @param key the API key, or empty for a server that wants none
 */
export async function throwUnlessServed(seat: ModelSeat, key: string, signal: AbortSignal): Promise<void> {
  const client = new OpenAI({
    apiKey: key || 'none',
    baseURL: seat.baseUrl,
    maxRetries: 0,
    timeout: listTimeoutMs,
    fetch: boundFetch,
  });
  try {
    await client.models.list({ signal });
  } catch (error) {
    const fault = classified(error, seat, 'simulator');
    if (
      signal.aborted ||
      (fault instanceof Fault && /^(model\/(unreachable|key)|http\/too-long)$/.test(fault.failure.code))
    )
      throw fault;
  }
}

/** The client's own clock stops at the first byte and then asks again, so it is set to a time that never comes. */
const longestTimeoutMs = 2 ** 31 - 1;

/** A `fetch` whose every attempt has the same time for its whole answer, and which says that one is made again. */
function timedAttempts(seat: ModelSeat, limiter: EndpointLimiter, onRetry: OnRetry) {
  const { timeoutMs = defaultTimeoutMs, rateLimitMs = defaultRateLimitMs } = seat;
  const late = new AbortController();
  let made = 0;
  let silent = 0;
  let wasSilent = false;
  let reason = '';
  let isCut = false;
  let fault: Fault | undefined;
  const timed: typeof fetch = async (url, init) => {
    made += 1;
    const attempt = new AbortController();
    const timer = setTimeout(() => {
      silent += 1;
      if (silent > mostSilentRetries) late.abort();
      attempt.abort();
    }, timeoutMs);
    const signals = [attempt.signal, ...(init?.signal ? [init.signal] : [])];
    try {
      isCut = false;
      const response = await boundFetch(url, { ...init, signal: AbortSignal.any(signals) });
      reason = `it answered ${response.status}`;
      isCut = true;
      const answer = await wholeAnswer(response);
      isCut = false;
      return answer;
    } catch (error) {
      // An answer that is too long is too long again.
      if (error instanceof Fault) {
        fault = error;
        late.abort();
      }
      wasSilent = attempt.signal.aborted;
      if (wasSilent) reason = `it did not answer within ${timeoutMs / 1000} s`;
      else reason = isCut ? 'it broke off in the middle of its answer' : "it can't be reached";
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  /** Makes attempts until one is an answer, or no further one makes sense. */
  const repeated: typeof fetch = async (url, init) => {
    const signal = init?.signal ?? new AbortController().signal;
    let waitedMs = 0;
    // Attempts that failed otherwise than by a limit that is waited for.
    let failures = 0;
    for (;;) {
      const turn = await limiter.enter(signal, rateLimitMs - waitedMs);
      if (turn.type === 'refused') return turn.answer ?? new Response(null, { status: 429 });
      waitedMs += turn.pausedMs;
      const response = await timed(url, init).catch((error: unknown) => {
        turn.failed();
        failures += 1;
        if (signal.aborted || failures > mostRetries || !isPassing(error)) throw error;
        return null;
      });
      const outcome = response && (await refusalIn(response));
      if (response && !outcome) {
        if (response.ok) turn.answered();
        else turn.failed();
        return response;
      }
      if (outcome && !outcome.isTimed) failures += 1;
      const namedMs = outcome?.waitMs ?? 0;
      const isOver = waitedMs + namedMs > rateLimitMs || failures > mostRetries;
      if (response && outcome?.isLimit) {
        const { ms, isNew } = turn.refused(outcome.waitMs, response.clone());
        if (isOver) return response;
        if (outcome.isTimed) {
          if (isNew) onRetry({ attempt: made, of: made, reason, waitMs: ms });
          continue;
        }
      } else {
        if (response) turn.failed();
        if (response && isOver) return response;
        waitedMs += namedMs;
        await limiter.clock.sleep(outcome?.waitMs ?? pauseAfter(failures, pausesMs), signal);
      }
      onRetry({ attempt: failures, of: wasSilent ? failures : mostRetries, reason });
    }
  };
  return {
    fetch: repeated,
    late: late.signal,
    retries: () => Math.max(0, made - 1),
    isCut: () => isCut,
    /** Why no further attempt makes sense. */
    fault: () => fault,
  };
}

/** The pauses between attempts that failed for another reason than a limit. */
const pausesMs = { first: 500, longest: 8000 };

/** An error of the connection may pass; what we threw ourselves, such as an answer that is too long, does not. */
const isPassing = (error: unknown) => !(error instanceof Fault);

type Refusal = {
  /** Whether all requests to the endpoint should pause. */
  readonly isLimit: boolean;
  /** Whether it is asked again until a time is over, and not a number of times. */
  readonly isTimed: boolean;
  readonly waitMs: number | null;
};

/** Whether an account has no quota left, which no waiting changes. */
function isQuota(status: number | undefined, text: string): boolean {
  return status === 402 || (status === 429 && /insufficient_quota|billing_(?:hard_limit|not_active)/.test(text));
}

/** Returns why an answer is asked for again, or null for one that counts. An endpoint may say so itself. */
async function refusalIn(response: Response): Promise<Refusal | null> {
  const { status, headers } = response;
  const own = headers.get('x-should-retry');
  const isRefused = own === 'true' || (own !== 'false' && ([408, 409, 429].includes(status) || status >= 500));
  if (!isRefused || response.ok) return null;
  const body = await response.clone().text();
  if (isQuota(status, body)) return null;
  return {
    isLimit: [429, 503, 529].includes(status),
    isTimed: [429, 529].includes(status),
    waitMs: requestedWait(headers, body, Date.now()),
  };
}

/** An answer that breaks off is then an attempt that failed, and is made again like any other. */
async function wholeAnswer(response: Response): Promise<Response> {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  const isStream = status === 200 && headers.get('content-type')?.includes('text/event-stream');
  const body = isStream ? completionIn(await response.text()) : await response.text();
  if (body === null) throw new TypeError('the stream ended before its answer');
  if (isStream) headers.set('content-type', 'application/json');
  const failed = status === 200 ? errorIn(body) : null;
  if (failed) return new Response(JSON.stringify({ error: failed }), { status: failed.status, headers });
  return new Response(body === '' ? null : body, { status, statusText, headers });
}

/** Characters of a provider's own words in a message. */
const longestQuote = 300;

const errorSchema = z.looseObject({
  message: z.string().nullish(),
  type: z.string().nullish(),
  code: z.union([z.string(), z.number()]).nullish(),
});
const reportedSchema = z.union([errorSchema, z.string()]).nullish();
/** vLLM and SGLang write the fields of an error without one around them. */
const failedSchema = errorSchema.extend({ error: reportedSchema, choices: z.unknown().optional() });
const failedChoiceSchema = z.looseObject({ error: reportedSchema, finish_reason: z.unknown().optional() });

/** How an answer ends that the provider could not finish. */
const failedEnds: readonly string[] = ['error', 'abort', 'network_error', 'insufficient_system_resource'];

/**
 * Returns the error that a provider reports in an answer with status 200, for the whole answer or its first choice, and
 * an error for an answer without choices. Both are asked again like a 5xx. A provider's own status is taken if it is one.
 */
function errorIn(body: string): { readonly message: string; readonly status: number } | null {
  if (body.trim() === '') return { message: 'the answer is empty', status: 502 };
  const { data } = failedSchema.safeParse(jsonOf(body));
  if (!data) return null;
  const { choices } = data;
  const choice = failedChoiceSchema.safeParse(Array.isArray(choices) ? choices[0] : undefined).data;
  const error = data.error || choice?.error || (choices === undefined && data.message ? data : undefined);
  if (typeof error === 'string') return { message: error, status: 502 };
  if (error) {
    const code = Number(error.code);
    const message = error.message || error.type || JSON.stringify(error).slice(0, longestQuote);
    return { message, status: code >= 400 && code < 600 ? code : 502 };
  }
  if (choice && failedEnds.includes(String(choice.finish_reason)))
    return { message: `the answer ended with finish_reason "${choice.finish_reason}"`, status: 502 };
  return Array.isArray(choices) && choices.length === 0 ? { message: 'the answer has no choices', status: 502 } : null;
}

function cutOff(seat: ModelSeat): Fault {
  return new Fault({
    who: 'infrastructure',
    code: 'model/cut',
    message: `${seat.baseUrl} broke off in the middle of its answer, also after retries`,
  });
}

function late(seat: ModelSeat): Fault {
  return new Fault({
    who: 'infrastructure',
    code: 'model/timeout',
    message: `${seat.baseUrl} did not answer within ${(seat.timeoutMs ?? defaultTimeoutMs) / 1000} s, also when it was asked again. Is the server overloaded, or the model too large for it? A longer timeout may help`,
  });
}

/**
 * Every way an endpoint can fail, as one message each. The key never appears in it.
 * @param isFirst whether the agent has said nothing yet: a request that is too long is then a matter of the settings
 */
function classified(error: unknown, seat: ModelSeat, who: Asked, isFirst = false): unknown {
  if (error instanceof Fault) return error;
  const infrastructure = (code: string, message: string) => new Fault({ who: 'infrastructure', code, message });
  if (error instanceof APIUserAbortError) return cancelled();
  if (error instanceof APIConnectionError)
    return infrastructure(
      'model/unreachable',
      `${seat.baseUrl} can't be reached. Is the server running, and is the base URL right?`,
    );
  if (error instanceof AuthenticationError)
    return infrastructure(
      'model/key',
      seat.keyName === null
        ? `${seat.baseUrl} wants a key (401), and no key is sent to an address that only the domain names. If you trust it, set OPENAI_BASE_URL to it`
        : `${seat.baseUrl} refused the key in ${seat.keyName} (401). Set another one`,
    );
  if (error instanceof APIError && isQuota(error.status, `${error.code} ${error.message}`))
    return infrastructure(
      'model/quota',
      `${seat.baseUrl} has no quota left for this key: ${quoted(error)}. Check the plan and the billing of the account`,
    );
  if (error instanceof RateLimitError)
    return infrastructure(
      'model/rate',
      `${seat.baseUrl} limits the rate of requests (429), also after waiting: ${quoted(error)}. Lower the concurrency, or wait longer with --rate-limit-wait`,
    );
  if (error instanceof APIError && isContextRefusal(error) && who === 'agent') {
    if (isFirst)
      return infrastructure(
        'model/context',
        `the first request does not fit into the context of ${seat.model}: ${quoted(error)}. Use a model with a longer context, or lower maxTokens`,
      );
    return new Fault({
      who,
      code: 'model/context',
      message: `the conversation no longer fits into the context of ${seat.model}`,
    });
  }
  if (error instanceof APIError)
    return infrastructure(
      // What the request itself is refused for is for an agent that wrote it to know.
      [400, 413, 422].includes(error.status ?? 0) ? 'model/refused' : 'model/error',
      `${seat.baseUrl} answered ${error.status ?? 'with an error'}: ${quoted(error)}`,
    );
  if (error instanceof SyntaxError) return broken(seat, who, 'the answer is not JSON');
  return error;
}

const quoted = ({ message }: APIError) => withoutPage(String(message)).slice(0, longestQuote);

function broken(seat: ModelSeat, who: Asked, what: string): Fault {
  return new Fault({
    who: 'infrastructure',
    code: 'model/broken',
    message: `${seat.model} at ${seat.baseUrl} (the ${who}'s seat): ${what}`,
  });
}
