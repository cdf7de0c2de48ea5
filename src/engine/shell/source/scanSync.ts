import type { Location } from '../files/diagnostic.ts';
import { locate, type Source } from './source.ts';

const exported =
  /^[ \t]*export\s+(?:async\s+)?(?:function|const|let|var)\s+(sync)\b|^[ \t]*export\s*\{[^}]*?\b(sync)\s*(?=[,}])/m;

/** Returns where a module of tools exports `sync`, found without running it; the worker's description is the truth. */
export function scanSync(source: Source): Location | null {
  const found = exported.exec(source.text);
  if (!found) return null;
  return locate(source, found.index + found[0].lastIndexOf('sync'), 4);
}
