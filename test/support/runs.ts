/** How often a property is tried: `REHEARSAL_RUNS` times as often in the full suite. */
export function runs(usual: number): number {
  return Math.ceil(usual * Number(process.env['REHEARSAL_RUNS'] ?? 1));
}
