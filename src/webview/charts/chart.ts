import './browserLanguage.ts';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { nearestPoint, type PlacedPoint } from '../models/nearest.ts';
import { chartPicture } from './chartPicture.ts';
import { type CurveLook, curveLook } from './curveLook.ts';
import type { Palette } from './theme.ts';

/** The data of a chart: curves over optimizer steps, each as measured and smoothed. */
export type ChartData = {
  readonly steps: readonly number[];
  readonly curves: readonly {
    readonly values: readonly (number | null)[];
    /** Equal to `values` if nothing is smoothed. */
    readonly smooth: readonly (number | null)[];
    /** Measured values that do not count. */
    readonly superseded: readonly (number | null)[];
  }[];
  /** Steps at which an alarm was raised. */
  readonly alarms: readonly number[];
};

export type ChartOptions = {
  /** One for each curve. */
  readonly looks: readonly CurveLook[];
  readonly palette: Palette;
  readonly height: number;
  /** The smallest range that the y axis shows; null lets the data decide. */
  readonly range: readonly [number | null, number | null];
  /** Whether the y axis is logarithmic: values that are not above 0 are not drawn. */
  readonly isLog: boolean;
  readonly format: (value: number) => string;
  /** The pointer is over a point (its index), or over none. */
  readonly onHover: (index: number | null) => void;
  /** The pointer chose a point: its index, and its curve's. */
  readonly onPick?: (index: number, curve: number) => void;
  /** The pointer drew a part of the x axis. */
  readonly onZoom: (from: number, to: number) => void;
};

/** A drawn chart. It follows the width of its parent element. */
export type Chart = {
  /** Draws other data with as many curves. */
  readonly update: (data: ChartData) => void;
  /** Rings the points of this index; null rings none. */
  readonly mark: (index: number | null) => void;
  /** Shows the steps between these; null shows all. */
  readonly zoom: (steps: readonly [number, number] | null) => void;
  /** The chart with a title and the curves' names, as a PNG in base64. */
  readonly picture: (title: string, names: readonly string[]) => string;
  readonly destroy: () => void;
};

/** All charts of the page share the position of the pointer. */
const pointerGroup = 'rehearsal';

/** A shorter drag is a click. */
const shortestDrag = 6;

/** Draws a chart on a canvas inside `parent`. */
export function drawChart(parent: HTMLElement, options: ChartOptions, given: ChartData): Chart {
  let data = given;
  let marked: number | null = null;
  let shown: readonly [number, number] | null = null;
  let isDrawn = false;
  const width = (): number => Math.max(120, Math.floor(parent.clientWidth));
  const plot = new uPlot(
    {
      width: width(),
      height: options.height,
      padding: [10, 12, 0, 0],
      legend: { show: false },
      cursor: cursorOf(options),
      scales: {
        x: { time: false, range: (self, min, max) => (shown ? [...shown] : stepRange(self, min, max, 'x')) },
        y: options.isLog ? { distr: 3, range: logRange } : { range: valueRange(options.range) },
      },
      axes: axesOf(options),
      series: seriesOf(options),
      hooks: {
        drawClear: [(self) => drawAlarms(self, data.alarms, options.palette)],
        draw: [(self) => drawMark(self, marked, options.palette)],
        setCursor: [({ cursor }) => options.onHover(cursor.idx ?? null)],
        setSelect: [
          (self) => {
            const { left, width: drawn } = self.select;
            if (drawn < shortestDrag) return;
            isDrawn = true;
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            options.onZoom(self.posToVal(left, 'x'), self.posToVal(left + drawn, 'x'));
          },
        ],
      },
    },
    aligned(data, options.isLog),
    parent,
  );
  plot.over.addEventListener('mousedown', () => {
    isDrawn = false;
  });
  plot.over.addEventListener('click', ({ clientX, clientY }) => {
    const { left, top } = plot.over.getBoundingClientRect();
    const picked = isDrawn ? null : nearestPoint(placedPoints(plot), clientX - left, clientY - top);
    if (picked) options.onPick?.(picked.index, picked.curve);
  });
  const resized = new ResizeObserver(() => plot.setSize({ width: width(), height: options.height }));
  resized.observe(parent);
  return {
    update: (next) => {
      data = next;
      plot.setData(aligned(next, options.isLog));
    },
    mark: (index) => {
      marked = index;
      plot.redraw(false, false);
    },
    zoom: (steps) => {
      shown = steps;
      plot.setData(plot.data);
    },
    picture: (title, names) => chartPicture(plot.ctx.canvas, uPlot.pxRatio, title, names, options),
    destroy: () => {
      resized.disconnect();
      plot.destroy();
    },
  };
}

