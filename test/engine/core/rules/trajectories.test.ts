import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { openSupervisor, type Supervisor } from '../../../../src/engine/shell/supervisor.ts';
import { sampled } from '../../../support/suite.ts';
import { conversationsIn, played } from './trajectory.ts';

let supervisor: Supervisor;
beforeAll(async () => {
  supervisor = await openSupervisor(loadDomain(join(import.meta.dirname, '../../../../domains/order-desk')));
});
afterAll(() => supervisor.close());

/** Each set with the number of its conversations that break a rule, and the number of those that break none. */
const sets: readonly (readonly [string, number, number])[] = [
  ['first', 30, 30],
  ['second', 30, 30],
  ['third', 20, 20],
  ['fourth', 50, 50],
  ['fifth', 30, 30],
  ['sixth', 0, 50],
  ['seventh', 25, 45],
  ['eighth', 30, 30],
  ['ninth', 30, 30],
  ['tenth', 30, 30],
];

describe.each(sets)('%s', (set, planted, clean) => {
  const conversations = conversationsIn(set).map((each, n) => ({ violates: [] as readonly string[], ...each, n }));
  const violating = conversations.filter(({ violates }) => violates.length > 0);

  it('has enough of each', () => {
    expect([violating.length, conversations.length - violating.length]).toEqual([planted, clean]);
    expect(new Set(conversations.map(({ name }) => name)).size).toBe(planted + clean);
  });

  it.runIf(planted > 0)('plants a violation of every rule of the policy', () => {
    const broken = new Set(violating.flatMap(({ violates }) => violates));
    expect(supervisor.domain.policy.rules.map(({ id }) => id).filter((id) => !broken.has(id))).toEqual([]);
  });

  it.each(sampled(conversations, 16))('$name', async ({ n, ...trajectory }) => {
    const result = await played(supervisor, trajectory, n);
    const found = [...new Set(result.violations.map(({ rule }) => rule))].sort();
    const reasons = result.violations.map(({ rule, reason }) => `${rule}: ${reason}`).join('\n');
    expect(found, reasons).toEqual([...trajectory.violates].sort());
    expect(result.unknown).toEqual([]);
    expect(result.played).toBe(true);
  });
});
