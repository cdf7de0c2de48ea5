import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writeNew } from '../../authoring/domains/newFolder.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { shippedFolder } from '../../engine/shell/files/shippedFolder.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';

const root = () => shippedFolder('domains');

/** Returns the names of the sample domains, in order. */
export function sampleNames(): readonly string[] {
  const folders = readdirSync(root(), { withFileTypes: true }).filter((each) => each.isDirectory());
  return folders.map(({ name }) => name).toSorted();
}

/** Copies a sample domain into a new folder, without what was recorded in it, and prints what comes next. */
export function fromSample(
  { folder, sample }: { readonly folder: string; readonly sample: string },
  json: boolean,
  io: Io,
): 0 {
  if (!sampleNames().includes(sample))
    throw new UsageError(`"${sample}" is not a sample domain. Choose one of these: ${sampleNames().join(', ')}`);
  const source = join(root(), sample);
  const files = writeNew(
    folder,
    Object.fromEntries(filesOf(source).map((path) => [path, readBoundedText(join(source, path))])),
  );
  const shown = relative(io.cwd, folder) || '.';
  if (json) io.out(`${JSON.stringify({ folder, name: sample, files, drafts: [] })}\n`);
  else
    io.out(
      `Copied the sample ${sample} to ${shown} (${counted(files.length, 'file')}). Next:\n  npx rehearsal check ${shellWord(shown)}\n  npx rehearsal eval ${shellWord(shown)}\n`,
    );
  return 0;
}

/** Returns the paths of the files in a folder, without hidden files and what is in hidden folders. */
function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.'))
    .flatMap((each) =>
      each.isDirectory() ? filesOf(join(folder, each.name)).map((path) => `${each.name}/${path}`) : [each.name],
    )
    .toSorted();
}
