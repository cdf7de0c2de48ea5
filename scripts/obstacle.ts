/** Why a step cannot run on this machine, and the command that installs what it needs, where there is one. */
export type Obstacle = { readonly reason: string; readonly install?: string };
