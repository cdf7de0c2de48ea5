/** The number of rollouts in a spot check if the setting is not valid. */
export const usualSampleSize = 50;

/**
 * Returns how many rollouts a spot check shows, by the value of its setting, in which a person may have written
 * anything.
 */
export function sampleSizeOf(setting: unknown): number {
  return Number.isInteger(setting) && Number(setting) >= 1 ? Number(setting) : usualSampleSize;
}
