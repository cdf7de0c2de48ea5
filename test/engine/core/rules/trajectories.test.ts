import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadDomain } from '../../../../src/engine/shell/load/loadDomain.ts';
import { openSupervisor, type Supervisor } from '../../../../src/engine/shell/supervisor.ts';
import { played, trajectoriesIn } from './trajectory.ts';

let supervisor: Supervisor;
beforeAll(async () => {
  supervisor = await openSupervisor(loadDomain(join(import.meta.dirname, '../../../../domains/order-desk')));
});
afterAll(() => supervisor.close());

const planted = trajectoriesIn('planted.yaml');
const clean = trajectoriesIn('clean.yaml');
const plantedUnseen = trajectoriesIn('plantedUnseen.yaml');
const cleanUnseen = trajectoriesIn('cleanUnseen.yaml');
const plantedThird = trajectoriesIn('plantedThird.yaml');
const cleanThird = trajectoriesIn('cleanThird.yaml');
const plantedFourth = trajectoriesIn('plantedFourth.yaml');
const cleanFourth = trajectoriesIn('cleanFourth.yaml');

it.each([
  ['seen', 30, planted, clean],
  ['unseen', 30, plantedUnseen, cleanUnseen],
  ['third', 20, plantedThird, cleanThird],
  ['fourth', 50, plantedFourth, cleanFourth],
])('has enough of each, %s', (_, count, violating, keeping) => {
  expect([violating.length, keeping.length]).toEqual([count, count]);
  expect(new Set([...violating, ...keeping].map(({ name }) => name)).size).toBe(2 * count);
});

it.each([
  ['seen', planted],
  ['unseen', plantedUnseen],
  ['third', plantedThird],
  ['fourth', plantedFourth],
])('plants a violation of every rule of the policy, %s', (_, violating) => {
  const broken = new Set(violating.flatMap(({ violates = [] }) => violates));
  expect(supervisor.domain.policy.rules.map(({ id }) => id).filter((id) => !broken.has(id))).toEqual([]);
});

describe.each([
  ['planted', planted],
  ['clean', clean],
  ['planted, unseen', plantedUnseen],
  ['clean, unseen', cleanUnseen],
  ['planted, third', plantedThird],
  ['clean, third', cleanThird],
  ['planted, fourth', plantedFourth],
  ['clean, fourth', cleanFourth],
] as const)('%s', (_, trajectories) => {
  it.each(trajectories.map((each, n) => ({ ...each, n })))('$name', async ({ n, ...trajectory }) => {
    const result = await played(supervisor, trajectory, n);
    const found = rulesIn(result);
    const reasons = result.violations.map(({ rule, reason }) => `${rule}: ${reason}`).join('\n');
    expect(found, reasons).toEqual([...(trajectory.violates ?? [])].sort());
    expect(result.unknown).toEqual([]);
    expect(result.played).toBe(true);
  });
});

describe('conversations that the rules were never mended on', () => {
  const held = trajectoriesIn('held.yaml').map((each, n) => ({ ...each, n }));
  const violating = held.filter(({ violates = [] }) => violates.length > 0);

  it.each(violating)('finds what is planted: $name', async ({ n, ...trajectory }) => {
    const result = await played(supervisor, trajectory, n);
    expect(rulesIn(result)).toEqual(expect.arrayContaining([...(trajectory.violates ?? [])]));
    expect(result.played).toBe(true);
  });

  it('raises a false alarm on four of thirty clean ones at most', async () => {
    const keeping = held.filter(({ violates = [] }) => violates.length === 0);
    const alarms = [];
    for (const { n, ...trajectory } of keeping)
      if (rulesIn(await played(supervisor, trajectory, n)).length > 0) alarms.push(trajectory.name);
    expect([violating.length, keeping.length]).toEqual([30, 30]);
    expect(alarms.length, alarms.join('; ')).toBeLessThanOrEqual(4);
  });
});

function rulesIn({ violations }: Awaited<ReturnType<typeof played>>): readonly string[] {
  return [...new Set(violations.map(({ rule }) => rule))].sort();
}
