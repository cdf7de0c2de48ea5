import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The settings that a lane receives on its command line. */
export type LaneSettings = {
  readonly folder: string;
  /** Whether its inspector may be opened, when that is asked for. */
  readonly isInspectable: boolean;
  /** Whether it was started before its domain was read, and has time until it is opened. */
  readonly isEarly: boolean;
};

/** Numbers of the files that a lane inherits beside the three standard ones. */
export const laneFiles = { channel: 3, marker: 4 } as const;

/**
 * The lane's program, and the folder that it needs to read: beside this code when it is bundled (in `dist` or in a
 * chunk below it), or its source when this runs from source.
 */
export function laneProgram(ownUrl: string): { readonly file: string; readonly readable: string } {
  const here = dirname(fileURLToPath(ownUrl));
  const bundled = [join(here, 'lane.mjs'), join(here, '..', 'lane.mjs')];
  // What runs from source starts a bundled lane, several times as fast, where a developer names one.
  for (const file of [...bundled, process.env['REHEARSAL_LANE']]) {
    if (file !== undefined && existsSync(file)) return { file: resolve(file), readable: dirname(resolve(file)) };
  }
  return { file: join(here, 'lane.ts'), readable: resolve(here, '../../../..') };
}

/** The copies of `zod` and `rehearsal` that a domain's imports mean. */
export function shippedModules(laneUrl: string): Readonly<Record<string, string>> {
  const bundled = new URL('./zod.mjs', laneUrl);
  if (existsSync(bundled)) return { zod: bundled.href, rehearsal: new URL('./authoring.mjs', laneUrl).href };
  const rehearsal = pathToFileURL(resolve(dirname(fileURLToPath(laneUrl)), '../../authoring.ts')).href;
  return { zod: import.meta.resolve('zod'), rehearsal };
}
