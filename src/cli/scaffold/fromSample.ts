import { relative } from 'node:path';
import { templateFiles } from '../../authoring/domains/domainTemplate.ts';
import { writeNew } from '../../authoring/domains/newFolder.ts';
import { failingTasks } from '../../authoring/domains/sampleTasks.ts';
import { counted } from '../../engine/core/text/counted.ts';
import type { Io } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import { samplesFolder } from './shippedNames.ts';

/** Copies a sample domain into a new folder, without its recordings, and prints the next steps. */
export function fromSample(
  { folder, sample }: { readonly folder: string; readonly sample: string },
  json: boolean,
  io: Io,
): 0 {
  const files = writeNew(folder, templateFiles(samplesFolder(), sample, {}));
  const shown = relative(io.cwd, folder) || '.';
  if (json) io.out(`${JSON.stringify({ folder, name: sample, files, drafts: [] })}\n`);
  else {
    const failing = failingTasks[sample];
    const debug = failing ? `\n  npx rehearsal debug ${shellWord(shown)} ${failing}   # a task that fails` : '';
    io.out(
      `Copied the sample ${sample} to ${shown} (${counted(files.length, 'file')}). Next:${debug}\n  npx rehearsal check ${shellWord(shown)}\n  npx rehearsal eval ${shellWord(shown)}\n`,
    );
  }
  return 0;
}
