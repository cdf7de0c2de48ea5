import { contentHash } from '../engine/core/values/hash.ts';
import type { Decision, Selected } from './settle.ts';

/**
 * The rollouts that a person looks at: so many of those that were chosen, whatever the grader said about them, drawn by
 * seed. It stays the same when more are chosen later as far as it can, and keeps all that were decided.
 */
export function sampleOf(
  selection: readonly Selected[],
  decisions: readonly Decision[],
  size: number,
  seed: string,
): readonly Selected[] {
  const decided = new Set(decisions.map(({ recording }) => recording));
  const rank = ({ recording }: Selected) => (decided.has(recording) ? '' : contentHash([seed, recording]));
  const ranked = selection
    .filter(({ chosen, forkOf }) => chosen && forkOf === undefined)
    .map((row) => ({ row, rank: rank(row), place: contentHash([seed, row.recording]) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0))
    .slice(0, Math.max(size, decided.size));
  return ranked.toSorted((one, other) => (one.place < other.place ? -1 : 1)).map(({ row }) => row);
}
