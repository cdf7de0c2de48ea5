import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EndpointLimiter, limiterOf } from '../../../../src/engine/shell/models/endpointLimiter.ts';
import type { Clock } from '../../../../src/engine/shell/processes/clock.ts';
import { unlessAborted } from '../../../../src/engine/shell/processes/unlessAborted.ts';

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

/** Waits for a turn, which must not be refused. */
async function enter(limiter: EndpointLimiter) {
  const turn = await limiter.enter(never);
  if (turn.type !== 'turn') throw new Error('it was refused');
  return turn;
}

test('8 requests to an endpoint that refuses for 20 s without naming a time all get their answer', async () => {
  const { clock, now, runUntil } = testClock();
  const limiter = new EndpointLimiter(clock);
  let answers = 0;
  let refusals = 0;
  const limits = new Set<number>();
  const request = async () => {
    for (;;) {
      const turn = await enter(limiter);
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
  const [one, other] = [await enter(limiter), await enter(limiter)];
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
  (await enter(limiter)).refused(60_000);
  const paused = limiter.enter(cancel.signal);
  cancel.abort(new Error('cancelled'));
  await expect(paused).rejects.toThrow('cancelled');
  await expect(limiter.enter(cancel.signal)).rejects.toThrow('cancelled');
});

test('a request that cannot wait that long gets the refusal that caused the pause at once', async () => {
  const { clock, now } = testClock();
  const limiter = new EndpointLimiter(clock);
  (await enter(limiter)).refused(3_600_000, new Response('used up', { status: 429 }));
  for (const _ of [1, 2]) {
    const refused = await limiter.enter(never, 300_000);
    expect(refused).toMatchObject({ type: 'refused', answer: { status: 429 } });
    expect(refused.type === 'refused' && (await refused.answer?.text())).toBe('used up');
  }
  expect(now()).toBe(0);
});

test('a pause of an hour is tried again after ten minutes', async () => {
  const { clock, now, runUntil } = testClock();
  const limiter = new EndpointLimiter(clock);
  (await enter(limiter)).refused(3_600_000);
  let pausedMs = 0;
  const next = enter(limiter).then((turn) => {
    pausedMs = turn.pausedMs;
  });
  await runUntil(() => pausedMs > 0);
  await next;
  expect([now(), pausedMs]).toEqual([600_000, 600_000]);
});

test('a limiter is idle ten minutes after its last pause', async () => {
  const { clock, now, runUntil } = testClock();
  const limiter = new EndpointLimiter(clock);
  (await enter(limiter)).refused(60_000);
  expect(limiter.isIdle).toBe(false);
  let isOver = false;
  void clock.sleep(11 * 60_000, never).then(() => {
    isOver = true;
  });
  await runUntil(() => isOver);
  expect([now(), limiter.isIdle]).toEqual([11 * 60_000, true]);
});

test('an idle limiter is forgotten once there are many, and one that knows a limit is not', async () => {
  const at = { baseUrl: 'http://127.0.0.1:9/v1' };
  // This limiter comes first, because the newest one is never forgotten in favor of another.
  const limited = limiterOf(at, 'limited');
  (await enter(limited)).refused(60_000);
  const idle = limiterOf(at, 'idle');
  expect(limiterOf({ baseUrl: `${at.baseUrl}/other` }, 'idle')).toBe(idle);
  for (let key = 0; key < 200; key += 1) limiterOf(at, `key ${key}`);
  expect(limiterOf(at, 'idle')).not.toBe(idle);
  expect(limiterOf(at, 'limited')).toBe(limited);
});

test.each([
  { name: 'another path', change: { baseUrl: 'http://127.0.0.1:9/v2' }, isShared: true },
  { name: 'a header that is not a secret', change: { headers: { 'X-Title': 'judge' } }, isShared: true },
  { name: 'another key', key: 'other', isShared: false },
  { name: 'another key in a header', change: { headers: { 'api-key': 'other' } }, isShared: false },
  { name: 'another origin', change: { baseUrl: 'http://127.0.0.1:8/v1' }, isShared: false },
])('seats share a limiter by key and origin: $name', ({ change, key = 'key', isShared }) => {
  const seat = { baseUrl: 'http://127.0.0.1:9/v1', headers: {} };
  expect(limiterOf({ ...seat, ...change }, key) === limiterOf(seat, 'key')).toBe(isShared);
});
