import { writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { gate } from '../../engine/shell/audit/draftGate.ts';
import { makeFolder, onDisk } from '../../engine/shell/files/disk.ts';
import { auditProgress } from '../terminal/auditProgress.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import type { DraftOptions } from './draftOptions.ts';
import { type GatedRow, gatedRow, gatedText } from './gatedText.ts';

type Put = {
  /** Of the domain. */
  readonly folder: string;
  /** Texts of new files of the domain, by their paths. */
  readonly files: ReadonlyMap<string, string>;
  /** Of all drafts in them. */
  readonly ids: readonly string[];
  /** The kind of the drafts, if they have already passed the gate. */
  readonly sound?: GatedRow['kind'];
  /** More keys of the answer, and a last line for people, which counts for those that pass. */
  readonly more?: (rows: readonly GatedRow[]) => { readonly keys: object; readonly closing: string };
};

/** Writes drafts into their own files, or prints them, and says what the audit finds in them. */
export async function putDrafts(put: Put, { print, json }: DraftOptions, io: Io): Promise<ExitCode> {
  const { folder, files, ids } = put;
  const rows = await gatedRows(put, io);
  if (io.signal.aborted) throw new UsageError('cancelled');
  const isWritten = !print;
  if (isWritten)
    for (const [file, content] of files) {
      makeFolder(dirname(file), { within: folder });
      onDisk(file, () => writeFileSync(file, content, { flag: 'wx' }));
    }
  const more = put.more?.(rows);
  if (json) {
    const [[file = '', text = ''] = []] = files;
    const shown = { folder, file, text, files: [...files.keys()], ids, isWritten, ...more?.keys, drafts: rows };
    io.out(`${JSON.stringify(shown)}\n`);
  } else {
    if (!isWritten) io.out([...files.values()].join('\n'));
    const told = isWritten ? [...files.keys()].map((file) => `wrote ${relative(io.cwd, file)}\n`) : [];
    const found = gatedText(more ? rows.filter(({ passes }) => !passes) : rows, io.cwd);
    (isWritten ? io.out : io.err)(`${told.join('')}${found}${more ? `${more.closing}\n` : ''}`);
  }
  return rows.length >= ids.length && rows.every(({ passes }) => passes) ? 0 : 1;
}

async function gatedRows({ folder, files, ids, sound }: Put, io: Io): Promise<readonly GatedRow[]> {
  if (sound === undefined) {
    const gated = await gate(folder, { ids, overlay: files, signal: io.signal, ...auditProgress(io) });
    return gated.map(gatedRow);
  }
  const [file = ''] = files.keys();
  return ids.map((id) => ({ kind: sound, id, file, passes: true, undecided: null, findings: [] }));
}
