import type { HTMLAttributes } from 'preact';
import type { PlayedStep } from '../messages/protocol.ts';
import { type ChartSummary, playedAt, readoutOf } from '../models/charts.ts';
import { type Zoom, zoomedBy } from '../models/zoom.ts';

export type ChartKeys = {
  readonly chart: ChartSummary;
  readonly zoom: Zoom;
  readonly onZoom: (zoom: Zoom) => void;
  readonly marked: number | null;
  readonly setCursor: (index: number | null) => void;
  readonly onOpen?: ((played: PlayedStep) => void) | undefined;
};

/** A chart with points is a slider over them, with keys that zoom; an empty one is an image with a description. */
export function chartKeys({
  chart,
  zoom,
  onZoom,
  marked,
  setCursor,
  onOpen,
}: ChartKeys): HTMLAttributes<HTMLDivElement> {
  const { steps, curves, measured, description } = chart;
  const newest = measured.at(-1);
  if (newest === undefined) return { role: 'img', 'aria-label': description };
  const at = marked ?? newest;
  const step = steps[at] ?? 0;
  const values = curves.map((curve) => `${curve.label} ${readoutOf(curve, at)}`);
  const played = playedAt(chart, at);
  const opens = onOpen ? ', Enter lists the rollouts of a step' : '';
  return {
    role: 'slider',
    tabIndex: 0,
    'aria-label': `${description}. Arrow keys move between optimizer steps${opens}; + and - zoom, 0 shows all`,
    'aria-valuemin': steps[measured[0] ?? 0] ?? 0,
    'aria-valuemax': steps[newest] ?? 0,
    'aria-valuenow': step,
    'aria-valuetext': `Optimizer step ${step}, ${values.join(', ')}`,
    onFocus: ({ currentTarget }: FocusEvent) => {
      if ((currentTarget as HTMLElement).matches(':focus-visible')) setCursor(at);
    },
    onBlur: () => setCursor(null),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const next = moved(event.key, measured.indexOf(at), measured.length);
      const factor = factors[event.key];
      if (next !== null) setCursor(measured[next] ?? newest);
      else if (factor !== undefined) onZoom(zoomedBy(zoom, steps, step, factor));
      else if (event.key === '0' || (event.key === 'Escape' && zoom !== null)) onZoom(null);
      else if (onOpen && played && (event.key === 'Enter' || event.key === ' ')) onOpen(played);
      else return;
      event.preventDefault();
    },
  };
}

const factors: Readonly<Record<string, number>> = { '+': 0.5, '=': 0.5, '-': 2 };

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
