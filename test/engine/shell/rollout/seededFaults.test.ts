import { expect, test } from 'vitest';
import type { SeededFault } from '../../../../src/engine/core/domain/seededFault.ts';
import { type Task, taskSchema } from '../../../../src/engine/core/domain/task.ts';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { stateHash } from '../../../../src/engine/core/rollout/rollout.ts';
import { underFaults } from '../../../../src/engine/shell/rollout/seededFaults.ts';
import { type Line, task as plain, played, setting, steps } from '../../../support/desk.ts';
import { replay } from '../../../support/replay.ts';

const look: Line = { look: { chair: 'A1' } };
const paint: Line = { paint: { chair: 'A1', colour: 'red' } };
const seen = '{"colour":"blue","coats":0}';

const withFaults = (...faults: readonly object[]): Task => taskSchema.parse({ ...plain, faults });

/** Results of looks under faults, and the events. */
async function looks(of: Task, lines: readonly Line[] = [look, look, look], waited: number[] = []) {
  const ports = { ...played([...lines, 'Done.'], ['Hello.']), wait: async (ms: number) => void waited.push(ms) };
  const all = await steps(ports, undefined, of);
  const events = all.map(({ event }) => event);
  const results = events.flatMap((event) => (event.type === 'toolReturned' ? [event.content] : []));
  const injected = events.flatMap((event) => (event.type === 'faultInjected' ? [event.fault.type] : []));
  return { all, events, results, injected };
}

const cases: readonly {
  readonly name: string;
  readonly fault: object;
  readonly results: readonly unknown[];
  readonly lines?: readonly Line[];
  readonly waits?: readonly number[];
}[] = [
  {
    name: 'an outage of the first call',
    fault: { type: 'outage', tool: 'look', calls: [1] },
    results: ['Error: look is not available at the moment; try again later', seen, seen],
  },
  {
    name: 'an outage that happens twice, in own words',
    fault: { type: 'outage', tool: 'look', times: 2, message: 'maintenance until noon' },
    results: ['Error: maintenance until noon', 'Error: maintenance until noon', seen],
  },
  {
    name: 'a permission that is denied',
    fault: { type: 'permissionDenied', tool: 'look', calls: [2] },
    results: [seen, 'Error: permission denied: look may not be called now', seen],
  },
  {
    name: 'a latency',
    fault: { type: 'latency', tool: 'look', ms: 300, calls: [3] },
    results: [seen, seen, seen],
    waits: [300],
  },
  {
    name: 'a latency beyond the timeout',
    fault: { type: 'latency', tool: 'look', ms: 5000, calls: [1] },
    results: ['Error: look timed out: it did not answer within 1000 ms', seen, seen],
    waits: [1000],
  },
  {
    name: 'an undocumented result',
    fault: { type: 'undocumentedResult', tool: 'look', result: { state: 'pending review' }, calls: [1] },
    results: ['{"state":"pending review"}', seen, seen],
  },
  {
    name: 'keys of the result with other names',
    fault: { type: 'changedSchema', tool: 'look', result: { colour: 'paint', coats: null }, calls: [1] },
    results: ['{"paint":"blue"}', seen, seen],
  },
  {
    name: 'an argument with another name',
    fault: { type: 'changedSchema', tool: 'look', arguments: { chair: 'seat' } },
    lines: [look, { look: { seat: 'A1' } }],
    results: ['Error: the arguments of look do not fit: the argument chair is unknown; it is called seat now', seen],
  },
];

test.each(cases)('$name', async ({ fault, results, lines, waits = [] }) => {
  const waited: number[] = [];
  const found = await looks(withFaults(fault), lines, waited);
  expect(found.results).toEqual(results);
  expect(waited).toEqual(waits);
  expect(found.injected.length).toBeGreaterThan(0);
  // Replay equals record, and a rollout that resumes from any of its events has the same faults.
  const state = replay(setting, found.events);
  expect(stateHash(state)).toBe(stateHash(found.all.at(-1)?.state ?? state));
});

test('the forms of numbers are those of an argument with another name', async () => {
  const fault = { type: 'changedSchema', arguments: { chair: 'seat/1' }, result: {} } as unknown as SeededFault;
  const call = { id: 'c', name: 'look', arguments: { 'seat/1': [5, 6], legs: 4 }, floats: ['/seat~11/1', '/legs'] };
  const given: unknown[] = [];
  const make = (changed: object) => {
    given.push(changed);
    return { content: '', isError: false, writes: [] };
  };
  await underFaults([fault], call, make, { timeoutMs: 1000, wait: async () => undefined });
  expect(given).toEqual([{ ...call, arguments: { chair: [5, 6], legs: 4 }, floats: ['/chair/1', '/legs'] }]);
});

test('resuming from any event gives the same rollout', async () => {
  const of = withFaults(
    { type: 'outage', tool: 'look', chance: 0.5 },
    { type: 'undocumentedResult', tool: 'look', result: 'odd', chance: 0.5, times: 1 },
  );
  const { events } = await looks(of);
  for (let cut = 1; cut < events.length; cut++) {
    const ports = played([look, look, look, 'Done.'], ['Hello.']);
    const again = await steps(ports, events.slice(0, cut) as readonly RolloutEvent[], of);
    expect(again.map(({ event }) => event)).toEqual(events);
  }
});

test('a write that an outage keeps from its tool writes nothing', async () => {
  const { events } = await looks(withFaults({ type: 'outage', tool: 'paint' }), [look, paint]);
  expect(events.some(({ type }) => type === 'databaseWritten')).toBe(false);
});

test('chance is drawn by seed: some calls of many tasks are affected, and always the same', async () => {
  const of = (id: string) => ({ ...withFaults({ type: 'outage', tool: 'look', chance: 0.4 }), id });
  const counts = async () =>
    Promise.all(Array.from({ length: 30 }, async (_, index) => (await looks(of(`t${index}`))).injected.length));
  const [one, two] = [await counts(), await counts()];
  expect(one).toEqual(two);
  const total = one.reduce((sum, each) => sum + each, 0);
  expect(total).toBeGreaterThan(18);
  expect(total).toBeLessThan(54);
});
