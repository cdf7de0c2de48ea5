import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The domain that a recording was made in: the one of the run beside it, else the nearest folder above with a domain.yaml. */
export function domainBeside(recording: string): string | undefined {
  for (let folder = dirname(recording); folder !== dirname(folder); folder = dirname(folder)) {
    const run = join(folder, 'run.json');
    const config = join(folder, 'config.json');
    for (const file of [run, config]) {
      const named = existsSync(file) ? folderIn(file) : undefined;
      if (named && existsSync(named)) return named;
    }
    if (existsSync(join(folder, 'domain.yaml'))) return folder;
  }
  return undefined;
}

/** A run says `folder`, a training run `domain`. */
function folderIn(file: string): string | undefined {
  try {
    const { folder, domain } = JSON.parse(readFileSync(file, 'utf8')) as { folder?: string; domain?: string };
    return folder ?? domain;
  } catch {
    return undefined;
  }
}
