import { relative } from 'node:path';
import { domainTemplates, templateFiles } from '../../authoring/domains/domainTemplate.ts';
import { writeNew } from '../../authoring/domains/newFolder.ts';
import { counted } from '../../engine/core/text/counted.ts';
import { shippedFolder } from '../../engine/shell/files/shippedFolder.ts';
import { type Io, UsageError } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import type { NewOptions } from './newOptions.ts';

const root = () => shippedFolder('templates');

/** The names of the templates, with commas between. */
export function templateNames(): string {
  return domainTemplates(root())
    .map(({ name }) => name)
    .join(', ');
}

type Wanted = {
  readonly folder: string;
  readonly name: string;
  readonly template: string;
  /** The template's value is used if it is left out. */
  readonly now: string | undefined;
};

/** Makes a domain of a template, and says what comes next. */
export function fromTemplate({ folder, name, template, now }: Wanted, { json }: NewOptions, io: Io): 0 {
  if (!domainTemplates(root()).some((each) => each.name === template))
    throw new UsageError(`there is no template "${template}"; there is ${templateNames()}`);
  const files = writeNew(folder, templateFiles(root(), template, { name, ...(now === undefined ? {} : { now }) }));
  const shown = relative(io.cwd, folder) || '.';
  if (json) io.out(`${JSON.stringify({ folder, name, files, drafts: [] })}\n`);
  else
    io.out(
      `made ${name} in ${shown} (${counted(files.length, 'file')}). Begin with policy.md, then:\n  npx rehearsal check ${shellWord(shown)} --audit\n  npx rehearsal eval ${shellWord(shown)}\n`,
    );
  return 0;
}
