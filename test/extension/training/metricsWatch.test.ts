import { expect, it, onTestFinished, vi } from 'vitest';
import type { RunMetrics } from '../../../src/extension/training/metricsFile.ts';
import { watchMetrics } from '../../../src/extension/training/metricsWatch.ts';

/** A watched folder; a test raises its events. */
const folder = vi.hoisted(() => ({ onEvent: () => {}, isWatched: false }));

vi.mock('node:fs', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  watch: (_path: string, onEvent: () => void) => {
    folder.onEvent = onEvent;
    folder.isWatched = true;
    return {
      on: () => {},
      close: () => {
        folder.isWatched = false;
      },
    };
  },
}));

it('reports what is written in batches, also what no event announces, until it is disposed', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let [written, read] = [0, 0];
  const refresh = async () => {
    const points = Array.from({ length: written - read }, (_, index) => ({ step: read + index + 1 }));
    read = written;
    return { points, reset: false, statusChanged: false, alarmsChanged: false };
  };
  const batches: number[][] = [];
  const watch = watchMetrics(
    '/run',
    { refresh } as unknown as RunMetrics,
    ({ points }) => batches.push(points.map(({ step }) => step)),
    expect.fail,
  );
  while (written < 40) {
    written += 1;
    folder.onEvent();
    await vi.advanceTimersByTimeAsync(5);
  }
  await vi.advanceTimersByTimeAsync(100);
  expect(batches.flat()).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  expect(batches.length).toBeLessThanOrEqual(3);
  written = 41;
  await vi.advanceTimersByTimeAsync(2000);
  expect(batches.at(-1)).toEqual([41]);
  watch.dispose();
  expect(folder.isWatched).toBe(false);
  written = 42;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(batches.flat()).toHaveLength(41);
});
