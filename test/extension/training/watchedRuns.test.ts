import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { isOver, watchRun } from '../../../src/extension/training/watchedRuns.ts';
import { runFolder } from './runFolder.ts';

const line = (type: string) => `${JSON.stringify({ time: 1, type })}\n`;

it('tells all who watch a run the same, at the same moment', async () => {
  const folder = runFolder();
  folder.append('events.jsonl', line('started'));
  const heard: string[] = [];
  const watch = (name: string) => {
    const run = watchRun(folder.path, {
      onChange: ({ statusChanged }) => statusChanged && heard.push(`${name} ${run.metrics.status().type}`),
      onProblem: expect.fail,
    });
    onTestFinished(run.dispose);
    return run;
  };
  const dashboard = watch('dashboard');
  await dashboard.read;
  const tree = watch('tree');
  expect(tree.metrics).toBe(dashboard.metrics);
  expect(tree.metrics.status()).toEqual({ type: 'running' });
  heard.length = 0;
  folder.append('events.jsonl', line('finished'));
  await vi.waitFor(() => expect(heard).not.toEqual([]), { timeout: 5000, interval: 5 });
  expect(heard).toEqual(['dashboard finished', 'tree finished']);
  expect(isOver(tree.metrics.status())).toBe(true);
});

it('goes on for who is left, and begins anew after the last one', async () => {
  const folder = runFolder();
  const ignore = { onChange: () => undefined, onProblem: expect.fail };
  const [first, second] = [watchRun(folder.path, ignore), watchRun(folder.path, ignore)];
  first.dispose();
  folder.append('metrics.jsonl', '{"step": 1}\n');
  await vi.waitFor(() => expect(second.metrics.points()).toHaveLength(1), { timeout: 5000 });
  second.dispose();
  folder.append('metrics.jsonl', '{"step": 2}\n');
  await pause(400);
  expect(second.metrics.points()).toHaveLength(1);
  const third = watchRun(folder.path, ignore);
  onTestFinished(third.dispose);
  await third.read;
  expect(third.metrics).not.toBe(second.metrics);
  expect(third.metrics.points()).toHaveLength(2);
});

it('disposed while it is read, it watches nothing', async () => {
  const folder = runFolder();
  let changes = 0;
  const run = watchRun(folder.path, { onChange: () => (changes += 1), onProblem: expect.fail });
  run.dispose();
  await run.read;
  folder.append('metrics.jsonl', '{"step": 1}\n');
  await pause(400);
  expect(changes).toBe(0);
});
