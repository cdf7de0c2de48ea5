import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usualDialect } from '../../engine/core/dialect.ts';
import { chatLine } from '../../engine/shell/coldStart/chatLine.ts';
import { readSelection } from '../../engine/shell/coldStart/synthesisFolder.ts';
import { makeFolder, onDisk } from '../../engine/shell/disk.ts';
import { eventsOf } from '../../engine/shell/runRecord.ts';
import { type Given, text } from '../command.ts';
import { type ExitCode, type Io, UsageError } from '../io.ts';
import { openDomainAt } from '../rolloutOptions.ts';
import { synthesisIn } from './synthesisIn.ts';

/** `rehearsal synth export FOLDER --out FILE`: the accepted rollouts, a line each. */
export async function exportSelection(given: Given, io: Io): Promise<ExitCode> {
  const { folder, file } = synthesisIn(given, io);
  const out = text(given, 'out');
  if (out === undefined) throw new UsageError('name the file to write: --out FILE.jsonl');
  const dialects = new Map(file.domains.map(({ name, folder: own }) => [name, openDomainAt(own).file.dialect]));
  const accepted = readSelection(folder).filter((row) => row.accepted);
  if (accepted.length === 0)
    throw new UsageError(`${folder}: nothing of it is accepted, so there is nothing to export`);
  const lines = accepted.flatMap((row) => {
    const line = chatLine(eventsOf(join(folder, row.recording)), row, dialects.get(row.domain) ?? usualDialect);
    return line === null ? [] : [line];
  });
  const path = resolve(io.cwd, out);
  makeFolder(dirname(path));
  onDisk(path, () => writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
  const left = accepted.length - lines.length;
  if (given.values['json'] === true)
    io.out(`${JSON.stringify({ file: path, exported: lines.length, leftOut: left })}\n`);
  else io.out(`wrote ${lines.length} rollouts to ${path}\n`);
  if (left > 0) io.err(`${left} were left out: tools came in the middle of them, which one prompt can't hold\n`);
  return 0;
}
