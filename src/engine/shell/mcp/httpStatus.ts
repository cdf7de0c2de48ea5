/**
 * The meaning of an HTTP status for a request, whatever its body is:
 * - `redirect`: the server is at another address
 * - `login`: the server does not know who the client is
 * - `rights`: a person has to change the rights of the client
 * - `network`: a proxy or a network requires a login
 * - `busy`: the server refuses the request for now
 * - `gateway`: the server, or a gateway in front of it, cannot answer now
 * - `address`: nothing is at this address, or the server no longer knows the session
 * - `answer`: the server answers the request
 */
export type StatusMeaning = keyof typeof statuses | 'redirect' | 'answer';

const statuses = {
  login: [401],
  rights: [402, 403],
  network: [407, 511],
  busy: [408, 429],
  // Those from 520 are of Cloudflare, which cannot reach the server.
  gateway: [502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 530],
  address: [404, 405, 410],
} as const satisfies Readonly<Record<string, readonly number[]>>;

/** Returns what an HTTP status of 300 or more means. */
export function meaningOfStatus(status: number): StatusMeaning {
  if (status < 400) return 'redirect';
  const entries = Object.entries(statuses) as [keyof typeof statuses, readonly number[]][];
  return entries.find(([, each]) => each.includes(status))?.[0] ?? 'answer';
}

/** Returns whether a person has to change something before the server, or the network, takes requests of this client. */
export const isAboutRights = (status: number): boolean =>
  ['login', 'rights', 'network'].includes(meaningOfStatus(status));

/** Whether a refused call is a result for the agent, by what its status means. Any other one ends the rollout. */
const isResult: Readonly<Record<StatusMeaning, boolean | 'after a call'>> = {
  redirect: false,
  login: 'after a call',
  rights: true,
  network: false,
  busy: true,
  gateway: false,
  address: true,
  answer: true,
};

/**
 * Returns whether the agent reads a call that is refused with a status as its result.
 * @param hasResult whether an earlier call of the rollout had a result, so that the server knows the client
 */
export function isResultOfCall(status: number, hasResult: boolean): boolean {
  const is = isResult[meaningOfStatus(status)];
  return is === 'after a call' ? hasResult : is;
}

/** Returns whether a status is about the request itself, and not about rights or the way to the server. */
export const concernsRequest = (status: number): boolean => ['address', 'answer'].includes(meaningOfStatus(status));
