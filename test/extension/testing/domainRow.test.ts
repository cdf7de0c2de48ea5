import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { joinedCoverage } from '../../../src/engine/core/evaluation/coverage.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { coveredPlaces } from '../../../src/extension/testing/coveredPlaces.ts';
import { domainRow } from '../../../src/language/service/domainRow.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = join(temporaryFolder('rehearsal-explorer'), 'order-desk');
cpSync(inRoot('domains', 'order-desk'), folder, { recursive: true });
afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));
const read = () => loadDomain(folder, { soundness: false });
const file = join(folder, 'tasks', 'added.task.yaml');
const added = (text: string) => {
  writeFileSync(file, text);
  const row = domainRow(read(), 'split');
  rmSync(file);
  return row;
};

it.each(['split', 'persona'] as const)('every task is under its %s once', (grouping) => {
  const loaded = read();
  const { groups, name, error, broken } = domainRow(loaded, grouping);
  expect([name, error, broken]).toEqual(['order-desk', undefined, []]);
  for (const group of groups) for (const task of group.tasks) expect(task[grouping]).toBe(group.name);
  const ids = groups.flatMap(({ tasks }) => tasks.map(({ id }) => id));
  expect(ids.toSorted()).toEqual(loaded.tasks.map(({ id }) => id).toSorted());
  expect(groups.length).toBeGreaterThan(1);
});

it('a task has its place and the seat that it names', () => {
  const rows = domainRow(read(), 'split').groups.flatMap(({ tasks }) => tasks);
  const lamp = rows.find(({ id }) => id === 'lamp-variant');
  expect(lamp).toMatchObject({ persona: 'changeable', at: { line: 4 }, error: undefined });
});

it('a task shows its problems, and a file that is not a task is reported', () => {
  const strange = added('- id: strange\n  persona: unknown\n  user: { goal: None. }\n');
  const row = strange.groups.flatMap(({ tasks }) => tasks).find(({ id }) => id === 'strange');
  expect(row?.error).toMatch(/^added\.task\.yaml:\d+: .*unknown/);
  expect([strange.error, strange.broken]).toEqual([undefined, []]);
  const torn = added('- id: [torn\n');
  expect(torn.broken).toMatchObject([{ file, error: expect.stringMatching(/^added\.task\.yaml:\d+: /) }]);
  expect(torn.groups.length).toBe(2);
});

it('a task that cannot be read is in its split with its error, and its file is not listed', () => {
  const wrong = added(
    '- id: wrong\n  split: test\n  persona: patient\n  user: { goal: None. }\n  ommunicate: [soon]\n',
  );
  const [row] = wrong.groups.find(({ name }) => name === 'test')?.tasks.filter(({ id }) => id === 'wrong') ?? [];
  expect(row).toMatchObject({ persona: 'patient', at: { file, line: 1 } });
  expect(row?.error).toMatch(/^added\.task\.yaml:5: The key ommunicate is not known here\./);
  expect(wrong.broken).toEqual([]);
});

it('the domain shows the problems of other files', () => {
  writeFileSync(join(folder, 'rules.yaml'), '- rule: no-such-rule\n  check: oneCall\n');
  expect(domainRow(read(), 'split').error).toMatch(/^rules\.yaml:1: /);
  cpSync(inRoot('domains', 'order-desk', 'rules.yaml'), join(folder, 'rules.yaml'));
});

it('coverage names each rule with a check and each tool at its line, those that were not exercised with 0', () => {
  const { locations, domain } = read();
  const coverage = {
    rules: { authenticate: { held: 3, violated: 1, unknown: 2 } },
    tools: { get_order: { calls: 4, errors: 2 } },
  };
  const covered = coveredPlaces(locations, domain.rules, joinedCoverage([coverage]));
  const policy = covered.get(join(folder, 'policy.md')) ?? [];
  const tools = covered.get(join(folder, 'tools.ts')) ?? [];
  const checked = new Set(domain.rules.map(({ rule }) => rule));
  expect(policy).toHaveLength(checked.size);
  expect(policy.filter(({ executed }) => executed > 0)).toEqual([
    { name: 'authenticate (violated once)', executed: 4, at: locations.policyRules.get('authenticate') },
  ]);
  expect(tools.filter(({ executed }) => executed > 0).map(({ name, executed }) => [name, executed])).toEqual([
    ['get_order (failed 2 times)', 4],
  ]);
  expect(tools.length).toBe(locations.tools.size);
});
