import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readBoundedText } from '../files/boundedFile.ts';
import { runFileName, runFiles } from '../records/runFiles.ts';

/** The domain that a recording was made in: the one of the run beside it, else the nearest folder above with a domain.yaml. */
export function domainBeside(recording: string): string | undefined {
  for (let folder = dirname(recording); folder !== dirname(folder); folder = dirname(folder)) {
    const run = join(folder, runFileName);
    const config = join(folder, runFiles.config);
    for (const file of [run, config]) {
      const named = existsSync(file) ? folderIn(file, recording) : undefined;
      if (named && existsSync(named)) return named;
    }
    if (existsSync(join(folder, 'domain.yaml'))) return folder;
  }
  return undefined;
}

type Share = { readonly folder: string; readonly name?: string | null };
type Config = {
  readonly folder?: string;
  readonly domain?: string | readonly Share[];
  readonly held_out?: readonly Share[];
};

/** A run says `folder`, a training run `domain`: one, or several whose names its recordings carry. */
function folderIn(file: string, recording: string): string | undefined {
  try {
    const { folder, domain, held_out: heldOut = [] } = JSON.parse(readBoundedText(file)) as Config;
    const shares = [...(Array.isArray(domain) ? (domain as readonly Share[]) : []), ...heldOut];
    const own = shares.find(({ folder: each, name }) => {
      const called = name ?? basename(each);
      return basename(recording).startsWith(`${called}.`) || basename(dirname(recording)) === called;
    });
    return folder ?? own?.folder ?? (typeof domain === 'string' ? domain : undefined);
  } catch {
    return undefined;
  }
}
