import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The settings that a worker receives on its command line. */
export type WorkerSettings = {
  readonly folder: string;
  /** Whether its inspector may be opened, when that is asked for. */
  readonly isInspectable: boolean;
  /** Whether it was started before its domain was read, and has time until it is opened. */
  readonly isEarly: boolean;
};

/** Numbers of the files that a worker inherits beside the three standard ones. */
export const workerFiles = { channel: 3, marker: 4 } as const;

/**
 * The worker's program, and the folder that it needs to read: beside this code when it is bundled (in `dist` or in a
 * chunk below it), or its source when this runs from source.
 */
export function workerProgram(ownUrl: string): { readonly file: string; readonly readable: string } {
  const here = dirname(fileURLToPath(ownUrl));
  const bundled = [join(here, 'worker.mjs'), join(here, '..', 'worker.mjs')];
  // What runs from source starts a bundled worker, several times as fast, where a developer names one.
  for (const file of [...bundled, process.env['REHEARSAL_WORKER']]) {
    if (file !== undefined && existsSync(file)) return { file: resolve(file), readable: dirname(resolve(file)) };
  }
  return { file: join(here, 'worker.ts'), readable: resolve(here, '../../../..') };
}

/** The copies of `zod` and `rehearsal` that a domain's imports mean. */
export function shippedModules(workerUrl: string): Readonly<Record<string, string>> {
  const bundled = new URL('./zod.mjs', workerUrl);
  if (existsSync(bundled)) return { zod: bundled.href, rehearsal: new URL('./authoring.mjs', workerUrl).href };
  const rehearsal = pathToFileURL(resolve(dirname(fileURLToPath(workerUrl)), '../../authoring.ts')).href;
  return { zod: import.meta.resolve('zod'), rehearsal };
}
