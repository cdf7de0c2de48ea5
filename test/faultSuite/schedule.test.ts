import { expect, test } from 'vitest';
import { injections } from './injections.ts';
import { nameOf } from './plan.ts';
import { requestsOf, type Scheduled, scheduleOf } from './schedule.ts';

/** Returns the rollouts of a seed until each injection came once. */
function firstRound(seed: number): readonly Scheduled[] {
  const found: Scheduled[] = [];
  let planned = 0;
  for (const next of scheduleOf(seed)) {
    found.push(next);
    planned += next.plan ? 1 : 0;
    if (planned === injections.length) break;
  }
  return found;
}

const rounds = Array.from({ length: 60 }, (_, seed) => firstRound(seed));
const kindOf = ({ plan }: Scheduled) => (plan ? nameOf(plan) : 'left alone');

test('each round of a schedule has each fault at each of its seats once', () => {
  const all = injections.map(nameOf).toSorted();
  for (const round of rounds) expect(round.flatMap(({ plan }) => (plan ? [nameOf(plan)] : [])).toSorted()).toEqual(all);
});

test('over a few seeds, each fault meets both due rewards, and so do rollouts that are left alone', () => {
  const kinds = Map.groupBy(rounds.flat(), kindOf);
  const tied = [...kinds].filter(([, scheduled]) => new Set(scheduled.map(({ isWrong }) => isWrong)).size < 2);
  expect(tied.map(([kind]) => kind)).toEqual([]);
  expect(kinds.size).toBe(injections.length + 1);
});

test('over a few seeds, each fault is injected at each request of its seat', () => {
  const plans = rounds.flat().flatMap(({ plan }) => (plan?.type === 'chat' ? [plan] : []));
  const tied = [...Map.groupBy(plans, nameOf).values()].filter((found) => {
    const [{ fault, seat }] = found as [(typeof plans)[number]];
    return new Set(found.map(({ nth }) => nth)).size < requestsOf(fault, seat);
  });
  expect(tied.flatMap(([plan]) => (plan ? nameOf(plan) : []))).toEqual([]);
});

test('a schedule is the same for the same seed, and another one for another', () => {
  expect(firstRound(1)).toEqual(rounds[1]);
  const orders = new Set(rounds.map((round) => round.map(kindOf).join()));
  expect(orders.size).toBe(rounds.length);
});

test('the agent of a third leaves its work undone, also among and after rollouts that are left alone', () => {
  const all = rounds.flat();
  const isLeftAlone = (scheduled: Scheduled | undefined) => scheduled !== undefined && !scheduled.plan;
  const groups = [all, all.filter(isLeftAlone), all.filter((_, at) => isLeftAlone(all[at - 1]))];
  for (const group of groups)
    expect(group.filter(({ isWrong }) => isWrong).length / group.length).toBeCloseTo(1 / 3, 1);
});
