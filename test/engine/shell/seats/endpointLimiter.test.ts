import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Clock, EndpointLimiter, unlessAborted } from '../../../../src/engine/shell/seats/endpointLimiter.ts';

/** A clock that moves to the next end of a sleep when nothing else happens. */
function testClock() {
  let now = 0;
  const sleeping = new Map<() => void, number>();
  const clock: Clock = {
    now: () => now,
    sleep: async (ms, signal) => {
      let wake = () => {};
      const over = new Promise<void>((resolve) => {
        wake = resolve;
      });
      sleeping.set(wake, now + ms);
      await unlessAborted(over, signal).finally(() => sleeping.delete(wake));
    },
  };
  const runUntil = async (isDone: () => boolean) => {
    while (!isDone()) {
      await nextTurn();
      const [next] = [...sleeping].sort(([, one], [, other]) => one - other);
      if (!next) continue;
      now = next[1];
      sleeping.delete(next[0]);
      next[0]();
    }
  };
  return { clock, now: () => now, runUntil };
}

const never = new AbortController().signal;

test('8 requests to an endpoint that refuses for 20 s without naming a time all get their answer', async () => {
  const { clock, now, runUntil } = testClock();
  const limiter = new EndpointLimiter(clock);
  let answers = 0;
  let refusals = 0;
  const limits = new Set<number>();
  const request = async () => {
    for (;;) {
      const turn = await limiter.enter(never);
      await clock.sleep(10, never);
      limits.add(Math.floor(limiter.limit));
      if (now() < 20_000) {
        refusals += 1;
        turn.refused(null);
        continue;
      }
      turn.answered();
      answers += 1;
      return;
    }
  };
  const requests = Array.from({ length: 8 }, request);
  await runUntil(() => answers === 8);
  await Promise.all(requests);
  expect(refusals).toBeLessThan(20);
  expect(limits).toEqual(new Set([Number.POSITIVE_INFINITY, 4, 2, 1, 3]));
  expect(now()).toBeLessThan(40_000);
});

test('a named time pauses every request, and the longest one counts', async () => {
  const { clock, now, runUntil } = testClock();
  const limiter = new EndpointLimiter(clock);
  const [one, other] = [await limiter.enter(never), await limiter.enter(never)];
  expect(one.refused(65_000)).toEqual({ ms: 65_000, isNew: true });
  expect(other.refused(70_000)).toEqual({ ms: 70_000, isNew: false });
  let entered = false;
  const next = limiter.enter(never).then(() => {
    entered = true;
  });
  await runUntil(() => entered);
  await next;
  expect(now()).toBe(70_000);
});

test('a cancelled request leaves the pause, or the queue, at once', async () => {
  const { clock } = testClock();
  const limiter = new EndpointLimiter(clock);
  const cancel = new AbortController();
  (await limiter.enter(never)).refused(60_000);
  const paused = limiter.enter(cancel.signal);
  cancel.abort(new Error('cancelled'));
  await expect(paused).rejects.toThrow('cancelled');
  await expect(limiter.enter(cancel.signal)).rejects.toThrow('cancelled');
});
