import { expect, test } from 'vitest';
import { sampled } from '../support/suite.ts';
import { play } from './forgeries.ts';

// Domain code that prevents its own time limit from ending it. The scoring process has a separate timer.

const limits = { limitMs: 1000, graceMs: 500 };
/** Keeps the processor busy for 6 s in which the machine does not pause: the scoring process does not count a pause. */
const keepBusy = (code: string) =>
  `let busy = 0; let before = Date.now(); while (busy < 6000) { const now = Date.now(); busy += Math.min(now - before, 20); before = now; ${code} }`;
/** Timers without the one that ends a call. */
const withoutLimit = `const later = setTimeout; globalThis.setTimeout = (run, ms, ...more) => ms === ${limits.limitMs} ? {} : later(run, ms, ...more);`;
const mark = (offset: number, value: number | string) => `(() => {
  const bytes = Buffer.alloc(4); bytes.writeUInt32LE(${value}); writeSync(4, bytes, 0, 4, ${offset}); })();`;

const late = {
  code: 'worker/forged',
  message: expect.stringMatching(/it ran for \d+ ms, and its time limit is 1000 ms$/),
};

const silent = {
  code: 'worker/silent',
  message: expect.stringContaining('blocked its process for'),
};

const attacks: readonly (readonly [what: string, code: string, failure: object])[] = [
  ['names a longer limit in its marker', mark(12, 60_000) + keepBusy(''), late],
  ['says in its marker that no call is under way', mark(0, 0) + keepBusy(''), late],
  ['says so again and again, and prints', keepBusy(`${mark(0, 0)} console.log('busy');`), late],
  [
    'replaces the timers of its process',
    `${withoutLimit} return new Promise((resolve) => { let left = 60; const step = () => { left -= 1; if (left < 0) resolve('ok'); else later(step, 100); }; step(); })`,
    late,
  ],
  ['never comes back, without timers', `${withoutLimit} return new Promise(() => undefined)`, silent],
  ['says so and never comes back', `for (;;) { ${mark(0, 0)} ${mark(28, 'Date.now() >>> 0')} }`, silent],
];

test.each(sampled(attacks, 4))('code that %s ends its rollout without a reward', async (_, attack, failure) => {
  const { closed } = await play(attack, 'scripted', { ...limits, silenceMs: failure === silent ? 300 : 120_000 });
  expect(closed).toMatchObject({ reward: null, failure: { who: 'environment', ...failure } });
});

test('calls that together take longer than the limit of each count', async () => {
  const busy = `const until = Date.now() + 150; while (Date.now() < until) {}`;
  const { closed } = await play(busy, 'scripted', { limitMs: 1500, graceMs: 1000, calls: 12 });
  expect(closed).toMatchObject({ reward: 0, failure: null });
  expect(closed.arrived.filter(({ type }) => type === 'toolReturned')).toHaveLength(12);
});
