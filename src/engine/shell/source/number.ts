/**
 * Returns what a message says about a number that is not the one that is written.
 * @param isText whether a text of its digits is in its place
 */
export function unkept(written: string, value: number, isText = false): string {
  if (!Number.isFinite(value))
    return `The number ${written} is larger than the largest number that JSON readers support.`;
  if (isText) return `The number ${written} is so large that Rehearsal reads it as a text.`;
  const kept = String(BigInt(value));
  return kept === written
    ? `The number ${written} is so large that Rehearsal reads it as a text where a server sends it, so the two differ.`
    : `The number ${written} cannot be kept exactly and becomes ${kept}.`;
}

export const unkeptHint = 'Write it as a text, in quotes.';