function aligned({ steps, curves }: ChartData, isLog: boolean): uPlot.AlignedData {
  const drawable = (values: readonly (number | null)[]) =>
    isLog ? values.map((value) => (value !== null && value > 0 ? value : null)) : [...values];
  return [
    [...steps],
    ...curves.flatMap(({ values, smooth, superseded }) => [values, smooth, superseded].map(drawable)),
  ];
}

/** Lines of the plot for each curve: as measured, smoothed, and superseded. */
const linesPerCurve = 3;

/** Every point that is shown of every curve, by its place on the plot. */
function placedPoints(plot: uPlot): readonly PlacedPoint[] {
  const [steps, ...lines] = plot.data;
  return lines.flatMap((values, line) =>
    line % linesPerCurve === 1
      ? []
      : [...values].flatMap((value, index): PlacedPoint[] => {
          if (value === null || value === undefined) return [];
          const [x, y] = [plot.valToPos(steps[index] ?? 0, 'x'), plot.valToPos(value, 'y')];
          if (x < -1 || x > plot.over.clientWidth + 1) return [];
          return [{ curve: Math.floor(line / linesPerCurve), index, x, y }];
        }),
  );
}

function seriesOf({ looks, palette }: ChartOptions): uPlot.Series[] {
  const lines = looks.flatMap(({ color, dash }): uPlot.Series[] => {
    const stroke = palette.series[color];
    return [
      {
        stroke: palette.highContrast ? stroke : faded(stroke, 0.45),
        width: 1,
        spanGaps: true,
        points: { show: showsPoints, size: 6, fill: stroke, stroke },
      },
      { stroke, width: 2, dash: [...dash], spanGaps: true, points: { show: false } },
      {
        stroke: palette.muted,
        width: 1,
        dash: [2, 4],
        spanGaps: true,
        points: { show: showsPoints, size: 6, fill: palette.background, stroke: palette.muted },
      },
    ];
  });
  return [{}, ...lines];
}

/** Single points are drawn while they can be distinguished; a line alone would hide a lone point. */
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
function tickLabels(given: readonly (number | null)[], format: (value: number) => string): string[] {
  // A logarithmic axis has lines without a label between its powers of ten.
  if (given.includes(null)) return given.map((tick) => (tick === null ? '' : format(tick)));
  const ticks = given.filter((tick) => tick !== null);
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
    // A drag zooms all charts, by the view. Of clicks the library would swallow those that come faster than it
    // follows the pointer.
    drag: { x: true, y: false, setScale: false, dist: shortestDrag, click: () => {} },
    sync: { key: pointerGroup, setSeries: false, filters: { pub: isMove, sub: isMove } },
    points: { size: 8, width: 2, fill: palette.background, stroke: palette.foreground, show: true },
  };
}

/** The pointer's place is every chart's; what is pressed is one chart's own. */
function isMove(type: string): boolean {
  return type === 'mousemove' || type === 'mouseleave';
}

/** Whole powers of ten around what is measured. */
const logRange: uPlot.Range.Function = (_self, min, max) => {
  if (min === null || max === null || !(min > 0)) return [0.1, 1];
  const [low, high] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  return [10 ** low, 10 ** (high === low ? high + 1 : high)];
};

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
  if (index === null || step === undefined) return;
  const { ctx } = self;
  ctx.save();
  ctx.lineWidth = 2 * uPlot.pxRatio;
  ctx.setLineDash([]);
  ctx.strokeStyle = palette.foreground;
  for (let series = 1; series < self.data.length; series += linesPerCurve) {
    const value = self.data[series]?.[index] ?? self.data[series + 2]?.[index];
    if (value === undefined || value === null) continue;
    ctx.beginPath();
    ctx.arc(self.valToPos(step, 'x', true), self.valToPos(value, 'y', true), 6 * uPlot.pxRatio, 0, 2 * Math.PI);
    ctx.stroke();
  }
  ctx.restore();
}

/** A dashed line from top to bottom with a triangle on it, so that it is not a matter of colour alone. */
function drawAlarms(self: uPlot, steps: readonly number[], palette: Palette): void {
  const { ctx, bbox } = self;
  const { min = null, max = null } = self.scales['x'] ?? {};
  if (min === null || max === null) return;
  const size = 5 * uPlot.pxRatio;
  ctx.save();
  ctx.strokeStyle = palette.alarm;
  ctx.fillStyle = palette.alarm;
  ctx.lineWidth = uPlot.pxRatio;
  for (const step of steps.filter((each) => each >= min && each <= max)) {
    const x = self.valToPos(step, 'x', true);
    ctx.setLineDash([4 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - size, bbox.top);
    ctx.lineTo(x + size, bbox.top);
    ctx.lineTo(x, bbox.top + 2 * size);
    ctx.fill();
  }
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
