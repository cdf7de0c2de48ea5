import { describe, expect, it, test } from 'vitest';
import {
  chartKinds,
  drawnMetrics,
  formatMetric,
  measuredMetrics,
  metricNamed,
} from '../../../src/webview/models/metrics.ts';

describe('formatMetric', () => {
  it.each([
    ['reward', 0.5, '0.500'],
    ['reward', null, '–'],
    ['turns', 6.25, '6.3'],
    ['loss', 0.12345, '0.1235'],
    ['loss', 0.00001234, '1.23e-5'],
    ['loss', -12345.6, '-12346'],
    ['failed', 3, '3'],
    ['evaluate/desk/reward', 0.5, '0.500'],
    ['something_new', 1.5, '1.500'],
  ])('%s %s is %s', (name, value, text) => {
    expect(formatMetric(metricNamed(name), value)).toBe(text);
  });
});

describe('measuredMetrics', () => {
  it('names known metrics first and in their order, then the rest by name', () => {
    const names = measuredMetrics(new Set(['zeta', 'turns', 'reward', 'alpha_beta'])).map(({ label }) => label);
    expect(names).toEqual(['Reward', 'Turns', 'alpha beta', 'zeta']);
  });
});

test.each([
  ['simulator_failed', 'Simulator failed'],
  ['calls/find_parcel', 'Calls of find_parcel'],
  ['domain/desk/all_wrong', 'desk: All wrong'],
  ['evaluate/turns', 'Evaluated: Turns'],
  ['evaluate/calls/find', 'Evaluated: Calls of find'],
  ['evaluate/help-line/reward', 'Evaluated, help-line: Reward'],
  ['evaluate/help-line/boredom', 'evaluate/help-line/boredom'],
])('%s is called %s', (name, label) => {
  expect(metricNamed(name)).toMatchObject({ name, label });
});

test('every chart draws metrics of the table, and says what they are without marks', () => {
  for (const kind of chartKinds) {
    expect(drawnMetrics(kind, new Set(kind.metrics)).map(({ runs }) => runs.length)).not.toContain(0);
    expect(kind.about).toMatch(/^[^`]+\.$/);
  }
});
