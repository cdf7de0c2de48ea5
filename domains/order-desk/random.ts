/** Returns random numbers from a seed, the same on every machine, for the scripts that write this domain's files. */
export function seeded(seed: number) {
  const next = mulberry32(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    /** A number in [0, 1). */
    next,
    /** A whole number in [0, limit). */
    below,
    pick: <T>(from: readonly T[]): T => from[below(from.length)] as T,
    /** Shuffles the list in place and returns it. */
    shuffled: <T>(list: T[]): T[] => {
      for (let last = list.length - 1; last > 0; last--) {
        const at = below(last + 1);
        [list[last], list[at]] = [list[at] as T, list[last] as T];
      }
      return list;
    },
  };
}

/** Tommy Ettinger's 32-bit generator: numbers in [0, 1), the same on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
