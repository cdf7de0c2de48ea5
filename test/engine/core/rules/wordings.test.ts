import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { openSupervisor, type Supervisor } from '../../../../src/engine/shell/supervisor.ts';
import { sampled } from '../../../support/suite.ts';
import { played, type Trajectory } from './trajectory.ts';

type Table = Omit<Trajectory, 'violates'> & {
  readonly rule: string;
  readonly breaks: readonly string[];
  readonly keeps: readonly string[];
};
const tables = parse(readFileSync(join(import.meta.dirname, 'wordings.yaml'), 'utf8')) as readonly Table[];

let supervisor: Supervisor;
beforeAll(async () => {
  supervisor = await openSupervisor(loadDomain(join(import.meta.dirname, '../../../../domains/order-desk')));
});
afterAll(() => supervisor.close());

describe.each(tables)('$name', ({ rule, breaks, keeps, ...table }) => {
  it.each(sampled(breaks, 8))('breaks it: %s', async (words) => expect(await brokenBy(table, words)).toContain(rule));
  it.each(sampled(keeps, 8))('keeps it: %s', async (words) => expect(await brokenBy(table, words)).not.toContain(rule));
});

async function brokenBy({ script, ...table }: Omit<Trajectory, 'violates'>, words: string): Promise<readonly string[]> {
  const said = JSON.parse(JSON.stringify(script).replace('{says}', JSON.stringify(words).slice(1, -1)));
  const result = await played(supervisor, { ...table, script: said }, 0);
  expect([result.played, result.unknown]).toEqual([true, []]);
  return result.violations.map((violation) => violation.rule);
}
