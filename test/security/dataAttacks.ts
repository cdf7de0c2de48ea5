import type { DataAttack } from './dataAttack.ts';
import { copyAttacks } from './hostileCopies.ts';
import { recordingAttacks } from './hostileRecordings.ts';
import { requestAttacks } from './hostileRequests.ts';
import { serverAttacks } from './hostileServers.ts';

/** All attacks that run no code of a domain. */
export const dataAttacks: readonly DataAttack[] = [
  ...serverAttacks,
  ...recordingAttacks,
  ...requestAttacks,
  ...copyAttacks,
];
