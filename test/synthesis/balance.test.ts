import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agreementOf, agreementText } from '../../src/synthesis/agreement.ts';
import { type Candidate, chooseBalanced, type Wanted } from '../../src/synthesis/balance.ts';
import { difficulties } from '../../src/synthesis/difficulty.ts';
import { outcomes } from '../../src/synthesis/outcome.ts';
import { type Decision, type Selected, settled } from '../../src/synthesis/settle.ts';

const candidates = fc
  .array(
    fc.record({
      domain: fc.constantFrom('desk', 'line', 'shop'),
      task: fc.constantFrom('a', 'b', 'c', 'd'),
      persona: fc.constantFrom('calm', 'hurried'),
      difficulty: fc.constantFrom(...difficulties),
      outcome: fc.constantFrom(...outcomes),
      shape: fc.integer({ min: 0, max: 40 }).map(String),
    }),
    { maxLength: 80 },
  )
  .map((rows) => rows.map((row, at): Candidate => ({ ...row, recording: `r${at}` })));

const wanted: fc.Arbitrary<Wanted> = fc.record({
  count: fc.integer({ min: 1, max: 60 }),
  nearMisses: fc.constantFrom(0, 0.25, 0.5, 1),
  seed: fc.constantFrom('1', '2'),
});

function chosenOf(all: readonly Candidate[], want: Wanted): readonly Candidate[] {
  const choices = chooseBalanced(all, want);
  return all.filter(({ recording }) => choices.get(recording)?.chosen);
}

describe('what is chosen', () => {
  test('is never more than was wanted, never a failure, never twice the same, and each rollout has a reason', () => {
    fc.assert(
      fc.property(candidates, wanted, (all, want) => {
        const choices = chooseBalanced(all, want);
        const chosen = chosenOf(all, want);
        expect(choices.size).toBe(all.length);
        expect([...choices.values()].every(({ why }) => why !== '')).toBe(true);
        expect(chosen.length).toBeLessThanOrEqual(want.count);
        expect(chosen.every(({ outcome }) => outcome === 'success' || outcome === 'nearMiss')).toBe(true);
        expect(new Set(chosen.map(({ shape }) => shape)).size).toBe(chosen.length);
        const misses = chosen.filter(({ outcome }) => outcome === 'nearMiss').length;
        expect(misses).toBeLessThanOrEqual(Math.round(want.count * want.nearMisses));
      }),
    );
  });

  test('does not depend on the order in which they were played', () => {
    fc.assert(
      fc.property(candidates, wanted, (all, want) => {
        const names = (rows: readonly Candidate[]) => rows.map(({ recording }) => recording).toSorted();
        expect(names(chosenOf(all.toReversed(), want))).toEqual(names(chosenOf(all, want)));
      }),
    );
  });

  test('has what somebody has looked at before others of its kind', () => {
    fc.assert(
      fc.property(candidates, wanted, fc.integer({ min: 0, max: 79 }), (all, want, at) => {
        const known = all[at];
        if (!known || known.outcome === 'failure' || known.outcome === 'unscored') return;
        const kindOf = ({ domain, difficulty, persona, task, outcome }: Candidate) =>
          [domain, difficulty, persona, task, outcome].join();
        const choices = chooseBalanced(all, want, new Set([known.recording]));
        const others = all.filter((each) => kindOf(each) === kindOf(known) && choices.get(each.recording)?.chosen);
        if (others.length > 0) expect(others).toContain(known);
      }),
    );
  });

  test('gives no domain two more than another that still has some left', () => {
    fc.assert(
      fc.property(candidates, wanted, (all, want) => {
        const choices = chooseBalanced(all, want);
        for (const outcome of ['success', 'nearMiss'] as const) {
          const kind = all.filter((each) => each.outcome === outcome);
          const counts = Map.groupBy(
            kind.filter(({ recording }) => choices.get(recording)?.chosen),
            ({ domain }) => domain,
          );
          const most = Math.max(0, ...[...counts.values()].map(({ length }) => length));
          const left = kind.filter(({ recording }) => choices.get(recording)?.why === 'enough of its kind were chosen');
          for (const { domain } of left)
            expect(most - (counts.get(domain)?.length ?? 0), `${outcome} of ${domain}`).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

const row = (recording: string, part: Partial<Selected> = {}): Selected => ({
  ...{ recording, domain: 'desk', task: 'a', persona: 'calm', difficulty: 'easy', outcome: 'success' },
  ...{ miss: null, withheld: [], chosen: true, why: 'chosen', accepted: true, ...part },
});
const bad = new Map([['r1', { keep: false, reason: 'it guessed' }]]);
const fork = { recording: 'r1.fork-1', outcome: 'success', miss: null, withheld: [] } as const;

test.each<[string, readonly Decision[], ReadonlyMap<string, { keep: boolean; reason: string }>, readonly string[]]>([
  ['without grades and decisions', [], new Map(), ['r1', 'r2']],
  ['the grader would not keep one', [], bad, ['r2']],
  ['a person accepts what the grader would not keep', [{ recording: 'r1', decision: 'accept' }], bad, ['r1', 'r2']],
  ['a person rejects', [{ recording: 'r2', decision: 'reject' }], new Map(), ['r1']],
  [
    'the last word counts',
    [
      { recording: 'r2', decision: 'reject' },
      { recording: 'r2', decision: 'accept' },
    ],
    new Map(),
    ['r1', 'r2'],
  ],
  ['a fork takes the place of its parent', [{ recording: 'r1', decision: 'edit', fork }], bad, ['r1.fork-1', 'r2']],
  ['what was not chosen stays out', [{ recording: 'r3', decision: 'accept' }], new Map(), ['r1', 'r2']],
])('%s', (_, decisions, grades, accepted) => {
  const rows = [row('r1'), row('r2'), row('r3', { chosen: false, why: 'enough of its kind were chosen' })];
  const once = settled(rows, grades, decisions);
  expect(once.filter((each) => each.accepted).map(({ recording }) => recording)).toEqual(accepted);
  expect(settled(once, grades, decisions)).toEqual(once);
});

test.each<[readonly (readonly [boolean, boolean])[], number | null, number | null]>([
  [[], null, null],
  [[[true, true]], 1, null],
  [
    [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ],
    0.5,
    0,
  ],
  [
    [
      [true, true],
      [true, true],
      [false, false],
      [true, false],
    ],
    0.75,
    0.5,
  ],
])('agreement of %j', (pairs, share, kappa) => {
  expect(agreementOf(pairs)).toEqual({ n: pairs.length, share, kappa });
});

test.each<readonly [Parameters<typeof agreementOf>[0], string]>([
  [[], 'No grade to compare with yet'],
  [[[true, true]], '100 % agreement between grader and person, kappa not defined, n = 1'],
  [
    [
      [true, true],
      [false, false],
      [true, false],
    ],
    '67 % agreement between grader and person, kappa 0.40, n = 3',
  ],
])('agreement of %j in words', (pairs, words) => {
  expect(agreementText(agreementOf(pairs))).toBe(words);
});
