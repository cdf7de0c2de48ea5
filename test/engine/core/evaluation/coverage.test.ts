import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Coverage, coverageOf, joinedCoverage } from '../../../../src/engine/core/evaluation/coverage.ts';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { played, steps } from '../../../support/desk.ts';

const eventsOf = async (...given: Parameters<typeof played>): Promise<readonly RolloutEvent[]> =>
  (await steps(played(...given))).map(({ event }) => event);

describe('the coverage of a rollout', () => {
  it('counts the checks of each rule by result, and the calls of each tool with their errors', async () => {
    const events = await eventsOf(
      [{ look: { chair: 'A1' } }, { look: { chair: 'Z9' } }, { paint: { chair: 'A1', colour: 'red' } }, 'Done.'],
      ['My chair A1 should be red.'],
    );
    expect(coverageOf(events)).toEqual({
      rules: {
        'look-first': { held: 1, violated: 0, unknown: 0 },
        'ask-first': { held: 0, violated: 1, unknown: 0 },
      },
      tools: { look: { calls: 2, errors: 1 }, paint: { calls: 1, errors: 0 } },
    });
  });

  it('is empty if nothing was called', async () => {
    expect(coverageOf(await eventsOf(['Hello.'], ['Hi.']))).toEqual({ rules: {}, tools: {} });
  });
});

const names = fc.constantFrom('a', 'b', 'constructor');
const count = fc.nat(9);
const coverages: fc.Arbitrary<Coverage> = fc.record({
  rules: fc.dictionary(names, fc.record({ held: count, violated: count, unknown: count })),
  tools: fc.dictionary(names, fc.record({ calls: count, errors: count })),
});

it('joining coverages adds them up, in any order and grouping', () => {
  fc.assert(
    fc.property(fc.array(coverages, { maxLength: 5 }), fc.nat(5), (parts, cut) => {
      const all = joinedCoverage(parts);
      expect(joinedCoverage(parts.toReversed())).toEqual(all);
      expect(joinedCoverage([joinedCoverage(parts.slice(0, cut)), joinedCoverage(parts.slice(cut))])).toEqual(all);
      for (const name of ['a', 'b', 'constructor']) {
        const calls = parts.map(({ tools }) => (Object.hasOwn(tools, name) ? (tools[name]?.calls ?? 0) : 0));
        const joined = Object.hasOwn(all.tools, name) ? (all.tools[name]?.calls ?? 0) : 0;
        expect(joined).toBe(calls.reduce((sum, each) => sum + each, 0));
      }
    }),
  );
});
