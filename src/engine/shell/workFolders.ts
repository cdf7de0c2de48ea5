import { join, resolve, sep } from 'node:path';

/** The folder that Rehearsal's own work lies in, of a workspace or of a domain that stands alone. */
export const workFolder = '.rehearsal';

/** Where each kind of work lies below that workspace or domain, with `/`. */
export const workFolders = {
  /** Rollouts that were played, debugged or imported. */
  runs: `${workFolder}/runs`,
  training: `${workFolder}/training`,
  experiments: `${workFolder}/experiments`,
  synth: `${workFolder}/synth`,
} as const;

/** Returns where the runs of a workspace or of a domain are. */
export function runsIn(folder: string): string {
  return join(folder, workFolders.runs);
}

/**
 * Returns where the runs of a domain are written: in the innermost of some folders that has the domain, else in the
 * domain itself.
 * @param roots absolute paths
 */
export function runsOf(domain: string, roots: readonly string[]): string {
  const folder = resolve(domain);
  const around = roots.filter((root) => folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep));
  return runsIn(around.toSorted((one, other) => other.length - one.length)[0] ?? folder);
}
