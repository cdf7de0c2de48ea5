import { join } from 'node:path';
import type { Diagnostic } from '../files/diagnostic.ts';
import { type Overlay, readSource, type Source } from './source.ts';

/** The export of a verifier in verifiers.ts; its group is the name. */
export const exportedVerifier =
  /^[ \t]*export\s+const\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]+)?=\s*(?:[A-Za-z_$][\w$]*\s*\.\s*)?verifier\s*(?:<[^(]*>)?\(/gm;

/** Names of the verifiers that verifiers.ts exports, without running it; none where the file is not there. */
export function scanVerifiers(
  folder: string,
  overlay: Overlay | undefined,
): {
  readonly names: readonly string[];
  readonly source: Source | null;
  /** A file that is there and can't be read. */
  readonly diagnostics: readonly Diagnostic[];
} {
  const read = readSource(join(folder, 'verifiers.ts'), 'tool', overlay, undefined, folder);
  if ('problem' in read) return { names: [], source: null, diagnostics: read.missing ? [] : [read.problem] };
  const names = [...read.source.text.matchAll(exportedVerifier)].map(([, name = '']) => name);
  return { names, source: read.source, diagnostics: [] };
}
