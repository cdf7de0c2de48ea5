import { existsSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gate } from '../../engine/shell/audit/draftGate.ts';
import { makeFolder, onDisk } from '../../engine/shell/disk.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import { inside } from '../../engine/shell/load/source.ts';
import type { Given } from '../command.ts';
import { type ExitCode, type Io, progress, UsageError } from '../io.ts';
import { gatedRow, gatedText } from './gatedText.ts';

/** A name for which there is no file yet. */
export function freeName(
  { folder, domain }: LoadedDomain,
  key: 'tasks' | 'personas',
  wanted: string,
  kind: string,
): string {
  const target = inside(folder, domain.file[key]) ?? folder;
  let name = wanted;
  for (let number = 2; existsSync(join(target, `${name}.${kind}.yaml`)); number++) name = `${wanted}-${number}`;
  return name;
}

type Put = {
  readonly loaded: LoadedDomain;
  readonly kind: 'task' | 'persona';
  /** Of the file, without its suffix. */
  readonly name: string;
  readonly ids: readonly string[];
  readonly text: string;
  /** They came through the gate already. */
  readonly isSound?: true;
};

/** Writes drafts into a file of their own, or prints it, and says what the audit finds in them. */
export async function putDrafts(
  { loaded, kind, name, ids, text: content, isSound: isKnown }: Put,
  given: Given,
  io: Io,
): Promise<ExitCode> {
  const { folder, domain } = loaded;
  const key = kind === 'task' ? 'tasks' : 'personas';
  const target = inside(folder, domain.file[key]);
  if (target === null) throw new UsageError(`the folder of ${key}, ${domain.file[key]}, lies outside of the domain`);
  const file = join(target, `${name}.${kind}.yaml`);
  const overlay = new Map([[file, content]]);
  const gated = isKnown
    ? ids.map((id) => ({ kind, id, file, passes: true, undecided: null, findings: [] }))
    : (await gate(folder, { ids, overlay, signal: io.signal, onProgress: progress(io) })).map(gatedRow);
  if (io.signal.aborted) throw new UsageError('cancelled');
  const isPrinted = given.values['print'] === true;
  if (!isPrinted) {
    makeFolder(target);
    onDisk(file, () => writeFileSync(file, content, { flag: 'wx' }));
  }
  const isSound = gated.length === ids.length && gated.every(({ passes }) => passes);
  if (given.values['json'] === true)
    io.out(`${JSON.stringify({ folder, file, ids, text: content, isWritten: !isPrinted, drafts: gated })}\n`);
  else {
    if (isPrinted) io.out(content);
    const told = `${isPrinted ? '' : `wrote ${relative(io.cwd, file)}\n`}${gatedText(gated, io.cwd)}`;
    (isPrinted ? io.err : io.out)(told);
  }
  return isSound ? 0 : 1;
}
