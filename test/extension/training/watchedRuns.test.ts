import { expect, it, onTestFinished, vi } from 'vitest';
import { isOver, watchRun } from '../../../src/extension/training/watchedRuns.ts';
import { runFolder } from './runFolder.ts';

/** Long enough for a machine that is busy with other work. */
const limit = { timeout: 240_000 };
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
  await vi.waitFor(() => expect(heard).not.toEqual([]), limit);
  expect(heard).toEqual(['dashboard finished', 'tree finished']);
  expect(isOver(tree.metrics.status())).toBe(true);
});

it('continues for the remaining watcher, and restarts after the last one is disposed', async () => {
  const folder = runFolder();
  const ignore = { onChange: () => undefined, onProblem: expect.fail };
  const [first, second] = [watchRun(folder.path, ignore), watchRun(folder.path, ignore)];
  first.dispose();
  folder.append('metrics.jsonl', '{"step": 1}\n');
  await vi.waitFor(() => expect(second.metrics.points()).toHaveLength(1), limit);
  second.dispose();
  folder.append('metrics.jsonl', '{"step": 2}\n');
  const third = watchRun(folder.path, ignore);
  onTestFinished(third.dispose);
  await third.read;
  expect(third.metrics).not.toBe(second.metrics);
  expect(third.metrics.points()).toHaveLength(2);
  // Once the third watcher has reported a later change, the second one would have reported the change before it.
  folder.append('metrics.jsonl', '{"step": 3}\n');
  await vi.waitFor(() => expect(third.metrics.points()).toHaveLength(3), limit);
  expect(second.metrics.points()).toHaveLength(1);
});

it('watches nothing when it is disposed while the run is read', async () => {
  const folder = runFolder();
  let changes = 0;
  const run = watchRun(folder.path, { onChange: () => (changes += 1), onProblem: expect.fail });
  run.dispose();
  await run.read;
  const later = watchRun(folder.path, { onChange: () => undefined, onProblem: expect.fail });
  onTestFinished(later.dispose);
  await later.read;
  folder.append('metrics.jsonl', '{"step": 1}\n');
  await vi.waitFor(() => expect(later.metrics.points()).toHaveLength(1), limit);
  expect(changes).toBe(0);
});
