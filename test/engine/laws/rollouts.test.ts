import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Task } from '../../../src/engine/core/domain/task.ts';
import type { RolloutEvent } from '../../../src/engine/core/events/event.ts';
import type { RolloutState } from '../../../src/engine/core/events/state.ts';
import { baseHash } from '../../../src/engine/core/events/world.ts';
import { follow, stateHash } from '../../../src/engine/core/rollout/rollout.ts';
import { externalSeatsOf, workerSeats } from '../../../src/engine/shell/externalSeats.ts';
import { readLedger, signingKey } from '../../../src/engine/shell/records/ledger.ts';
import { readRecording } from '../../../src/engine/shell/records/recording.ts';
import { rolloutName } from '../../../src/engine/shell/records/recordingName.ts';
import { verifyRecording, verifyRun } from '../../../src/engine/shell/records/verifyRun.ts';
import { replayRecording, settingOf } from '../../../src/engine/shell/replay.ts';
import { runBatch } from '../../../src/engine/shell/runs/batch.ts';
import { startOf } from '../../../src/engine/shell/start.ts';
import { openSupervisor, type Supervisor } from '../../../src/engine/shell/supervisor.ts';
import { runs } from '../../support/runs.ts';
import { sampleDomains, someRollout, withMistakes } from '../../support/sampleDomains.ts';
import { sampled } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';

// Laws of rollouts over every task of every sample domain, in workers, as in the run of a person.

const root = temporaryFolder('rehearsal-laws');
const key = signingKey(join(root, 'key.pem'));
let folders = 0;
const fresh = () => join(root, String(++folders));

const user = { type: 'agenda' } as const;
const nobody = { readKey: () => undefined, askPerson: () => Promise.reject(new Error('no person is asked')) };

describe.each(sampled(sampleDomains, 4))('in %s', (name) => {
  const domain = withMistakes(name);
  let one: Supervisor;
  let two: Supervisor;
  beforeAll(async () => {
    [one, two] = await Promise.all([openSupervisor(domain), openSupervisor(domain, { workers: 2 })]);
  });
  afterAll(() => Promise.all([one?.close(), two?.close()]));

  type Played = { readonly agent: 'gold' | 'scripted'; readonly task: Task; readonly seed: string };

  /** Plays a rollout and returns the path of its recording. */
  async function play(supervisor: Supervisor, { agent, task, seed }: Played, reads = false): Promise<string> {
    const recording = `${fresh()}.traj.jsonl`;
    const database = baseHash(settingOf(supervisor.loaded).world);
    const seats = { agent: { type: agent }, user } as const;
    const from = startOf(supervisor.domain, database, task, { seed, trial: 0, basis: 'evaluate', ...seats });
    const externalSeats = externalSeatsOf(seats.agent, user, nobody.readKey, nobody.askPerson);
    await supervisor.start({ task, from, seats: workerSeats(seats.agent, user), externalSeats, recording, reads })
      .closed;
    return recording;
  }

  test('replay equals record, at every event', async () => {
    await fc.assert(
      fc.asyncProperty(someRollout(domain), fc.nat(), async (played, at) => {
        const path = await play(one, played);
        const { steps, problems } = replayRecording(domain, path);
        const { lines } = readRecording(path);
        expect(problems).toEqual([]);
        expect(steps.length).toBe(lines.length);
        expect(lines.at(-1)?.event.type).toBe('rewarded');
        expect(verifyRecording(path).problems).toEqual([]);
        // A fold from the start to any event reaches the state that stepping there reached.
        const events = lines.slice(0, 1 + (at % lines.length)).map(({ event }) => event);
        const copy = JSON.parse(JSON.stringify(events)) as RolloutEvent[];
        const setting = settingOf(domain);
        const state = copy.reduce<RolloutState | null>((before, event) => follow(setting, before, event), null);
        expect(state && stateHash(state)).toBe(lines[events.length - 1]?.state);
      }),
      { numRuns: runs(10) },
    );
  });

  test('the same seed gives the same bytes in another process, beside other rollouts and when reads are kept', async () => {
    await fc.assert(
      fc.asyncProperty(someRollout(domain), fc.array(someRollout(domain), { maxLength: 4 }), async (played, others) => {
        const [first, second, third, watched] = await Promise.all([
          play(one, played),
          play(two, played),
          play(two, played),
          play(one, played, true),
          ...others.map((other) => play(two, other)),
        ]);
        const text = readFileSync(first, 'utf8');
        for (const path of [second, third, watched]) expect(readFileSync(path, 'utf8')).toBe(text);
      }),
      { numRuns: runs(6) },
    );
  });

  test('a batch in any order and concurrency gives the same results', async () => {
    const agents = fc.constantFrom('gold' as const, 'scripted' as const);
    const batch = agents.chain((agent) => {
      const fits = domain.tasks.filter(({ id }) => id.includes('-mistaken-') === (agent === 'scripted'));
      const tasks = fc.uniqueArray(fc.constantFrom(...fits), { minLength: 2, maxLength: 6, selector: ({ id }) => id });
      const shuffled = tasks.chain((chosen) =>
        fc.shuffledSubarray(chosen, { minLength: chosen.length }).map((other) => [chosen, other] as const),
      );
      return fc.record({ agent: fc.constant(agent), orders: shuffled, trials: fc.integer({ min: 1, max: 3 }) });
    });
    const concurrency = fc.integer({ min: 1, max: 12 });
    await fc.assert(
      fc.asyncProperty(batch, concurrency, fc.string(), async ({ agent, orders, trials }, many, seed) => {
        const made = async (supervisor: Supervisor, tasks: readonly Task[], concurrently: number) => {
          const folder = fresh();
          const seats = { agent: { type: agent }, user } as const;
          const options = { folder, tasks, trials, seed, basis: 'evaluate', concurrency: concurrently, key } as const;
          await runBatch(supervisor, { ...options, ...seats, ...nobody });
          return resultsIn(folder);
        };
        const [inOrder, otherwise] = [await made(one, orders[0], 1), await made(two, orders[1], many)];
        expect(inOrder.receipts.length).toBe(orders[0].length * trials);
        expect(otherwise).toEqual(inOrder);
        const names = orders[0].flatMap((task) => Array.from({ length: trials }, (_, at) => rolloutName(task, at)));
        expect([...inOrder.recordings.keys()]).toEqual(names.map((each) => `${each}.traj.jsonl`).sort());
      }),
      { numRuns: runs(4) },
    );
  });
});

/** Returns the texts of the recordings, and the receipts without times and the id of the run, ordered by name. */
function resultsIn(folder: string) {
  expect(verifyRun(folder, key.publicKey).problems).toEqual([]);
  const { receipts } = readLedger(join(folder, 'ledger.jsonl'), key.publicKey);
  const names = readdirSync(folder).filter((name) => name.endsWith('.traj.jsonl'));
  return {
    recordings: new Map(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')])),
    receipts: receipts
      .map(({ sidecarChain: _, run: __, ...receipt }) => receipt)
      .toSorted((a, b) => (a.rollout < b.rollout ? -1 : 1)),
  };
}
