import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { cancelled, Fault } from '../files/fault.ts';
import { quote } from './chatAnswer.ts';
import { isContextRefusal } from './contextLimit.ts';
import type { RefusedRequest } from './refusedFields.ts';

/** For whom a model answers. */
export type ModelPurpose = 'agent' | 'simulator' | 'judge' | 'tool' | 'author';

/** The default time that a model may take for one answer, in ms. */
export const defaultTimeoutMs = 120_000;

/** The time that a request spent in pauses, and the further time that the endpoint asked for if it was too long, in ms. */
export type Waited = { readonly waitedMs: number; readonly askedMs: number | null };

/** A way in which an endpoint gave no answer, also after further attempts. */
export type EndpointFailure =
  | { readonly type: 'cancelled' }
  | { readonly type: 'unreachable' }
  | { readonly type: 'late' }
  | { readonly type: 'cut' }
  | { readonly type: 'unreadable'; readonly problem: string }
  | ({ readonly type: 'refused'; readonly waited?: Waited } & RefusedRequest);

/**
 * Returns every way in which an endpoint can fail as one message. The key never appears in it.
 * @param hasKey whether the request had a key
 * @param isFirst whether the agent has said nothing yet: a request that is too long is then a matter of the settings
 */
export function faultOf(
  failure: EndpointFailure,
  seat: ModelSeat,
  who: ModelPurpose,
  hasKey: boolean,
  isFirst = false,
): Fault {
  const missingKey = hasKey ? null : seat.keyName;
  switch (failure.type) {
    case 'cancelled':
      return cancelled();
    case 'unreachable':
      return infrastructure(
        'model/unreachable',
        `${seat.baseUrl} can't be reached. Is the server running, and is the base URL right?`,
      );
    case 'cut':
      return infrastructure('model/cut', `${seat.baseUrl} broke off in the middle of its answer, also after retries`);
    case 'late':
      return infrastructure(
        'model/timeout',
        `${seat.baseUrl} did not answer within ${(seat.timeoutMs ?? defaultTimeoutMs) / 1000} s, also when it was asked again. Is the server overloaded, or the model too large for it? A longer timeout may help`,
      );
    case 'unreadable':
      return infrastructure('model/broken', `${seat.model} at ${seat.baseUrl} (the ${who}'s seat): ${failure.problem}`);
    case 'refused':
      return refusalFault(failure, seat, who, missingKey, isFirst);
  }
}

/** Returns the fault of a request without the key that its endpoint requires. */
export function missingKeyFault({ baseUrl, keyName }: ModelSeat): Fault {
  return infrastructure(
    'model/key',
    `${baseUrl} requires a key, and ${keyName ?? 'OPENAI_API_KEY'} is not set. Set it`,
  );
}

function refusalFault(
  refused: RefusedRequest & { readonly waited?: Waited },
  seat: ModelSeat,
  who: ModelPurpose,
  missingKey: string | null,
  isFirst: boolean,
): Fault {
  const { status, code, message, isInAnswer, waited } = refused;
  const words = quote(message);
  const answered = isInAnswer ? '200 with an error' : (status ?? 'with an error');
  if (status === 401)
    return infrastructure(
      'model/key',
      seat.keyName === null
        ? `${seat.baseUrl} requires a key (${answered}). Rehearsal sends no key to an address that only the domain names. If you trust it, set OPENAI_BASE_URL to it`
        : missingKey === null
          ? `${seat.baseUrl} refused the key in ${seat.keyName} (${answered}). Set another one`
          : `${seat.baseUrl} requires a key (${answered}), and ${missingKey} is not set. Set it`,
    );
  if (isQuota(status, `${code} ${message}`))
    return infrastructure(
      'model/quota',
      `${seat.baseUrl} has no quota left for this key: ${words}. Check the plan and the billing of the account`,
    );
  if (status === 429)
    return infrastructure(
      'model/rate',
      `${seat.baseUrl} limits the rate of requests (${answered})${waitText(waited)}: ${words}. Lower the concurrency, or ${waitAdvice(waited)}`,
    );
  if (isContextRefusal(refused) && who === 'agent') {
    if (isFirst)
      return infrastructure(
        'model/context',
        `the first request does not fit into the context of ${seat.model}: ${words}. Use a model with a longer context, or lower maxTokens`,
      );
    return new Fault({
      who,
      code: 'model/context',
      message: `the conversation no longer fits into the context of ${seat.model}`,
    });
  }
  return infrastructure(
    // What the request itself is refused for is for an agent that wrote it to know.
    [400, 413, 422].includes(status ?? 0) ? 'model/refused' : 'model/error',
    `${seat.baseUrl} answered ${answered}${isLong(waited) ? waitText(waited) : ''}: ${words}${isLong(waited) ? `. To wait, ${waitAdvice(waited)}` : ''}`,
  );
}

const infrastructure = (code: string, message: string) => new Fault({ who: 'infrastructure', code, message });

const seconds = (ms: number) => Math.ceil(ms / 1000);

/** Whether an endpoint asks for a wait that matters to a person. */
const isLong = (waited: Waited | undefined): waited is Waited & { readonly askedMs: number } =>
  (waited?.askedMs ?? 0) >= 1000;

/** Describes how long a request waited, and what the endpoint asked for that is too long for it. */
export function waitText(waited: Waited | undefined): string {
  const before =
    waited && waited.waitedMs >= 1000 ? `, also after waiting ${Math.round(waited.waitedMs / 1000)} s` : '';
  return isLong(waited) ? `${before} and asks to wait ${seconds(waited.askedMs)} s${before && ' more'}` : before;
}

/** Describes how to let a request wait longer, in words that follow "or". */
export function waitAdvice(waited: Waited | undefined): string {
  return isLong(waited)
    ? `let a request wait so long with --rate-limit-wait ${seconds(waited.waitedMs + waited.askedMs)}`
    : 'wait longer with --rate-limit-wait';
}

/** Whether an account has no quota left, which no waiting changes. */
export function isQuota(status: number | undefined, text: string): boolean {
  return status === 402 || (status === 429 && /insufficient_quota|billing_(?:hard_limit|not_active)/.test(text));
}
