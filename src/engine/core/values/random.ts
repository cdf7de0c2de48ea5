import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { contentHash } from './hash.ts';

/** A stream of random numbers that belongs to one consumer; drawing from it never shifts another stream. */
export type Random = {
  /** A whole number in [0, below). */
  readonly integer: (below: number) => number;
  /** True with the given probability in [0, 1]. */
  readonly chance: (probability: number) => boolean;
  /** One element of a non-empty list. */
  readonly pick: <T>(from: readonly T[]) => T;
};

const resolution = 1 << 30;

/**
 * The stream named by its parts, usually (seed, task, trial, consumer). Equal names give equal numbers,
 * on every machine. Streams are independent because the name is hashed.
 */
export function randomStream(...name: readonly (string | number)[]): Random {
  let generator: ReturnType<typeof xoroshiro128plus> | undefined;
  return streamOf((below) => {
    generator ??= xoroshiro128plus(Number.parseInt(contentHash(name).slice(0, 8), 16) | 0);
    return uniformInt(generator, 0, below - 1);
  });
}

/** The same stream; `onDraw` learns whenever a number is drawn from it. */
export function observedStream(random: Random, onDraw: () => void): Random {
  return streamOf((below) => {
    onDraw();
    return random.integer(below);
  });
}

function streamOf(integer: Random['integer']): Random {
  return {
    integer,
    chance: (probability) => integer(resolution) < probability * resolution,
    pick: (from) => {
      const found = from[integer(from.length)];
      if (found === undefined) throw new Error('pick needs a list that is not empty');
      return found;
    },
  };
}

/** Returns what the streams of a rollout are derived from, before their consumer's name. */
export function rolloutKey({ seed, task, trial }: Started): readonly (string | number)[] {
  return [seed, task.id, trial];
}

type Started = { readonly seed: string; readonly task: { readonly id: string }; readonly trial: number };
