import { useCallback, useEffect, useRef } from 'preact/hooks';
import { type Chart, drawChart } from '../charts/chart.ts';
import type { CurveLook } from '../charts/curveLook.ts';
import type { Palette } from '../charts/theme.ts';
import type { PlayedStep } from '../messages/protocol.ts';
import { type ChartSummary, playedAt } from '../models/charts.ts';
import { formatMetric, metricNamed } from '../models/metrics.ts';
import { type Zoom, zoomedTo } from '../models/zoom.ts';

export type UseChart = {
  readonly chart: ChartSummary;
  readonly looks: readonly CurveLook[];
  readonly palette: Palette;
  readonly height: number;
  readonly isLog: boolean;
  readonly zoom: Zoom;
  readonly marked: number | null;
  readonly onZoom: (zoom: Zoom) => void;
  readonly onHover: (index: number | null) => void;
  readonly onOpen?: ((played: PlayedStep) => void) | undefined;
};

/** Draws the chart into the element of the returned ref, and again when the theme or its curves change. */
export function useChart(props: UseChart) {
  const { chart, looks, palette, height, isLog, zoom, marked, onHover } = props;
  const parent = useRef<HTMLDivElement>(null);
  const drawn = useRef<Chart | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const { kind } = chart;
  const shape = JSON.stringify(looks);
  useEffect(() => {
    if (!parent.current) return;
    const pick = (index: number, curve: number): void => {
      const played = playedAt(latest.current.chart, index, curve);
      if (played) latest.current.onOpen?.(played);
    };
    const [first = ''] = kind.metrics;
    const format = (value: number): string => (isLog ? String(value) : formatMetric(metricNamed(first), value));
    const onZoom = (from: number, to: number): void => {
      const { zoom: before, chart: now, onZoom: say } = latest.current;
      say(zoomedTo(before, now.steps, from, to));
    };
    const events = { onHover, onPick: pick, onZoom };
    drawn.current = drawChart(
      parent.current,
      { looks: latest.current.looks, palette, height, range: [kind.least, kind.most], isLog, format, ...events },
      latest.current.chart,
    );
    return () => drawn.current?.destroy();
  }, [kind, palette, height, isLog, shape, onHover]);
  useEffect(() => drawn.current?.update(chart), [chart]);
  // A chart that was drawn again has lost its mark and its zoom.
  useEffect(() => drawn.current?.zoom(zoom), [zoom, kind, palette, height, isLog, shape]);
  useEffect(() => drawn.current?.mark(marked), [marked, zoom, kind, palette, height, isLog, shape]);
  const picture = useCallback(
    (names: readonly string[]): string => drawn.current?.picture(latest.current.chart.kind.label, names) ?? '',
    [],
  );
  return { canvas: parent, picture };
}
