import { dirname, join, resolve, sep } from 'node:path';

/** The folder that Rehearsal's own work lies in, of a workspace or of a domain that is alone. */
export const workFolder = '.rehearsal';

/** The folder of each kind of work below that workspace or domain, with `/`. */
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

/** Returns where the runs of a domain are written. */
export function runsOf(domain: string, roots: readonly string[]): string {
  return runsIn(workRootOf(domain, roots));
}

/** Returns where runs of a domain can be: in the domain, and in the folders around it up to where they are written. */
export function runPlacesAround(domain: string, roots: readonly string[]): readonly string[] {
  const folder = resolve(domain);
  const root = workRootOf(folder, roots);
  const places: string[] = [];
  for (let each = folder; each !== root; each = dirname(each)) places.push(runsIn(each));
  return [...places, runsIn(root)];
}

/**
 * Returns the folder that has the work of a domain: the innermost of some folders that contains the domain, else the
 * domain itself.
 */
export function workRootOf(domain: string, roots: readonly string[]): string {
  const folder = resolve(domain);
  const around = roots
    .map((root) => resolve(root))
    .filter((root) => folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep));
  return around.toSorted((one, other) => other.length - one.length)[0] ?? folder;
}
