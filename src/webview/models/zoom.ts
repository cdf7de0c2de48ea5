/** The optimizer steps that the charts show, first and last; null shows all. */
export type Zoom = readonly [number, number] | null;

/**
 * The zoom after a step in or out around a centre, within the steps that there are.
 * @param factor below 1 shows fewer steps, above 1 more
 */
export function zoomedBy(zoom: Zoom, steps: readonly number[], centre: number, factor: number): Zoom {
  const [first = 0, last = 0] = [steps[0], steps.at(-1)];
  const [from, to] = zoom ?? [first, last];
  const width = (to - from) * factor;
  if (width >= last - first) return null;
  const least = Math.max(width, 1);
  const part = to === from ? 0.5 : (centre - from) / (to - from);
  const start = Math.min(Math.max(first, centre - part * least), last - least);
  return [start, start + least];
}

/** A zoom that a person drew; too narrow a one, or one outside of the steps, changes nothing. */
export function zoomedTo(zoom: Zoom, steps: readonly number[], from: number, to: number): Zoom {
  const [first = 0, last = 0] = [steps[0], steps.at(-1)];
  const [low, high] = [Math.max(first, Math.min(from, to)), Math.min(last, Math.max(from, to))];
  return high - low < 1 ? zoom : [low, high];
}
