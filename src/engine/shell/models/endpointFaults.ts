import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { cancelled, Fault } from '../files/fault.ts';
import { quote } from './chatAnswer.ts';
import { isContextRefusal } from './contextLimit.ts';
import type { RefusedRequest } from './refusedFields.ts';

/** For whom a model is asked. */
export type Asked = 'agent' | 'simulator' | 'judge' | 'tool' | 'author';

/** The default time that a model may take for one answer, in ms. */
export const defaultTimeoutMs = 120_000;

/** A way in which an endpoint gave no answer, also after further attempts. */
export type EndpointFailure =
  | { readonly type: 'cancelled' }
  | { readonly type: 'unreachable' }
  | { readonly type: 'late' }
  | { readonly type: 'cut' }
  | { readonly type: 'unreadable'; readonly problem: string }
  | ({ readonly type: 'refused' } & RefusedRequest);

/**
 * Returns every way in which an endpoint can fail as one message. The key never appears in it.
 * @param hasKey whether the request had a key
 * @param isFirst whether the agent has said nothing yet: a request that is too long is then a matter of the settings
 */
export function faultOf(
  failure: EndpointFailure,
  seat: ModelSeat,
  who: Asked,
  hasKey: boolean,
  isFirst = false,
): Fault {
  const missingKey = hasKey ? null : seat.keyName;
  const infrastructure = (code: string, message: string) => new Fault({ who: 'infrastructure', code, message });
  switch (failure.type) {
    case 'cancelled':
      return cancelled();
    case 'unreachable':
      return infrastructure(
        'model/unreachable',
        `${seat.baseUrl} can't be reached. Is the server running, and is the base URL right?${missingKey === null ? '' : ` ${missingKey} is not set`}`,
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

function refusalFault(
  refused: RefusedRequest,
  seat: ModelSeat,
  who: Asked,
  missingKey: string | null,
  isFirst: boolean,
): Fault {
  const infrastructure = (code: string, message: string) => new Fault({ who: 'infrastructure', code, message });
  const { status, code, message, isInAnswer } = refused;
  const words = quote(message);
  const answered = isInAnswer ? '200 with an error' : (status ?? 'with an error');
  if (status === 401)
    return infrastructure(
      'model/key',
      seat.keyName === null
        ? `${seat.baseUrl} wants a key (${answered}). Rehearsal sends no key to an address that only the domain names. If you trust it, set OPENAI_BASE_URL to it`
        : missingKey === null
          ? `${seat.baseUrl} refused the key in ${seat.keyName} (${answered}). Set another one`
          : `${seat.baseUrl} wants a key (${answered}), and ${missingKey} is not set. Set it`,
    );
  if (isQuota(status, `${code} ${message}`))
    return infrastructure(
      'model/quota',
      `${seat.baseUrl} has no quota left for this key: ${words}. Check the plan and the billing of the account`,
    );
  if (status === 429)
    return infrastructure(
      'model/rate',
      `${seat.baseUrl} limits the rate of requests (${answered}), also after waiting: ${words}. Lower the concurrency, or wait longer with --rate-limit-wait`,
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
    `${seat.baseUrl} answered ${answered}: ${words}`,
  );
}

/** Whether an account has no quota left, which no waiting changes. */
export function isQuota(status: number | undefined, text: string): boolean {
  return status === 402 || (status === 429 && /insufficient_quota|billing_(?:hard_limit|not_active)/.test(text));
}
