import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WorkerClock } from '../../../../src/engine/shell/workers/workerClock.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Lets time pass and polls every 250 ms, as the supervisor does. */
function pass(clock: WorkerClock, ms: number, resting: readonly number[] = []): WorkerClock {
  for (let left = ms; left > 0; left -= 250) {
    vi.advanceTimersByTime(Math.min(left, 250));
    clock.look();
    for (const rollout of resting) clock.rest(rollout);
  }
  return clock;
}

const together = () => new Promise<void>((resolve) => queueMicrotask(resolve));

type Row = readonly [name: string, play: (clock: WorkerClock) => number | Promise<number>, ms: number];

const rows: readonly Row[] = [
  ['code keeps the worker busy', (clock) => pass(clock, 3000).heard(1, false), 3000],
  ['code waits for a promise', (clock) => pass(clock, 3000).heard(1, true), 3000],
  ['the rollout waits for an answer', (clock) => pass(clock, 3000, [1]).heard(1, false), 0],
  [
    'this process did not run',
    (clock) => {
      vi.advanceTimersByTime(60_000);
      return clock.heard(1, false);
    },
    500,
  ],
  [
    'another rollout kept the worker busy, and speaks first',
    async (clock) => {
      clock.rest(2);
      pass(clock, 3000);
      clock.heard(2, false);
      await together();
      vi.advanceTimersByTime(10);
      return clock.heard(1, true);
    },
    10,
  ],
  [
    'the words of another come in the same piece',
    (clock) => {
      pass(clock, 3000);
      clock.heard(2, false);
      return clock.heard(1, false);
    },
    3000,
  ],
  [
    'the worker speaks of others all the time, and the promise of this one is not settled',
    async (clock) => {
      for (let count = 0; count < 30; count++) {
        pass(clock, 100);
        clock.heard(2, false);
        await together();
      }
      return clock.heard(1, true);
    },
    3000,
  ],
];

test.each(rows)('how long code can have run: %s', async (_, play, ms) => {
  const clock = new WorkerClock();
  clock.rest(1);
  expect(await play(clock)).toBe(ms);
});

test('a rollout that has ended is forgotten', () => {
  const clock = new WorkerClock();
  clock.rest(1);
  clock.keep(new Map([[2, null]]));
  pass(clock, 3000);
  expect(clock.heard(1, true)).toBe(0);
});
