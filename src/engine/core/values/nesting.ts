/** Levels of lists and maps in one another. Real data has a few; thousands end every program that goes down with them. */
export const deepest = 200;

/** Whether a value is nested deeper than anything goes down with; one that holds itself is. */
export function isTooDeep(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const each of Object.values(value)) if (isTooDeep(each, levels - 1)) return true;
  return false;
}
