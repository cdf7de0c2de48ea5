import { expect, onTestFinished, test } from 'vitest';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { externalSeatsOf, workerSeats } from '../../../../src/engine/shell/externalSeats.ts';
import { baseHashOf } from '../../../../src/engine/shell/replay.ts';
import { startOf } from '../../../../src/engine/shell/start.ts';
import { openSupervisor } from '../../../../src/engine/shell/supervisor.ts';

const seats = [{ type: 'gold' }, { type: 'agenda' }] as const;
const nobody = () => Promise.reject(new Error('no person is asked here'));

test('a worker reads messages between rollouts, however many wait: the last of them can be cancelled', async () => {
  const domain = loadDomain('domains/parcel-desk');
  const supervisor = await openSupervisor(domain, { workers: 1 });
  onTestFinished(() => supervisor.close());
  const [task] = domain.tasks;
  if (!task) throw new Error('the sample domain has tasks');
  const [agent, user] = seats;
  const live = Array.from({ length: 400 }, (_, trial) =>
    supervisor.start({
      task,
      from: startOf(supervisor.domain, baseHashOf(domain), task, {
        seed: '1',
        trial,
        basis: 'evaluate',
        agent,
        user,
      }),
      seats: workerSeats(agent, user),
      externalSeats: externalSeatsOf(agent, user, () => undefined, nobody),
      recording: null,
    }),
  );
  await live[0]?.closed;
  live.at(-1)?.cancel();
  const closed = await Promise.all(live.map((each) => each.closed));
  expect(closed.at(-1)?.endReason).toBe('cancelled');
  expect(closed.slice(0, -1).filter(({ reward }) => reward === 1)).toHaveLength(399);
});
