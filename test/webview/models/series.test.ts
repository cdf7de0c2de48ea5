import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { smoothed, valuesOf, withPoints } from '../../../src/webview/models/series.ts';
import { point } from '../points.ts';

const stepsOf = (series: readonly { readonly step: number }[]) => series.map(({ step }) => step);

describe('withPoints', () => {
  it('appends what comes in order', () => {
    expect(stepsOf(withPoints([point(1)], [point(2), point(5)]))).toEqual([1, 2, 5]);
  });

  it('replaces a step that was measured again', () => {
    const series = withPoints([point(1, { loss: 1 }), point(2, { loss: 2 })], [point(2, { loss: 9 })]);
    expect(valuesOf(series, 'loss')).toEqual([1, 9]);
  });

  it('keeps one point a step in ascending order, however the points arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(20))), (batches) => {
        const series = batches.reduce<ReturnType<typeof withPoints>>(
          (all, batch) =>
            withPoints(
              all,
              batch.map((step) => point(step)),
            ),
          [],
        );
        expect(stepsOf(series)).toEqual([...new Set(batches.flat())].sort((a, b) => a - b));
      }),
    );
  });
});

describe('valuesOf', () => {
  it('has a gap where nothing was measured', () => {
    expect(valuesOf([point(1, { kl: 0 }), point(2), point(3, { kl: 2 })], 'kl')).toEqual([0, null, 2]);
  });
});

describe('smoothed', () => {
  it('starts at the first value and follows a step towards the new level', () => {
    const values = smoothed([1, 1, 0, 0], 3);
    expect(values.map((value) => Number(value?.toFixed(4)))).toEqual([1, 1, 0.4286, 0.2]);
  });

  it('keeps gaps, and changes nothing for a window of 1', () => {
    expect(smoothed([1, null, 1], 5)).toEqual([1, null, 1]);
    const values = [3, null, 1];
    expect(smoothed(values, 1)).toBe(values);
  });

  it('stays between the least and the greatest value', () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.integer({ min: 2, max: 50 }), (raw, window) => {
        const slack = 1e-6 * Math.max(1, ...raw.map(Math.abs));
        for (const value of smoothed(raw, window)) {
          expect(value).toBeGreaterThanOrEqual(Math.min(...raw) - slack);
          expect(value).toBeLessThanOrEqual(Math.max(...raw) + slack);
        }
      }),
    );
  });

  it('never redraws old points when new ones come', () => {
    const before = smoothed([5, 1, 4], 4);
    expect(smoothed([5, 1, 4, 99], 4).slice(0, 3)).toEqual(before);
  });
});
