import type { HTMLAttributes, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Chart, drawChart } from '../chart.ts';
import { formatMetric } from '../models/metrics.ts';
import type { ChartSummary } from '../models/summary.ts';
import type { Palette } from '../theme.ts';

export type ChartCardProps = {
  readonly chart: ChartSummary;
  readonly palette: Palette;
  /** CSS pixels. */
  readonly height: number;
  /** The optimizer step whose rollouts are listed. */
  readonly opened: number | null;
  /** Makes the points of this chart open their optimizer step. */
  readonly onOpen?: (step: number) => void;
};

/** One metric: its name, its newest value or the one under the pointer, and its curve. */
export function ChartCard({ chart, palette, height, opened, onOpen }: ChartCardProps): JSX.Element {
  const { metric, steps, values } = chart;
  const [hovered, setHovered] = useState<number | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const index = cursor ?? (opened === null ? null : steps.indexOf(opened));
  const marked = index === null || index < 0 ? null : index;
  const canvas = useChart({ chart, palette, height, marked, onHover: setHovered, onOpen });
  const readout = hovered ?? cursor;
  return (
    <section class="card chart-card" aria-label={metric.label}>
      <div class="card-title">
        <h2 title={metric.meaning}>{metric.label}</h2>
        <span class="readout">
          {readout === null || steps[readout] === undefined ? (
            chart.latest
          ) : (
            <>
              <span class="muted">optimizer step {steps[readout]}</span> {formatMetric(metric, values[readout])}
            </>
          )}
        </span>
      </div>
      <div class="plot">
        <div
          ref={canvas}
          class={onOpen ? 'canvas opens' : 'canvas'}
          {...accessibility(chart, marked, setCursor, onOpen)}
        />
        {steps.length === 0 && <p class="no-data muted">Nothing measured yet</p>}
      </div>
      {onOpen && (
        <p class="hint muted">
          Select a point, or use the arrow keys and Enter, to list that optimizer step’s rollouts.
        </p>
      )}
    </section>
  );
}

type UseChart = Omit<ChartCardProps, 'opened' | 'onOpen'> & {
  readonly marked: number | null;
  readonly onHover: (index: number | null) => void;
  readonly onOpen: ((step: number) => void) | undefined;
};

/** Draws the chart into the element of the returned ref, and again when the theme changes. */
function useChart({ chart, palette, height, marked, onHover, onOpen }: UseChart) {
  const parent = useRef<HTMLDivElement>(null);
  const drawn = useRef<Chart | null>(null);
  const latest = useRef({ chart, onOpen });
  latest.current = { chart, onOpen };
  const { metric } = chart;
  useEffect(() => {
    if (!parent.current) return;
    const pick = (index: number): void => {
      const step = latest.current.chart.steps[index];
      if (step !== undefined) latest.current.onOpen?.(step);
    };
    const format = (value: number): string => formatMetric(metric, value);
    const options = { color: metric.color, palette, height, range: metric.range, format, onHover, onPick: pick };
    drawn.current = drawChart(parent.current, options, latest.current.chart);
    return () => drawn.current?.destroy();
  }, [metric, palette, height, onHover]);
  useEffect(() => drawn.current?.update(chart), [chart]);
  // A chart that was drawn anew has lost its mark.
  useEffect(() => drawn.current?.mark(marked), [marked, metric, palette, height]);
  return parent;
}

/** An interactive chart is a slider over its points; any other is an image with a description. */
function accessibility(
  { metric, steps, values, description }: ChartSummary,
  marked: number | null,
  setCursor: (index: number | null) => void,
  onOpen: ChartCardProps['onOpen'],
): HTMLAttributes<HTMLDivElement> {
  if (!onOpen || steps.length === 0) return { role: 'img', 'aria-label': description };
  const at = marked ?? steps.length - 1;
  const step = steps[at] ?? 0;
  return {
    role: 'slider',
    tabIndex: 0,
    'aria-label': `${description}. Arrow keys move between optimizer steps, Enter lists the rollouts of one`,
    'aria-valuemin': steps[0] ?? 0,
    'aria-valuemax': steps.at(-1) ?? 0,
    'aria-valuenow': step,
    'aria-valuetext': `Optimizer step ${step}, ${metric.label} ${formatMetric(metric, values[at])}`,
    onFocus: ({ currentTarget }: FocusEvent) => {
      if ((currentTarget as HTMLElement).matches(':focus-visible')) setCursor(at);
    },
    onBlur: () => setCursor(null),
    onKeyDown: (event: KeyboardEvent) => {
      const next = moved(event.key, at, steps.length);
      if (next !== null) setCursor(next);
      else if (event.key === 'Enter' || event.key === ' ') onOpen(step);
      else return;
      event.preventDefault();
    },
  };
}

function moved(key: string, index: number, length: number): number | null {
  const last = length - 1;
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return Math.max(0, index - 1);
    case 'ArrowRight':
    case 'ArrowUp':
      return Math.min(last, index + 1);
    case 'PageDown':
      return Math.max(0, index - 10);
    case 'PageUp':
      return Math.min(last, index + 10);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}
