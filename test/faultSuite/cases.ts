/** A case is a rollout of its own task. Its name is in everything that is sent for it. */
export const caseName = (at: number): string => `case-${String(at).padStart(6, '0')}`;

/** Returns the case that a text speaks of, or null. */
export function caseIn(text: string): number | null {
  const [, digits] = /case-(\d{6})/.exec(text) ?? [];
  return digits === undefined ? null : Number(digits);
}
