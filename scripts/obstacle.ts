import { findOnPath } from './process.ts';

/** Says why a step cannot run on this machine, with the command that installs what it needs, where there is one. */
export type Obstacle = { readonly reason: string; readonly install?: string };

/** Returns why something cannot run, with the command that installs what it needs. */
export function reasonOf({ reason, install }: Obstacle): string {
  return install ? `${reason}. Install it: ${install}` : reason;
}

/**
 * Returns the obstacle of a machine that lacks a program.
 * @param packages the names of the packages that have it, by package manager
 */
export function missing(reason: string, packages: Readonly<Record<string, string>>): Obstacle {
  const [manager, names] = Object.entries(packages).find(([name]) => findOnPath(name)) ?? [];
  if (manager === undefined) return { reason };
  return { reason, install: manager === 'brew' ? `brew install ${names}` : `sudo ${manager} install -y ${names}` };
}
