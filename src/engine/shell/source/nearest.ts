/**
 * The candidate that was most likely meant by a misspelt word, or undefined where none is close.
 * @param limit letters that may differ
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  limit = Math.max(1, Math.floor(word.length * 0.4)),
): string | undefined {
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    const away = plain(word) === plain(candidate) ? 0 : distance(word.toLowerCase(), candidate.toLowerCase(), least);
    if (away < least) [best, least] = [candidate, away];
  }
  return best;
}

/** `Did you mean "X"?`, or the other text. */
export function didYouMean(word: string, candidates: Iterable<string>, otherwise = '', limit?: number): string {
  const found = nearest(word, candidates, limit);
  return found === undefined ? otherwise : `Did you mean "${found}"?`;
}

const mostMeant = 3;

/** The candidates that a word may mean: the nearest one, or else the first of those that begin with it. */
export function meantNames(word: string, candidates: Iterable<string>): readonly string[] {
  const all = [...candidates];
  const found = nearest(word, all);
  if (found !== undefined) return [found];
  const begin = plain(word);
  return begin === '' ? [] : all.filter((each) => plain(each).startsWith(begin)).slice(0, mostMeant);
}

/** `. Did you mean "X" or "Y"?` to append to a sentence without its full stop; empty if the word means no candidate. */
export function suggestion(word: string, candidates: Iterable<string>): string {
  const found = meantNames(word, candidates).map((each) => `"${each}"`);
  const last = found.at(-1);
  if (last === undefined) return '';
  const others = found.slice(0, -1).join(', ');
  return `. Did you mean ${others === '' ? '' : `${others} or `}${last}?`;
}

/**
 * Names or values of one kind that are compared with each other at most. Every one is compared with all others, so those
 * of a larger number would take too long.
 */
export const mostCompared = 1000;

/** Returns how many letters of a value a misspelling changes at most: values of one kind are often alike. */
export const closeEnough = (value: string) => Math.max(1, Math.min(2, Math.floor(value.length / 5)));

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
