import { describe, expect, it } from 'vitest';
import { type Dashboard, emptyDashboard, received, withStepOpened } from '../../../src/webview/models/dashboard.ts';
import type { Run, ToWebview } from '../../../src/webview/protocol.ts';
import { point } from '../points.ts';

const run = (id: string): Run => ({ id, kind: 'grpo', model: null, domain: null, plannedSteps: null });
const snapshot = (shown: string | null, steps: readonly number[] = []): ToWebview => ({
  type: 'snapshot',
  runs: [run('new'), run('old')],
  run: shown,
  points: steps.map((step) => point(step)),
  status: { type: 'running' },
  problems: [],
  alarms: [],
});
const dashboardAfter = (...messages: readonly ToWebview[]): Dashboard => messages.reduce(received, emptyDashboard);
const steps = ({ series }: Dashboard) => series.map(({ step }) => step);

describe('received', () => {
  it('takes a snapshot, and points as they come', () => {
    const dashboard = dashboardAfter(snapshot('new', [1, 2]), { type: 'appended', run: 'new', points: [point(3)] });
    expect(steps(dashboard)).toEqual([1, 2, 3]);
    expect(dashboard).toMatchObject({ loaded: true, run: { id: 'new' } });
  });

  it('is loaded and empty where there is no run', () => {
    expect(dashboardAfter(snapshot(null))).toMatchObject({ loaded: true, run: null });
  });

  it('changes nothing for a run that is no longer shown', () => {
    const shown = dashboardAfter(snapshot('new', [1]));
    const late: readonly ToWebview[] = [
      { type: 'appended', run: 'old', points: [point(9)] },
      { type: 'restarted', run: 'old', points: [] },
      { type: 'status', run: 'old', status: { type: 'finished' }, problems: [] },
      { type: 'rollouts', run: 'old', step: 1, rollouts: [], problem: null },
      { type: 'alarms', run: 'old', alarms: [] },
    ];
    for (const message of late) expect(received(shown, message)).toBe(shown);
  });

  it('draws other runs over the one that is shown, and never that one twice', () => {
    const runs = [
      { run: 'old', points: [point(2), point(1)] },
      { run: 'new', points: [point(1)] },
    ];
    const dashboard = dashboardAfter(snapshot('new', [1]), { type: 'overlaid', runs });
    expect(dashboard.overlays.map(({ run, series }) => [run, ...series.map(({ step }) => step)])).toEqual([
      ['old', 1, 2],
    ]);
    expect(received(dashboard, snapshot('old')).overlays).toEqual([]);
  });

  it('drops old points when the files were begun anew', () => {
    expect(
      steps(dashboardAfter(snapshot('new', [1, 2, 3]), { type: 'restarted', run: 'new', points: [point(1)] })),
    ).toEqual([1]);
  });

  it('keeps an opened step for the same run only', () => {
    const opened = withStepOpened(dashboardAfter(snapshot('new', [1])), 1);
    expect(received(opened, snapshot('new', [1, 2])).opened).toEqual({ step: 1, rollouts: null, problem: null });
    expect(received(opened, snapshot('old')).opened).toBeNull();
  });

  it('shows the rollouts of the step that is open, and of no other', () => {
    const opened = withStepOpened(dashboardAfter(snapshot('new', [1, 2])), 2);
    const rollouts = (step: number): ToWebview => ({ type: 'rollouts', run: 'new', step, rollouts: [], problem: null });
    expect(received(opened, rollouts(1))).toBe(opened);
    expect(received(opened, rollouts(2)).opened).toEqual({ step: 2, rollouts: [], problem: null });
  });
});
