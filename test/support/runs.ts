/** Returns the number of runs of a property: `REHEARSAL_RUNS` times the usual number, which the full suite sets. */
export function runs(usual: number): number {
  return Math.ceil(usual * Number(process.env['REHEARSAL_RUNS'] ?? 1));
}
