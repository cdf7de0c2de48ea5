import { expect, test } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { baseHash } from '../../../src/engine/core/events/world.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { externalSeatsOf, workerSeats } from '../../../src/engine/shell/externalSeats.ts';
import { settingOf } from '../../../src/engine/shell/replay.ts';
import { startOf } from '../../../src/engine/shell/start.ts';
import { openSupervisor } from '../../../src/engine/shell/supervisor.ts';

const seats = { agent: { type: 'gold' }, user: { type: 'agenda' } } as const;

test('a rollout that starts after the supervisor was closed is rejected', async () => {
  const loaded = loadDomain(inRoot('domains', 'parcel-desk'), { soundness: false });
  const supervisor = await openSupervisor(loaded);
  const [task] = supervisor.domain.tasks;
  if (!task) throw new Error('parcel-desk has no task');
  const from = startOf(supervisor.domain, baseHash(settingOf(loaded).world), task, {
    seed: '1',
    trial: 0,
    basis: 'evaluate',
    ...seats,
  });
  const externalSeats = externalSeatsOf(
    seats.agent,
    seats.user,
    () => undefined,
    () => Promise.reject(new Error('no person has a seat')),
  );
  await supervisor.close();
  const request = { task, from, seats: workerSeats(seats.agent, seats.user), externalSeats, recording: null };
  await expect(supervisor.start(request).closed).rejects.toThrow('The supervisor is closed.');
});
