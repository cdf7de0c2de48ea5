import { createHash } from 'node:crypto';
import type { Media } from '../../core/values/media.ts';

/** Returns the hash of the bytes of media, in words. */
export function mediaHash({ data, problem }: Media): string {
  const encoding = problem === undefined ? 'base64' : 'utf8';
  return `SHA-256 ${createHash('sha256').update(data, encoding).digest('hex')}`;
}
