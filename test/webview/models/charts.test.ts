import { describe, expect, it } from 'vitest';
import type { Alarm, Run } from '../../../src/webview/messages/protocol.ts';
import { type ChartSummary, chartsOf, playedAt, readoutOf } from '../../../src/webview/models/charts.ts';
import { point } from '../points.ts';

const run = (kind: Run['kind']): Run => ({ id: 'r1', kind, model: null, domain: null, plannedSteps: null });
const labels = (charts: readonly ChartSummary[]) => charts.map(({ kind }) => kind.label);
const curvesOf = (charts: readonly ChartSummary[], label: string) =>
  charts.find(({ kind }) => kind.label === label)?.curves.map((curve) => [curve.label, ...curve.values]);

describe('chartsOf', () => {
  it('shows the four curves of GRPO from the beginning', () => {
    expect(labels(chartsOf(run('grpo'), [], 1))).toEqual(['Reward', 'Loss', 'KL', 'Turns']);
  });

  it('shows of SFT what it measures', () => {
    expect(labels(chartsOf(run('sft'), [], 1))).toEqual(['Loss']);
    expect(labels(chartsOf(run('sft'), [point(1, { loss: 1, kl: 0.1 })], 1))).toEqual(['Loss', 'KL']);
  });

  it('describes a curve in words', () => {
    const series = [point(1, { reward: 0.25 }), point(2), point(4, { reward: 0.5 })];
    const [reward, loss] = chartsOf(run('grpo'), series, 1);
    expect(reward).toMatchObject({ steps: [1, 2, 4], curves: [{ values: [0.25, null, 0.5], latest: '0.500' }] });
    expect(reward?.description).toBe('Reward: 2 points, from 0.250 to 0.500, now 0.500');
    expect(loss?.description).toBe('Loss: nothing measured yet');
  });

  it('keeps what is superseded apart, and out of the newest value', () => {
    const series = [point(1, { reward: 0.25 }), { ...point(2, { reward: 1 }), superseded: true }];
    const [reward] = chartsOf(run('grpo'), series, 1);
    const [curve] = reward?.curves ?? [];
    expect(curve).toMatchObject({ values: [0.25, null], smooth: [0.25, null], superseded: [null, 1], latest: '0.250' });
    expect(reward?.description).toBe('Reward: 1 point, from 0.250 to 0.250, now 0.250, 1 more superseded');
    expect(curve && [0, 1].map((index) => readoutOf(curve, index))).toEqual(['0.250', '1.000, superseded']);
  });

  it('draws together what is read together, and only what was measured of it', () => {
    const charts = chartsOf(run('grpo'), [point(1, { all_wrong: 0.5, 'calls/find': 2, 'calls/think': 1 })], 1);
    expect(labels(charts)).toEqual(['Reward', 'Loss', 'KL', 'Turns', 'All correct and all wrong', 'Tool calls']);
    expect(curvesOf(charts, 'All correct and all wrong')).toEqual([['All wrong', 0.5]]);
    expect(curvesOf(charts, 'Tool calls')).toEqual([
      ['Calls of find', 2],
      ['Calls of think', 1],
    ]);
  });

  it('draws evaluations of all domains and of each', () => {
    const metrics = { 'evaluate/reward': 0.5, 'evaluate/desk/completion': 0.75, 'evaluate/turns': 4 };
    expect(curvesOf(chartsOf(run('grpo'), [point(1), point(2, metrics)], 1), 'Test split')).toEqual([
      ['Evaluated: Reward', null, 0.5],
      ['Evaluated, desk: Completion', null, 0.75],
    ]);
  });

  it('lays runs over each other by their optimizer steps', () => {
    const overlays = [{ run: 'old', series: [point(2, { reward: 0.1 }), point(3, { reward: 0.2 })] }];
    const [reward] = chartsOf(run('grpo'), [point(1, { reward: 0.5 }), point(2, { reward: 1 })], 1, overlays);
    expect(reward?.steps).toEqual([1, 2, 3]);
    expect(reward?.curves.map((curve) => [curve.label, ...curve.values])).toEqual([
      ['r1', 0.5, 1, null],
      ['old', null, 0.1, 0.2],
    ]);
  });

  it('a point leads to what was played for it, in the run that it is of', () => {
    const overlays = [{ run: 'old', series: [point(2, { reward: 0.1 }), point(3, { reward: 0.2 })] }];
    const series = [point(1, { reward: 0.5 }), point(2, { reward: 1, 'evaluate/reward': 0.5 })];
    const charts = chartsOf(run('grpo'), series, 1, overlays);
    const [reward, tested] = ['Reward', 'Test split'].map((label) => charts.find(({ kind }) => kind.label === label));
    if (!reward || !tested) throw new Error('a chart is missing');
    expect([0, 1, 2].map((index) => playedAt(reward, index)?.run)).toEqual(['r1', 'r1', 'old']);
    expect(playedAt(reward, 1, 1)).toEqual({ run: 'old', step: 2, purpose: 'training' });
    expect(tested.measured).toEqual([1]);
    expect(playedAt(tested, 1)).toEqual({ run: 'r1', step: 2, purpose: 'evaluation' });
    expect([playedAt(tested, 0), playedAt(tested, 1, 5), playedAt(tested, 9)]).toEqual([null, null, null]);
  });

  it('marks an alarm on the charts whose numbers raised it', () => {
    const alarm: Alarm = {
      name: 'kl-explosion',
      step: 2,
      message: 'KL is 3',
      evidence: { kl: 3, limit: 0.5 },
      recordings: [],
      advice: '',
      pauses: false,
    };
    const charts = chartsOf(run('grpo'), [point(1, { kl: 0 }), point(2, { kl: 3 })], 1, [], [alarm]);
    expect(charts.filter(({ alarms }) => alarms.length > 0).map(({ kind }) => kind.label)).toEqual(['KL']);
    expect(charts[2]?.description).toMatch(/; alarms at optimizer step 2$/);
  });
});
