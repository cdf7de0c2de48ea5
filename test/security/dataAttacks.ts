import type { DataAttack } from './dataAttack.ts';
import { copyAttacks } from './hostileCopies.ts';
import { domainAttacks } from './hostileDomains.ts';
import { recordingAttacks } from './hostileRecordings.ts';
import { requestAttacks } from './hostileRequests.ts';
import { serverAttacks } from './hostileServers.ts';

/** All attacks by data, not by a domain's code. */
export const dataAttacks: readonly DataAttack[] = [
  ...domainAttacks,
  ...serverAttacks,
  ...recordingAttacks,
  ...requestAttacks,
  ...copyAttacks,
];
