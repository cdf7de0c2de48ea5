/** Says why a step cannot run on this machine, with the command that installs what it needs, where there is one. */
export type Obstacle = { readonly reason: string; readonly install?: string };

/** Returns why something cannot run, with the command that installs what it needs. */
export function reasonOf({ reason, install }: Obstacle): string {
  return install ? `${reason}. Install it: ${install}` : reason;
}
