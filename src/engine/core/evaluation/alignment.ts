import type { RolloutEvent } from '../events/event.ts';
import { type Said, saidIn } from '../events/said.ts';

/** Two rollouts side by side: what is in one row is the same, or what each did at that place. */
export type AlignedRow = {
  readonly first: Said | null;
  readonly second: Said | null;
  readonly isAlike: boolean;
};

/** Above this product of lengths the parts that differ are set side by side in their order, without a search. */
const searchable = 1_000_000;

/**
 * Sets two rollouts side by side. Rows are alike from the first word to where they part; after that as many as can be
 * are matched, in order (a longest common subsequence), and what lies between matches is listed row by row.
 */
export function alignedSteps(first: readonly RolloutEvent[], second: readonly RolloutEvent[]): readonly AlignedRow[] {
  const [one, other] = [saidIn(first), saidIn(second)];
  const shorter = Math.min(one.length, other.length);
  let head = 0;
  while (head < shorter && one[head]?.key === other[head]?.key) head++;
  const rows = one.slice(0, head).map((said, at) => alike(said, other[at] ?? null));
  const [left, right] = [one.slice(head), other.slice(head)];
  let [i, j] = [0, 0];
  for (const [a, b] of [...matches(left, right), [left.length, right.length] as const]) {
    rows.push(...beside(left.slice(i, a), right.slice(j, b)));
    const said = left[a];
    if (said) rows.push(alike(said, right[b] ?? null));
    [i, j] = [a + 1, b + 1];
  }
  return rows;
}

const alike = (first: Said, second: Said | null): AlignedRow => ({ first, second, isAlike: true });

/** Row by row; what one side has more is alone. */
function beside(left: readonly Said[], right: readonly Said[]): readonly AlignedRow[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => ({
    first: left[at] ?? null,
    second: right[at] ?? null,
    isAlike: false,
  }));
}

/** Places of a longest common subsequence, in order. */
function matches(left: readonly Said[], right: readonly Said[]): readonly (readonly [number, number])[] {
  const width = right.length + 1;
  if (left.length * right.length > searchable) return [];
  const lengths = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        left[i]?.key === right[j]?.key
          ? 1 + (lengths[(i + 1) * width + j + 1] ?? 0)
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  const found: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (left[i]?.key === right[j]?.key) found.push([i++, j++]);
    else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) i++;
    else j++;
  }
  return found;
}
