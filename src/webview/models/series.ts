import type { Point } from '../messages/protocol.ts';

/** The measured points of a run, by ascending optimizer step, one a step. */
export type Series = readonly Point[];

/**
 * The series with new points in it. A point of a step that is already there replaces it: a resumed run
 * measures steps again. Appending in order costs the new points and one copy.
 */
export function withPoints(series: Series, added: readonly Point[]): Series {
  const last = series.at(-1)?.step ?? Number.NEGATIVE_INFINITY;
  const inOrder = added.every((point, index) => point.step > (index === 0 ? last : (added[index - 1]?.step ?? last)));
  if (inOrder) return [...series, ...added];
  const byStep = new Map(series.map((point) => [point.step, point]));
  for (const point of added) byStep.set(point.step, point);
  return [...byStep.values()].sort((a, b) => a.step - b.step);
}

/** The points that count: those that are not superseded. */
export function counted(series: Series): Series {
  return series.filter(({ superseded }) => !superseded);
}

/** Returns the values of one metric, aligned with the series; null where it was not measured. */
export function valuesOf(series: Series, metric: string): readonly (number | null)[] {
  return series.map(({ metrics }) => metrics[metric] ?? null);
}

/**
 * Exponential moving average over about `window` measured values, without the pull towards zero at the start
 * (the correction of Adam, arXiv 1412.6980). It looks backwards only, so that a new point never redraws old ones.
 * A window of 1 or less changes nothing; gaps stay gaps.
 */
export function smoothed(values: readonly (number | null)[], window: number): readonly (number | null)[] {
  if (window <= 1) return values;
  const keep = 1 - 2 / (window + 1);
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = keep * sum + (1 - keep) * value;
    weight = keep * weight + (1 - keep);
    return sum / weight;
  });
}
