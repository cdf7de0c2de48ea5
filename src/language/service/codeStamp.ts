import { createHash } from 'node:crypto';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';

/** Returns a hash of a domain's code. */
export function codeStamp({ parts }: LoadedDomain): string {
  const hash = createHash('sha256');
  for (const { file, text } of parts.scan.sources) hash.update(`${file}\n${text}\n`);
  return hash.digest('hex');
}
