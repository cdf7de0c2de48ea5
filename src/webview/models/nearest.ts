/** A point of a drawn curve, in pixels. */
export type PlacedPoint = { readonly curve: number; readonly index: number; readonly x: number; readonly y: number };

/** The point that a person means: the nearest from left to right, and of those above each other the nearest one. */
export function nearestPoint(points: readonly PlacedPoint[], x: number, y: number): PlacedPoint | null {
  const away = (point: PlacedPoint): readonly [number, number] => [Math.abs(point.x - x), Math.abs(point.y - y)];
  return points.reduce<PlacedPoint | null>((best, point) => {
    if (best === null) return point;
    const [[across, down], [leastAcross, leastDown]] = [away(point), away(best)];
    return across < leastAcross || (across === leastAcross && down < leastDown) ? point : best;
  }, null);
}
