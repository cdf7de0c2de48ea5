import type { Location } from '../diagnostic.ts';
import type { Source } from './source.ts';

const exported =
  /^[ \t]*export\s+(?:async\s+)?(?:function|const|let|var)\s+(sync)\b|^[ \t]*export\s*\{[^}]*?\b(sync)\s*(?=[,}])/m;

/** Where a module of tools exports `sync`, found without running it; the lane's description is the truth. */
export function scanSync({ file, text }: Source): Location | null {
  const found = exported.exec(text);
  if (!found) return null;
  const offset = found.index + found[0].lastIndexOf('sync');
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  return { file, line, column, endLine: line, endColumn: column + 4 };
}
