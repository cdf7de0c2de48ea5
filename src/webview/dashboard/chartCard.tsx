import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CurveLook } from '../charts/curveLook.ts';
import { curveLook } from '../charts/curveLook.ts';
import type { Palette } from '../charts/theme.ts';
import type { PlayedStep } from '../messages/protocol.ts';
import { type ChartSummary, readoutOf } from '../models/charts.ts';
import type { Zoom } from '../models/zoom.ts';
import { Button } from '../parts/controls.ts';
import { chartKeys } from './chartKeys.ts';
import { useChart } from './useChart.ts';

export type ChartCardProps = {
  readonly chart: ChartSummary;
  readonly palette: Palette;
  /** CSS pixels. */
  readonly height: number;
  readonly isLog: boolean;
  readonly zoom: Zoom;
  readonly onZoom: (zoom: Zoom) => void;
  /** The step whose rollouts are listed. */
  readonly opened: PlayedStep | null;
  /** Makes the points of this chart open the rollouts behind them. */
  readonly onOpen?: (played: PlayedStep) => void;
  /** Saves the chart as a picture. */
  readonly onPicture: (name: string, content: string) => void;
};

/** A chart: its name, its newest values or those under the pointer, and its curves. */
export function ChartCard(props: ChartCardProps): JSX.Element {
  const { chart, palette, opened, onOpen, onPicture } = props;
  const { kind, steps, curves, hasLegend } = chart;
  const [hovered, setHovered] = useState<number | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const marked = cursor ?? openedAt(chart, opened);
  // A range that is a share has no use for powers of ten.
  const isLog = props.isLog && kind.most === null;
  const looks = looksOf(chart);
  const { canvas, picture } = useChart({ ...props, isLog, looks, marked, onHover: setHovered });
  const readout = hovered ?? cursor;
  const [only] = curves;
  return (
    <section class="card chart-card" aria-label={kind.label}>
      <div class="card-title">
        <h2 title={kind.about}>{kind.label}</h2>
        <span class="readout">
          {readout !== null && steps[readout] !== undefined && (
            <span class="muted">optimizer step {steps[readout]} </span>
          )}
          {!hasLegend && only && (readout === null ? only.latest : readoutOf(only, readout))}
        </span>
        {steps.length > 0 && (
          <Button
            quiet
            label={`Save ${kind.label} as PNG`}
            onPress={() => onPicture(kind.label, picture(curves.map(({ label }) => label)))}
          >
            PNG
          </Button>
        )}
      </div>
      <div class="plot">
        <div ref={canvas} class={onOpen ? 'canvas opens' : 'canvas'} {...chartKeys({ ...props, marked, setCursor })} />
        {steps.length === 0 && <p class="no-data muted">Nothing measured yet</p>}
      </div>
      {hasLegend && <Legend chart={chart} looks={looks} palette={palette} readout={readout} />}
      {isLog && curves.some(({ values }) => values.some((value) => value !== null && value <= 0)) && (
        <p class="hint muted">A logarithmic scale shows only values above 0.</p>
      )}
    </section>
  );
}

/** Returns the index of the step whose rollouts are listed; null if this chart has no point for it. */
function openedAt({ steps, curves, measured }: ChartSummary, opened: PlayedStep | null): number | null {
  if (!curves.some(({ run, purpose }) => run === opened?.run && purpose === opened.purpose)) return null;
  return measured.find((index) => steps[index] === opened?.step) ?? null;
}

/** One curve alone has its chart's colour; several are distinguished by their place. */
function looksOf({ kind, curves }: ChartSummary): readonly CurveLook[] {
  return curves.length > 1
    ? curves.map((_, index) => curveLook(index))
    : curves.map(() => ({ color: kind.color, dash: [] }));
}

type LegendProps = {
  readonly chart: ChartSummary;
  readonly looks: readonly CurveLook[];
  readonly palette: Palette;
  readonly readout: number | null;
};

function Legend({ chart, looks, palette, readout }: LegendProps): JSX.Element {
  return (
    <ul class="legend">
      {chart.curves.map((curve, index) => (
        <li key={curve.label} title={curve.metric.about}>
          <svg width="26" height="8" aria-hidden="true">
            <line
              x1="1"
              x2="25"
              y1="4"
              y2="4"
              stroke={palette.series[looks[index]?.color ?? 'blue']}
              stroke-width="2"
              stroke-dasharray={looks[index]?.dash.join(' ')}
            />
          </svg>{' '}
          {curve.label} <span class="readout">{readout === null ? curve.latest : readoutOf(curve, readout)}</span>
        </li>
      ))}
    </ul>
  );
}
