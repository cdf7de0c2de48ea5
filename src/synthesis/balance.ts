import { randomStream } from '../engine/core/values/random.ts';
import type { Difficulty } from './difficulty.ts';
import type { Outcome } from './outcome.ts';

/** The dimensions by which candidates are balanced, in order of priority. */
export const dimensions = ['domain', 'difficulty', 'persona', 'task'] as const;

/** A rollout that may be chosen. */
export type Candidate = {
  readonly recording: string;
  readonly domain: string;
  readonly task: string;
  readonly persona: string;
  readonly difficulty: Difficulty;
  readonly outcome: Outcome;
  /** Equal for conversations that are the same up to names and numbers. */
  readonly shape: string;
};

export type Wanted = {
  readonly count: number;
  /** Share of the near-misses, from 0 to 1; what they lack is not made up for by failures. */
  readonly nearMisses: number;
  /** Decides between candidates that are as good as each other. */
  readonly seed: string;
};

export type Choice = { readonly chosen: boolean; readonly why: string };

/**
 * Chooses rollouts to learn from: no failure, none that repeats another, and of the rest as even a share of each
 * domain, then of each difficulty, persona and task in it, as there is. Near-misses have their own share at most;
 * successes fill what they lack. The same candidates in any order give the same choice.
 * @param known recordings that come before others of their kind: a person has looked at them already
 */
export function chooseBalanced(
  candidates: readonly Candidate[],
  wanted: Wanted,
  known: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, Choice> {
  const choices = new Map<string, Choice>();
  const first = new Map<string, string>();
  const fit: Candidate[] = [];
  const inOrder = shuffled(candidates, wanted.seed).toSorted(
    (one, other) => Number(known.has(other.recording)) - Number(known.has(one.recording)),
  );
  for (const each of inOrder) {
    const twin = first.get(each.shape);
    if (each.outcome === 'failure' || each.outcome === 'unscored')
      choices.set(each.recording, { chosen: false, why: whyUnfit[each.outcome] });
    else if (twin !== undefined)
      choices.set(each.recording, { chosen: false, why: `the same conversation as ${twin}, up to names and numbers` });
    else {
      first.set(each.shape, each.recording);
      fit.push(each);
    }
  }
  const misses = fit.filter(({ outcome }) => outcome === 'nearMiss');
  const successes = fit.filter(({ outcome }) => outcome === 'success');
  const missed = evenly(misses, Math.min(misses.length, Math.round(wanted.count * wanted.nearMisses)));
  const right = evenly(successes, Math.min(successes.length, wanted.count - missed.length));
  const chosen = new Set([...missed, ...right]);
  for (const each of fit)
    choices.set(
      each.recording,
      chosen.has(each) ? { chosen: true, why: 'chosen' } : { chosen: false, why: 'enough of its kind were chosen' },
    );
  return choices;
}

const whyUnfit = { failure: 'it failed in more than one way', unscored: 'it has no reward' } as const;

/** So many candidates, each next one of the group that has fewest so far, in each dimension after the one before. */
function evenly(candidates: readonly Candidate[], count: number): readonly Candidate[] {
  return dealt(candidates, dimensions).slice(0, count);
}

/** All candidates in an order whose every beginning is as even as there are candidates for. */
function dealt(
  candidates: readonly Candidate[],
  [dimension, ...rest]: readonly (typeof dimensions)[number][],
): readonly Candidate[] {
  if (dimension === undefined) return candidates;
  const groups = [...Map.groupBy(candidates, (each) => each[dimension])].map(([, group]) => dealt(group, rest));
  const longest = Math.max(0, ...groups.map(({ length }) => length));
  return Array.from({ length: longest }, (_, round) => groups.flatMap((group) => group[round] ?? [])).flat();
}

/** An order that the seed decides, whatever the order before. */
function shuffled(candidates: readonly Candidate[], seed: string): readonly Candidate[] {
  const order = candidates.toSorted((one, other) => (one.recording < other.recording ? -1 : 1));
  const random = randomStream(seed, 'coldStart');
  for (let last = order.length - 1; last > 0; last--) {
    const other = random.integer(last + 1);
    const [one, two] = [order[last], order[other]];
    if (one && two) [order[last], order[other]] = [two, one];
  }
  return order;
}
