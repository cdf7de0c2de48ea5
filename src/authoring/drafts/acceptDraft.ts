import { edited } from '../../engine/shell/domain/fixes.ts';
import { fileLimits, readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import type { Edit, Location } from '../../engine/shell/files/diagnostic.ts';
import { onDisk, replaceFile } from '../../engine/shell/files/disk.ts';
import type { Draft } from '../../engine/shell/load/drafts.ts';

/**
 * Removes the mark of a draft from its file, so that the task counts. The comment above the last one no longer asks to
 * accept it. Everything else stays unchanged.
 */
export function acceptDraft({ placed }: Draft): void {
  const { file, path, places } = placed;
  const mark = [...path, 'draft'];
  const text = readBoundedText(file, fileLimits.data);
  const lines = text.split('\n');
  const edit = unmarking(lines, places.key(mark), places.value(mark));
  const unmarked = edited(text, [edit]);
  onDisk(file, () => replaceFile(file, isDraft.test(unmarked) ? unmarked : unmarked.replace(request, '$1.')));
}

const isDraft = /^[^#\n]*\bdraft["']?\s*:\s*true\b/m;
/** The end of the first line of a file that was drafted, as in "# Drafted from a.traj.jsonl: read it, and accept it." */
const request = /^(#[^\n]*?)[.:] read (?:it|each|them)\b[^\n]*\baccept\b[^\n\r]*/i;

/** The line goes where nothing else is on it; else the value says that it is not one. */
function unmarking(lines: readonly string[], key: Location, value: Location): Edit {
  const line = lines[value.line - 1] ?? '';
  const isAlone = key.line === value.line && /^\s*["']?draft["']?\s*:\s*true\s*(?:#.*)?$/.test(line.replace(/\r$/, ''));
  if (!isAlone) return { ...value, text: 'false' };
  return { ...value, column: 1, endLine: value.line + 1, endColumn: 1, text: '' };
}
