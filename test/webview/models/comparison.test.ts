import { describe, expect, it, test } from 'vitest';
import type { RunsCompared } from '../../../src/webview/messages/compared.ts';
import type { ToWebview } from '../../../src/webview/messages/protocol.ts';
import {
  callRows,
  comparisonAfter,
  emptyComparison,
  letterOf,
  metricRows,
  nameOf,
  passCurveOf,
  rowsPerPage,
  runFacts,
  taskPage,
  taskRows,
  trialPairs,
  verdictText,
} from '../../../src/webview/models/comparison.ts';
import { metrics, twoRecordings, twoRuns } from '../compared.ts';

describe('the page', () => {
  const received = (...messages: readonly ToWebview[]) => messages.reduce(comparisonAfter, emptyComparison);
  const comparing: ToWebview = { type: 'comparing', what: 'runs', sources: ['/a', '/b'], note: '2/4' };

  it('says how far it is, then shows what was compared', () => {
    expect(received(comparing)).toMatchObject({ sources: ['/a', '/b'], busy: { what: 'runs', note: '2/4' } });
    expect(received(comparing, { type: 'runsCompared', comparison: twoRuns })).toMatchObject({
      busy: null,
      runs: twoRuns,
    });
  });

  it('keeps the runs while two recordings are set side by side, and when that fails', () => {
    const state = received(
      { type: 'runsCompared', comparison: twoRuns },
      { type: 'recordingsCompared', comparison: twoRecordings },
      { type: 'comparisonFailed', what: 'recordings', problem: 'is not a recording' },
    );
    expect(state).toMatchObject({
      runs: twoRuns,
      recordings: twoRecordings,
      problem: { what: 'recordings', text: 'is not a recording' },
    });
    expect(comparisonAfter(state, comparing).problem).toBeNull();
  });

  it('is left as it is by messages to other views', () => {
    expect(received({ type: 'runs', runs: [] })).toBe(emptyComparison);
  });
});

