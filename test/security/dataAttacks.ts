import type { DataAttack } from './dataAttack.ts';
import { copyAttacks } from './hostileCopies.ts';
import { domainAttacks } from './hostileDomains.ts';
import { recordingAttacks } from './hostileRecordings.ts';
import { requestAttacks } from './hostileRequests.ts';
import { serverAttacks } from './hostileServers.ts';

/** All attacks that are not code of a domain. */
export const dataAttacks: readonly DataAttack[] = [
  ...domainAttacks,
  ...serverAttacks,
  ...recordingAttacks,
  ...requestAttacks,
  ...copyAttacks,
];
