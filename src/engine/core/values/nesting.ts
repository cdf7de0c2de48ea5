/** Levels of lists and objects in one another. Real data has a few. With thousands, a function that recurses exhausts the stack. */
export const deepest = 200;

/** Returns whether a value has more levels of lists and objects than a number. It goes down no further than that. */
export function isTooDeep(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const each of Object.values(value)) if (isTooDeep(each, levels - 1)) return true;
  return false;
}
