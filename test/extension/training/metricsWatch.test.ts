import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readMetrics } from '../../../src/extension/training/metricsFile.ts';
import { watchMetrics } from '../../../src/extension/training/metricsWatch.ts';
import { runFolder } from './runFolder.ts';

it('brings what is written, in batches, until it is disposed', async () => {
  const folder = runFolder();
  const metrics = readMetrics(folder.path);
  const batches: number[][] = [];
  const watch = watchMetrics(
    folder.path,
    metrics,
    ({ points }) => batches.push(points.map(({ step }) => step)),
    expect.fail,
  );
  onTestFinished(watch.dispose);
  for (let step = 1; step <= 40; step += 1) {
    folder.append('metrics.jsonl', `{"step": ${step}}\n`);
    await pause(5);
  }
  await vi.waitFor(() => expect(batches.flat()).toHaveLength(40), { timeout: 5000 });
  expect(batches.flat()).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  expect(batches.length).toBeLessThan(20);
  watch.dispose();
  folder.append('metrics.jsonl', '{"step": 41}\n');
  await pause(300);
  expect(batches.flat()).toHaveLength(40);
});
