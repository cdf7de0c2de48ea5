import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usualDialect } from '../../engine/core/domain/dialect.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { makeFolder, onDisk } from '../../engine/shell/files/disk.ts';
import { eventsOf } from '../../engine/shell/records/runRecord.ts';
import { chatLine } from '../../synthesis/chatLine.ts';
import { type ExportFormat, exportForms } from '../../synthesis/exportForms.ts';
import { readSelection } from '../../synthesis/synthesisFolder.ts';
import { openDomainAt } from '../options/rolloutOptions.ts';
import { type ExitCode, type Io, UsageError } from '../terminal/io.ts';
import { synthesisIn } from './synthesisIn.ts';
import type { SynthOptions } from './synthOptions.ts';

/** `rehearsal synth export FOLDER --out FILE [--format NAME]`: the accepted rollouts, a line each. */
export async function exportSelection(
  { out, format = 'rehearsal', json }: SynthOptions,
  [named]: readonly string[],
  io: Io,
): Promise<ExitCode> {
  const { folder, file } = synthesisIn(named, io);
  if (out === undefined) throw new UsageError('name the file to write: --out FILE.jsonl');
  const dialects = new Map(file.domains.map(({ name, folder: own }) => [name, openDomainAt(own).file.dialect]));
  const accepted = readSelection(folder).filter((row) => row.accepted);
  if (accepted.length === 0)
    throw new UsageError(`${folder}: no trajectory is accepted, so there is nothing to export`);
  const lines = accepted.flatMap((row) => {
    const line = chatLine(eventsOf(join(folder, row.recording)), row, dialects.get(row.domain) ?? usualDialect);
    const formed = line === null ? null : exportForms[format](line);
    return formed === null ? [] : [formed];
  });
  const path = resolve(io.cwd, out);
  makeFolder(dirname(path));
  onDisk(path, () => writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
  const left = accepted.length - lines.length;
  if (json) io.out(`${JSON.stringify({ file: path, exported: lines.length, leftOut: left })}\n`);
  else io.out(`wrote ${counted(lines.length, 'rollout')} to ${path}\n`);
  if (left > 0) io.err(`${left} were left out: ${reasonOf(format)}\n`);
  return 0;
}

/** Why a format cannot hold a rollout. */
function reasonOf(format: ExportFormat): string {
  const addsTools = 'tools were added during the rollout, and one prompt cannot say that';
  if (format === 'rehearsal') return addsTools;
  if (format === 'openai') return `${addsTools}, or there is no message to learn`;
  return `${addsTools}, or one of their messages must not be learned, and TRL has no weights`;
}
