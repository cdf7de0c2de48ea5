import { realpathSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hashOf, openDatabase } from '../../../../src/engine/core/world/database.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { startOf } from '../../../../src/engine/shell/start.ts';
import { openSupervisor } from '../../../../src/engine/shell/supervisor.ts';
import { desk, folderOf } from '../load/domainFolder.ts';

/** Rehearses the desk's task with the gold seat and a verifier of this code, in a worker. */
async function rewarded(verify: string) {
  const code = `import { defineVerifiers } from 'rehearsal';
const { verifier } = defineVerifiers<{ agent: { orders: Record<string, { status: string }> } }>();
export const tidy = verifier({ description: 'Tidy.', verify: ${verify} });
`;
  const task = `${String(desk['tasks/first.task.yaml'])}verifiers: [tidy]\nevaluate: [custom]\n`;
  const tools = String(desk['tools.ts']).replace(
    "effect: 'write', input: z.object({ order: z.string() }), run: () => 1",
    "effect: 'write', input: z.object({ order: z.string() }), run: ({ order }, { db }) => { (db as any).orders[order].status = 'cancelled'; }",
  );
  const folder = realpathSync(
    folderOf({ ...desk, 'tools.ts': tools, 'tasks/first.task.yaml': task, 'verifiers.ts': code }),
  );
  const supervisor = await openSupervisor(loadDomain(folder));
  try {
    const [of] = supervisor.domain.tasks;
    if (!of) throw new Error('the desk has a task');
    const database = hashOf(openDatabase(supervisor.loaded.world.agent));
    const seats = { agent: { type: 'gold' }, user: { type: 'agenda' } } as const;
    const from = startOf(supervisor.domain, database, of, { seed: '1', trial: 0, basis: 'evaluate', ...seats });
    const nobody = () => Promise.reject(new Error('no person is asked'));
    const { closed } = supervisor.start({
      task: of,
      from,
      seats: { agent: 'gold', user: 'agenda' },
      externalSeats: { agent: nobody, user: nobody, simulate: nobody },
      recording: null,
    });
    const { events } = await closed;
    return events.findLast((event) => event.type === 'rewarded');
  } finally {
    await supervisor.close();
  }
}

it.each([
  [
    "({ db, start, calls }) => ({ held: db.orders.W1?.status === 'cancelled' && start.orders.W1?.status === 'pending' && calls.length === 2, detail: 'as it should be' })",
    1,
    /custom:tidy held/,
  ],
  ['() => false', 0, /custom:tidy: it does not hold/],
  ["async () => { throw new Error('a spot'); }", null, /not scored: the verifier tidy of verifiers.ts threw: a spot/],
  ["() => 'fine' as never", null, /not scored: the verifier tidy of verifiers.ts returned/],
  ['({ db }) => { db.orders = {}; return true; }', null, /threw: Cannot assign to read only property/],
])('a verifier in the worker: %s', async (verify, reward, reason) => {
  expect(await rewarded(verify)).toMatchObject({ reward, reason: expect.stringMatching(reason) });
});
