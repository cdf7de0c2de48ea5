import type { SeriesColor } from './theme.ts';

/** The colour and dashes of a curve, for the chart and its legend. */
export type CurveLook = { readonly color: SeriesColor; readonly dash: readonly number[] };

const curveColors: readonly SeriesColor[] = ['blue', 'green', 'purple', 'red', 'orange', 'yellow'];
/** Curves are distinguished without their colour. */
const curveDashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

/** Colour and dashes of one of several curves. */
export function curveLook(index: number): CurveLook {
  return {
    color: curveColors[index % curveColors.length] ?? 'blue',
    dash: curveDashes[index % curveDashes.length] ?? [],
  };
}
