import { resolve } from 'node:path';
import { readSynthesis, type SynthesisFile } from '../../synthesis/synthesisFolder.ts';
import { type Io, UsageError } from '../terminal/io.ts';

/** The synthesis in the folder that a person named. Throws a `UsageError` if it does not exist. */
export function synthesisIn(
  named: string | undefined,
  { cwd }: Pick<Io, 'cwd'>,
): { readonly folder: string; readonly file: SynthesisFile } {
  if (named === undefined) throw new UsageError('name the folder of a synthesis (the one with synth.json)');
  const folder = resolve(cwd, named);
  const found = readSynthesis(folder);
  if (found.type !== 'read') throw new UsageError(`${named}: there is no synthesis here: ${found.message}`);
  return { folder, file: found.file };
}