test('runs are called by letters', () => {
  expect([0, 25, 26, 701, 702].map(letterOf)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA']);
});

test.each([
  ['/runs/gold', 'gold'],
  ['C:\\runs\\gold', 'gold'],
  ['gold', 'gold'],
])('the name of %s', (path, name) => expect(nameOf(path)).toBe(name));

test('the facts of a run', () => {
  const [run] = twoRuns.runs;
  if (!run) throw new Error('no run');
  expect(runFacts({ ...run, unfinished: 2 }).join(' · ')).toBe(
    'order-desk · agent: gold · user: agenda · seed 1 · scored for evaluation · 4 rollouts of 2 tasks · 2 unfinished',
  );
});

test('metrics with the intervals that the engine computed; what says nothing of any run is left out', () => {
  const rows = Object.fromEntries(metricRows(twoRuns).map(({ label, cells }) => [label, cells]));
  expect(rows).toMatchObject({
    Reward: ['1.000 (0.34 to 1.00)', '0.500 (0.09 to 0.91)'],
    'pass^1': ['1.000 (0.34 to 1.00)', '0.500 (0.09 to 0.91)'],
    'pass^2': ['1.000 (0.34 to 1.00)', 'too few trials'],
    Tokens: ['none', '1,234'],
    'Who failed': ['none', 'agent 2'],
  });
  expect(Object.keys(rows).slice(0, 3)).toEqual(['Reward', 'pass^1', 'pass^2']);
  expect(rows).not.toHaveProperty('Cost');
  expect(rows).not.toHaveProperty('Handed over');
});

test('of many k the table has the powers of two and the last, the chart all', () => {
  const passHat = Array.from({ length: 20 }, (_, at) => ({ k: at + 1, tasks: 1, value: 1, low: 0, high: 1 }));
  const [run] = twoRuns.runs;
  const runs: RunsCompared = { ...twoRuns, runs: run ? [{ ...run, metrics: metrics({ passHat }) }] : [] };
  const labels = metricRows(runs).flatMap(({ label }) => /^pass\^(\d+)$/.exec(label)?.[1] ?? []);
  expect(labels).toEqual(['1', '2', '3', '4', '8', '16', '20']);
  expect(passCurveOf(runs).ks).toHaveLength(20);
});

test('the curves of pass^k, in words too', () => {
  const { ks, curves, description } = passCurveOf(twoRuns);
  expect(ks).toEqual([1, 2]);
  expect(curves[1]).toEqual({ name: 'B', values: [0.5, null], low: [0.09, null], high: [0.91, null] });
  expect(description).toBe('pass^k of the runs. A: pass^1 1.00, pass^2 1.00. B: pass^1 0.50');
});

test('the mix of tool calls, the most called first', () => {
  expect(callRows(twoRuns).map(({ label, cells }) => [label, ...cells])).toEqual([
    ['get_order', '8 · 100.0 %', '3 · 75.0 % · 1 failed'],
    ['cancel_order', '–', '1 · 25.0 %'],
  ]);
});

describe('the tasks', () => {
  it('are sorted with flips first: regressions, then fixes', () => {
    expect(taskRows(twoRuns, 1)).toEqual([
      { task: 'broke', kind: 'broke', cells: ['2 of 2', '1 of 2'], parting: 'trial 1, step 7 / end, agent' },
      { task: 'fixed', kind: 'fixed', cells: ['0 of 1', '1 of 1'], parting: '' },
      { task: 'stays', kind: 'same', cells: ['1 of 1', '1 of 1'], parting: '' },
      { task: 'alone', kind: 'onlyOne', cells: ['1 of 1', '–'], parting: '' },
    ]);
  });

  it('that changed between the runs, or that are not scored, are distinguished', () => {
    const [pair] = twoRuns.pairs;
    if (!pair) throw new Error('no pair');
    const tasks = twoRuns.tasks.map(({ task, trials }) => ({
      task,
      trials: task === 'fixed' ? trials.map((all) => all.map((each) => ({ ...each, reward: null }))) : trials,
    }));
    const pairs = [{ ...pair, tasks: pair.tasks.filter(({ task }) => task === 'stays'), changedTasks: ['broke'] }];
    expect(taskRows({ ...twoRuns, tasks, pairs }, 1).map(({ task, kind, cells }) => [task, kind, cells[0]])).toEqual([
      ['stays', 'same', '1 of 1'],
      ['broke', 'changed', '2 of 2'],
      ['fixed', 'notScored', 'not scored'],
      ['alone', 'onlyOne', '1 of 1'],
    ]);
  });

  it('are filtered and come a page at a time', () => {
    const rows = taskRows(twoRuns, 1);
    const names = (filter: Parameters<typeof taskPage>[1]) => taskPage(rows, filter, 0).rows.map(({ task }) => task);
    expect([names('flips'), names('same'), names('left')]).toEqual([['broke', 'fixed'], ['stays'], ['alone']]);
    const many = Array.from({ length: 2 * rowsPerPage + 1 }, (_, at) => ({
      task: String(at),
      kind: 'same' as const,
      cells: [],
      parting: '',
    }));
    expect(taskPage(many, 'all', 9)).toMatchObject({ page: 2, pages: 3, total: many.length });
    expect(taskPage(many, 'all', 9).rows).toHaveLength(1);
    expect(taskPage([], 'all', 3)).toEqual({ rows: [], page: 0, pages: 1, total: 0 });
  });

  it('open the trial first whose reward differs', () => {
    expect(trialPairs(twoRuns, 'broke', 1).map(({ trial, label }) => [trial, label])).toEqual([
      [1, 'Trial 1: reward 1 and reward 0'],
      [0, 'Trial 0: reward 1 and reward 1'],
    ]);
    expect(trialPairs(twoRuns, 'alone', 1)).toEqual([]);
  });
});

test('the conclusion is the engine’s own verdict', () => {
  expect(verdictText(twoRuns, 1)).toBe(
    'B against A: difference in mean reward +0.167 (95 % -0.500 to +1.000) over 3 tasks, better on 1, worse on 1. p = 1.0000: no difference is shown.',
  );
  const [pair] = twoRuns.pairs;
  const none = { ...twoRuns, pairs: pair ? [{ ...pair, tasks: [], verdict: 'nothing in common' as const }] : [] };
  expect(verdictText(none, 1)).toContain('no scored task in common');
  expect(verdictText({ ...twoRuns, pairs: [] }, 1)).toBe('');
});
