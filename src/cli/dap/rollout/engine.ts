import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { withDrafts } from '../../../engine/shell/load/drafts.ts';
import { openSupervisor } from '../../../engine/shell/supervisor.ts';
import { startWorkerEarly } from '../../../engine/shell/workers/workerChild.ts';
import { openDomainAt } from '../../options/rolloutOptions.ts';

/** Opens the domains and supervisors of a session: its own, or those that several sessions share. */
export type Engine = {
  readonly openDomain: (folder: string) => LoadedDomain;
  readonly openSupervisor: typeof openSupervisor;
  /** Starts a worker while the domain is still being read. Returns a function that cancels it. */
  readonly startWorkerEarly: typeof startWorkerEarly;
};

export const ownEngine: Engine = {
  openDomain: (folder) => withDrafts(openDomainAt(folder)),
  openSupervisor,
  startWorkerEarly,
};
