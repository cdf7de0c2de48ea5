/** What is said of a number that is not the one that is written. */
export function unkept(written: string, value: number): string {
  return Number.isFinite(value)
    ? `The number ${written} can't be kept exactly, and becomes ${BigInt(value)}.`
    : `The number ${written} is larger than any that can be kept.`;
}

export const unkeptHint = 'Write it as a text, in quotes.';
