import { describe, expect, it } from 'vitest';
import { formatMetric, measuredMetrics } from '../../../src/webview/models/metrics.ts';

const named = (name: string) => {
  const [metric] = measuredMetrics(new Set([name]));
  if (!metric) throw new Error(`no metric ${name}`);
  return metric;
};

describe('formatMetric', () => {
  it.each([
    ['reward', 0.5, '0.500'],
    ['reward', null, '–'],
    ['turns', 6.25, '6.3'],
    ['loss', 0.12345, '0.1235'],
    ['loss', 0.00001234, '1.23e-5'],
    ['loss', -12345.6, '-12346'],
    ['failed', 3, '3'],
    ['something_new', 1.5, '1.500'],
  ])('%s %s is %s', (name, value, text) => {
    expect(formatMetric(named(name), value)).toBe(text);
  });
});

describe('measuredMetrics', () => {
  it('names known metrics first and in their order, then the rest by name', () => {
    const names = measuredMetrics(new Set(['zeta', 'turns', 'reward', 'alpha_beta'])).map(({ label }) => label);
    expect(names).toEqual(['Reward', 'Turns', 'alpha beta', 'zeta']);
  });
});
