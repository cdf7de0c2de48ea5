import { relative } from 'node:path';
import { templateFiles } from '../../authoring/domains/domainTemplate.ts';
import { writeNew } from '../../authoring/domains/newFolder.ts';
import { counted } from '../../engine/core/text/counted.ts';
import type { Io } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import type { NewOptions } from './newOptions.ts';
import { templatesFolder } from './shippedNames.ts';

type Wanted = {
  readonly folder: string;
  readonly name: string;
  readonly template: string;
  /** The template's value is used if it is left out. */
  readonly now: string | undefined;
};

/** Makes a domain of a template, and says what comes next. */
export function fromTemplate({ folder, name, template, now }: Wanted, { json }: NewOptions, io: Io): 0 {
  const files = writeNew(
    folder,
    templateFiles(templatesFolder(), template, { name, ...(now === undefined ? {} : { now }) }),
  );
  const shown = relative(io.cwd, folder) || '.';
  if (json) io.out(`${JSON.stringify({ folder, name, files, drafts: [] })}\n`);
  else
    io.out(
      `made ${name} in ${shown} (${counted(files.length, 'file')}). Begin with policy.md, then:\n  npx rehearsal check ${shellWord(shown)} --audit\n  npx rehearsal eval ${shellWord(shown)}\n`,
    );
  return 0;
}
