/** The candidate that was most likely meant by a misspelt word, or undefined where none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(word.length * 0.4));
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    const away = plain(word) === plain(candidate) ? 0 : distance(word.toLowerCase(), candidate.toLowerCase(), least);
    if (away < least) [best, least] = [candidate, away];
  }
  return best;
}

/** ` Did you mean X?` with its leading space, or the other text. */
export function didYouMean(word: string, candidates: Iterable<string>, otherwise = ''): string {
  const found = nearest(word, candidates);
  return found === undefined ? otherwise : `Did you mean ${found}?`;
}

const plain = (word: string) => word.toLowerCase().replace(/[-_ .]/g, '');

/** Levenshtein distance with swaps of neighbours, given up at `limit`. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    const now = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (now[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      now.push(cost);
    }
    [before, last] = [last, now];
  }
  return last[b.length] ?? limit;
}
