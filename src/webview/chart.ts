import './language.ts';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Palette, SeriesColor } from './theme.ts';

/** What a chart draws: one metric over optimizer steps, as measured and smoothed. */
export type ChartData = {
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
  /** The same as `values` where nothing is smoothed. */
  readonly smooth: readonly (number | null)[];
};

export type ChartOptions = {
  readonly color: SeriesColor;
  readonly palette: Palette;
  readonly height: number;
  /** What the y axis shows at least; null lets the data decide. */
  readonly range: readonly [number | null, number | null];
  readonly format: (value: number) => string;
  /** The pointer is over a point (its index), or over none. */
  readonly onHover: (index: number | null) => void;
  /** The pointer chose a point. */
  readonly onPick?: (index: number) => void;
};

/** A drawn chart. It follows the width of its parent element. */
export type Chart = {
  readonly update: (data: ChartData) => void;
  /** Rings the point of this index; null rings none. */
  readonly mark: (index: number | null) => void;
  readonly destroy: () => void;
};

/** All charts of the page share the position of the pointer. */
const pointerGroup = 'rehearsal';

/** Draws a chart on a canvas inside `parent`. */
export function drawChart(parent: HTMLElement, options: ChartOptions, data: ChartData): Chart {
  let marked: number | null = null;
  const width = (): number => Math.max(120, Math.floor(parent.clientWidth));
  const plot = new uPlot(
    {
      width: width(),
      height: options.height,
      padding: [10, 12, 0, 0],
      legend: { show: false },
      cursor: cursorOf(options),
      scales: { x: { time: false, range: stepRange }, y: { range: valueRange(options.range) } },
      axes: axesOf(options),
      series: seriesOf(options),
      hooks: {
        draw: [(self) => drawMark(self, marked, options.palette)],
        setCursor: [({ cursor }) => options.onHover(cursor.idx ?? null)],
      },
    },
    aligned(data),
    parent,
  );
  plot.over.addEventListener('click', ({ clientX }) => {
    if (plot.data[0].length > 0) options.onPick?.(plot.posToIdx(clientX - plot.over.getBoundingClientRect().left));
  });
  const resized = new ResizeObserver(() => plot.setSize({ width: width(), height: options.height }));
  resized.observe(parent);
  return {
    update: (next) => plot.setData(aligned(next)),
    mark: (index) => {
      marked = index;
      plot.redraw(false, false);
    },
    destroy: () => {
      resized.disconnect();
      plot.destroy();
    },
  };
}

function aligned({ steps, values, smooth }: ChartData): uPlot.AlignedData {
  return [steps as number[], values as (number | null)[], smooth as (number | null)[]];
}

function seriesOf({ color, palette }: ChartOptions): uPlot.Series[] {
  const stroke = palette.series[color];
  return [
    {},
    {
      stroke: palette.highContrast ? stroke : faded(stroke, 0.45),
      width: 1,
      points: { show: showsPoints, size: 6, fill: stroke, stroke },
    },
    { stroke, width: 2, points: { show: false } },
  ];
}

/** Single points are drawn while they can be told apart; a line alone would hide a lone point. */
function showsPoints(self: uPlot, _series: number, first: number, last: number): boolean {
  return last - first < self.bbox.width / (uPlot.pxRatio * 10);
}

function axesOf({ palette, format }: Pick<ChartOptions, 'palette' | 'format'>): uPlot.Axis[] {
  const common: uPlot.Axis = {
    stroke: palette.muted,
    font: palette.font,
    grid: { stroke: palette.grid, width: 1 },
    ticks: { stroke: palette.grid, width: 1, size: 4 },
  };
  const wholeSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
  return [
    { ...common, size: 28, gap: 4, incrs: wholeSteps, values: (_self, ticks) => ticks.map(String) },
    { ...common, size: 52, gap: 4, values: (_self, ticks) => tickLabels(ticks, format) },
  ];
}

/** Ticks as text with as few decimals as tell them apart. */
function tickLabels(ticks: readonly number[], format: (value: number) => string): string[] {
  const [first, second] = ticks;
  if (first === undefined || second === undefined) return ticks.map(format);
  const distance = Math.abs(second - first);
  if (distance < 1e-4 || distance >= 1e5) return ticks.map((tick) => (tick === 0 ? '0' : tick.toExponential(0)));
  const isWhole = (decimals: number): boolean =>
    Math.abs(distance * 10 ** decimals - Math.round(distance * 10 ** decimals)) < 1e-6;
  const decimals = [0, 1, 2, 3, 4].find(isWhole) ?? 5;
  return ticks.map((tick) => tick.toFixed(decimals));
}

