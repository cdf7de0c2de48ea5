import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { drawCurves } from '../charts/chart.ts';
import { curveLook } from '../charts/curveLook.ts';
import { usePalette } from '../charts/usePalette.ts';
import type { PassCurve } from '../models/comparison.ts';

const height = 190;

/** pass^k of each run over k, with its interval as a band. */
export function PassChart({
  curve,
  names,
}: {
  readonly curve: PassCurve;
  readonly names: readonly string[];
}): JSX.Element {
  const palette = usePalette();
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!parent.current) return;
    const chart = drawCurves(parent.current, { palette, height }, curve);
    return () => chart.destroy();
  }, [palette, curve]);
  return (
    <section class="card" aria-labelledby="pass-title">
      <h2 id="pass-title">pass^k</h2>
      <div ref={parent} role="img" aria-label={curve.description} />
      <ul class="legend">
        {curve.curves.map(({ name }, index) => (
          <li key={name}>
            <svg width="26" height="8" aria-hidden="true">
              <line
                x1="1"
                x2="25"
                y1="4"
                y2="4"
                stroke={palette.series[curveLook(index).color]}
                stroke-width="2"
                stroke-dasharray={curveLook(index).dash.join(' ')}
              />
            </svg>{' '}
            {name} <span class="muted">{names[index]}</span>
          </li>
        ))}
      </ul>
      <p class="muted">The chance that k trials of a task all succeed. Bands are 95 % intervals by task.</p>
    </section>
  );
}
