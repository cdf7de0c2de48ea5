import { describe, expect, it } from 'vitest';
import type { Run, RunStatus } from '../../../src/webview/messages/protocol.ts';
import { emptyDashboard } from '../../../src/webview/models/dashboard.ts';
import { rowsPerPage, runLabel, statusOf, tableOf } from '../../../src/webview/models/summary.ts';
import { point } from '../points.ts';

const run = (kind: Run['kind'], plannedSteps: number | null = null): Run => ({
  id: 'r1',
  kind,
  model: null,
  domain: null,
  plannedSteps,
});
describe('tableOf', () => {
  it('holds every point, newest first, with a dash for what is missing', () => {
    const table = tableOf([point(1, { loss: 2, entropy: 1 }), point(2, { loss: 1.5 })], 0);
    expect(table.columns.map(({ label }) => label)).toEqual(['Loss', 'Entropy']);
    expect(table.rows).toEqual([
      { step: 2, name: '2', purpose: 'training', cells: ['1.500', '–'] },
      { step: 1, name: '1', purpose: 'training', cells: ['2', '1'] },
    ]);
  });

  it('opens the evaluation where nothing else was measured', () => {
    const series = [point(0, { 'evaluate/reward': 1 }), point(1, { loss: 1, 'evaluate/reward': 1 }), point(2)];
    expect(tableOf(series, 0).rows.map(({ purpose }) => purpose)).toEqual(['training', 'training', 'evaluation']);
  });

  it('names what is superseded', () => {
    const [row] = tableOf([point(1), { ...point(2), superseded: true }], 0).rows;
    expect(row?.name).toBe('2, superseded');
  });

  it('turns pages, and keeps to those that exist', () => {
    const series = Array.from({ length: rowsPerPage + 3 }, (_, index) => point(index + 1, { loss: index }));
    expect(tableOf(series, 0)).toMatchObject({ page: 0, pages: 2 });
    expect(
      tableOf(series, 0)
        .rows.map(({ step }) => step)
        .at(-1),
    ).toBe(4);
    expect(tableOf(series, 7)).toMatchObject({ page: 1 });
    expect(tableOf(series, 7).rows.map(({ step }) => step)).toEqual([3, 2, 1]);
  });
});

describe('statusOf', () => {
  const at = (status: RunStatus, planned: number | null = null) =>
    statusOf({ ...emptyDashboard, run: run('grpo', planned), status, series: [point(1), point(50)] });

  it.each([
    [{ type: 'running' }, 'Running', null],
    [{ type: 'stopping' }, 'Stopping after this optimizer step', null],
    [{ type: 'stopped' }, 'Stopped', null],
    [{ type: 'finished' }, 'Finished', null],
    [{ type: 'failed', message: 'out of memory' }, 'Failed', 'out of memory'],
  ] satisfies [RunStatus, string, string | null][])('%o is %s', (status, label, error) => {
    expect(at(status)).toMatchObject({ label, error });
  });

  it('tells how far the run is', () => {
    expect(at({ type: 'running' }, 200)).toMatchObject({
      progress: 'Optimizer step 50 of 200',
      done: 0.25,
      duration: '49 min 0 s',
    });
    expect(at({ type: 'running' })).toMatchObject({ progress: 'Optimizer step 50', done: null });
    const series = [point(1), point(2), { ...point(50), superseded: true }];
    expect(statusOf({ ...emptyDashboard, series })).toMatchObject({
      progress: 'Optimizer step 2',
      duration: '1 min 0 s',
    });
    expect(statusOf(emptyDashboard)).toMatchObject({
      label: 'Starting',
      progress: 'No optimizer step yet',
      duration: '',
    });
  });
});

it('counts the first optimizer step, whose time is that of its end', () => {
  const series = [point(1, { step_seconds: 90 })];
  expect(statusOf({ ...emptyDashboard, series }).duration).toBe('1 min 30 s');
});

describe('runLabel', () => {
  it('names the kind where it is known', () => {
    expect([run('sft'), run('evaluate'), run(null)].map(runLabel)).toEqual(['r1 · SFT', 'r1 · evaluation', 'r1']);
  });
});
