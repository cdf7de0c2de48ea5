import { describe, expect, it, test } from 'vitest';
import type { PlayedStep, Run, ToWebview } from '../../../src/webview/messages/protocol.ts';
import {
  type Dashboard,
  emptyDashboard,
  openedTitle,
  received,
  withStepOpened,
} from '../../../src/webview/models/dashboard.ts';
import { point } from '../points.ts';

const run = (id: string): Run => ({ id, kind: 'grpo', model: null, domain: null, plannedSteps: null });
const played = (of: string, step: number): PlayedStep => ({ run: of, step, purpose: 'training' });
const snapshot = (shown: string | null, steps: readonly number[] = []): ToWebview => ({
  type: 'snapshot',
  runs: [run('new'), run('old')],
  run: shown,
  points: steps.map((step) => point(step)),
  status: { type: 'running' },
  data: null,
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
      { type: 'status', run: 'old', status: { type: 'finished' }, data: null, problems: [] },
      { type: 'rollouts', run: 'old', step: 1, purpose: 'training', rollouts: [], problem: null },
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

  it('drops old points when the files were restarted', () => {
    expect(
      steps(dashboardAfter(snapshot('new', [1, 2, 3]), { type: 'restarted', run: 'new', points: [point(1)] })),
    ).toEqual([1]);
  });

  it('keeps an opened step for the same run only', () => {
    const opened = withStepOpened(dashboardAfter(snapshot('new', [1])), played('new', 1));
    expect(received(opened, snapshot('new', [1, 2])).opened).toEqual({
      ...played('new', 1),
      rollouts: null,
      problem: null,
    });
    expect(received(opened, snapshot('old')).opened).toBeNull();
  });

  it('shows the rollouts of the step that is open, and of no other', () => {
    const opened = withStepOpened(dashboardAfter(snapshot('new', [1, 2])), played('new', 2));
    const rollouts = (of: PlayedStep): ToWebview => ({ type: 'rollouts', ...of, rollouts: [], problem: null });
    for (const other of [played('new', 1), played('old', 2), { ...played('new', 2), purpose: 'evaluation' as const }])
      expect(received(opened, rollouts(other))).toBe(opened);
    expect(received(opened, rollouts(played('new', 2))).opened).toEqual({
      ...played('new', 2),
      rollouts: [],
      problem: null,
    });
  });

  it('opens a step of a run that is drawn over, until it is drawn no more', () => {
    const overlaid: ToWebview = { type: 'overlaid', runs: [{ run: 'old', points: [point(7)] }] };
    const opened = withStepOpened(dashboardAfter(snapshot('new', [1]), overlaid), played('old', 7));
    expect(openedTitle(opened)).toBe('Rollouts of optimizer step 7, old');
    expect(received(opened, overlaid).opened).toMatchObject(played('old', 7));
    expect(received(opened, { type: 'overlaid', runs: [] }).opened).toBeNull();
  });
});

test.each([
  [played('new', 1), 'Rollouts of optimizer step 1'],
  [played('new', 2), 'Rollouts of optimizer step 2, superseded'],
  [{ ...played('new', 1), purpose: 'evaluation' as const }, 'Evaluation after optimizer step 1'],
  [{ ...played('new', 0), purpose: 'evaluation' as const }, 'Evaluation before training'],
])('%o is called %s', (opened, title) => {
  const shown = dashboardAfter(snapshot('new', [0, 1]), {
    type: 'appended',
    run: 'new',
    points: [{ ...point(2), superseded: true }],
  });
  expect(openedTitle(withStepOpened(shown, opened))).toBe(title);
});
