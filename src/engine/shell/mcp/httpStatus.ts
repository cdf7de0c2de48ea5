/**
 * What an HTTP status means for a request, whatever its body is:
 * - `redirect`: the server is at another address
 * - `rights`: a person has to change something about the rights of the client
 * - `temporary`: the server, or a gateway in front of it, cannot answer now
 * - `address`: nothing is at this address, or the server no longer knows the session
 * - `answer`: the server answers what the request asks for
 */
export type StatusMeaning = 'redirect' | 'rights' | 'temporary' | 'address' | 'answer';

const statuses: Readonly<Record<Exclude<StatusMeaning, 'redirect' | 'answer'>, readonly number[]>> = {
  rights: [401, 402, 403, 407, 511],
  // Those from 520 are of Cloudflare, which cannot reach the server.
  temporary: [408, 429, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 530],
  address: [404, 405, 410],
};

/** Returns what an HTTP status of 300 or more means. */
export function meaningOfStatus(status: number): StatusMeaning {
  if (status < 400) return 'redirect';
  for (const meaning of ['rights', 'temporary', 'address'] as const)
    if (statuses[meaning].includes(status)) return meaning;
  return 'answer';
}

/** Returns whether a status is about the request itself: what a call answers with it is for the agent. */
export const concernsRequest = (status: number): boolean => ['address', 'answer'].includes(meaningOfStatus(status));
