import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Whether two tokens are the same. The time that it takes says nothing about either, nor about their length. */
export function isSameToken(given: string, wanted: string): boolean {
  const [one, other] = [given, wanted].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(one, other);
}

/**
 * Whether a request comes from a program of this machine, and not from a page in its browser: a page names its origin,
 * and one whose name was pointed at this machine (DNS rebinding) names itself as the host.
 */
export function isLocalRequest({ host = '', origin }: IncomingHttpHeaders): boolean {
  return origin === undefined && /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i.test(host);
}