function cursorOf({ palette }: ChartOptions): uPlot.Cursor {
  return {
    y: false,
    // Nothing is dragged here; the library would swallow a click that comes faster than it follows the pointer.
    drag: { x: false, y: false, click: () => {} },
    sync: { key: pointerGroup, setSeries: false },
    points: { size: 8, width: 2, fill: palette.background, stroke: palette.foreground, show: true },
  };
}

const stepRange: uPlot.Range.Function = (_self, min, max) => {
  if (min === null || max === null || !Number.isFinite(min)) return [0, 1];
  return min === max ? [min - 1, max + 1] : [min, max];
};

function valueRange([low, high]: ChartOptions['range']): uPlot.Range.Function {
  return (_self, dataMin, dataMax) => {
    const measured = dataMin !== null && dataMax !== null && Number.isFinite(dataMin);
    const min = Math.min(measured ? dataMin : 0, low ?? Number.POSITIVE_INFINITY);
    const max = Math.max(measured ? dataMax : 1, high ?? Number.NEGATIVE_INFINITY);
    const margin = min === max ? Math.abs(max) * 0.1 || 1 : (max - min) * 0.06;
    return [min - margin, max + margin];
  };
}

function drawMark(self: uPlot, index: number | null, palette: Palette): void {
  const step = index === null ? undefined : self.data[0][index];
  const value = index === null ? undefined : (self.data[1]?.[index] ?? self.data[2]?.[index]);
  if (step === undefined || value === undefined || value === null) return;
  const { ctx } = self;
  ctx.save();
  ctx.beginPath();
  ctx.arc(self.valToPos(step, 'x', true), self.valToPos(value, 'y', true), 6 * uPlot.pxRatio, 0, 2 * Math.PI);
  ctx.lineWidth = 2 * uPlot.pxRatio;
  ctx.strokeStyle = palette.foreground;
  ctx.stroke();
  ctx.restore();
}

/** The same colour with an alpha channel; colours that are not #rrggbb stay as they are. */
function faded(color: string, alpha: number): string {
  const channels = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(color);
  if (!channels) return color;
  const [red, green, blue] = channels.slice(1).map((channel) => Number.parseInt(channel, 16));
  return `rgba(${red}, ${green}, ${blue}, ${alpha})`;
}

/** Several curves over whole numbers, each with the bounds of its interval. */
export type CurveData = {
  readonly ks: readonly number[];
  readonly curves: readonly {
    readonly values: readonly (number | null)[];
    readonly low: readonly (number | null)[];
    readonly high: readonly (number | null)[];
  }[];
};

const curveColors: readonly SeriesColor[] = ['blue', 'green', 'purple', 'red'];
/** Curves are told apart without their colour. */
const curveDashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

/** Colour and dashes of a curve, for the legend beside the chart. */
export function curveLook(index: number): { readonly color: SeriesColor; readonly dash: readonly number[] } {
  return {
    color: curveColors[index % curveColors.length] ?? 'blue',
    dash: curveDashes[index % curveDashes.length] ?? [],
  };
}

/** Draws shares from 0 to 1 on a canvas inside `parent`; it follows the width of its parent element. */
export function drawCurves(
  parent: HTMLElement,
  { palette, height }: Pick<ChartOptions, 'palette' | 'height'>,
  { ks, curves }: CurveData,
): { readonly destroy: () => void } {
  const width = (): number => Math.max(120, Math.floor(parent.clientWidth));
  const lines = curves.flatMap((_, index): uPlot.Series[] => {
    const { color, dash } = curveLook(index);
    const stroke = palette.series[color];
    const bound = { stroke: 'transparent', points: { show: false } };
    const points = { show: true, size: 7, fill: palette.background, stroke };
    return [bound, { stroke, width: 2, dash: [...dash], points }, bound];
  });
  const bands = curves.map((_, index): uPlot.Band => {
    const fill = palette.highContrast ? 'transparent' : faded(palette.series[curveLook(index).color], 0.13);
    return { series: [index * 3 + 3, index * 3 + 1], fill };
  });
  const data = curves.flatMap(({ values, low, high }) => [low, values, high].map((each) => [...each]));
  const plot = new uPlot(
    {
      width: width(),
      height,
      padding: [10, 16, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: stepRange }, y: { range: [0, 1.04] } },
      axes: axesOf({ palette, format: (value) => value.toFixed(1) }),
      series: [{}, ...lines],
      bands,
    },
    [[...ks], ...data] as uPlot.AlignedData,
    parent,
  );
  const resized = new ResizeObserver(() => plot.setSize({ width: width(), height }));
  resized.observe(parent);
  return {
    destroy: () => {
      resized.disconnect();
      plot.destroy();
    },
  };
}
