import { relative } from 'node:path';
import { domainTemplates, templateFiles } from '../../authoring/domains/domainTemplate.ts';
import { writeNew } from '../../authoring/domains/newFolder.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { shippedFolder } from '../../engine/shell/files/shippedFolder.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';

const root = () => shippedFolder('domains');

/** Returns the names of the sample domains, in order. */
export const sampleNames = (): readonly string[] => domainTemplates(root()).map(({ name }) => name);

/** Copies a sample domain into a new folder, without its recordings, and prints the next steps. */
export function fromSample(
  { folder, sample }: { readonly folder: string; readonly sample: string },
  json: boolean,
  io: Io,
): 0 {
  if (!sampleNames().includes(sample))
    throw new UsageError(`"${sample}" is not a sample domain. Choose one of these: ${sampleNames().join(', ')}`);
  const files = writeNew(folder, templateFiles(root(), sample, {}));
  const shown = relative(io.cwd, folder) || '.';
  if (json) io.out(`${JSON.stringify({ folder, name: sample, files, drafts: [] })}\n`);
  else
    io.out(
      `Copied the sample ${sample} to ${shown} (${counted(files.length, 'file')}). Next:\n  npx rehearsal check ${shellWord(shown)}\n  npx rehearsal eval ${shellWord(shown)}\n`,
    );
  return 0;
}
