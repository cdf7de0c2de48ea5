import { expect, test } from 'vitest';
import { readFiles } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { domainTypes } from '../../../../src/engine/shell/load/expressionTypes.ts';
import { desk, folderOf } from './domainFolder.ts';

/** The number of tasks. Work that grows with its square would exceed the time limit of a test. */
const count = 50_000;

test('the facts and rows of many tasks are all in the types of the domain', () => {
  const { parts, world } = readFiles(folderOf(desk));
  const [placed] = parts.tasks;
  if (!placed) throw new Error('the desk has a task');
  const { value } = placed;
  const known = { names: new Set<string>(), complete: false, tools: new Map(), declared: new Map() };
  const tasks = Array.from({ length: count }, (_, at) => {
    const row = { side: 'agent' as const, path: ['orders', `N${at}`], value: { status: `status ${at}` } };
    return { ...placed, value: { ...value, user: { ...value.user, known: { order: `N${at}` } }, state: [row] } };
  });
  const { facts, agent } = domainTypes({ ...parts, tasks }, world, known);
  expect(facts.object?.fields.get('order')?.text?.known.size).toBe(count);
  const rows = agent.object?.fields.get('orders')?.object?.rows;
  expect(rows?.keys.size).toBe(count + 2);
  expect(rows?.row.object?.fields.get('status')?.text?.known.size).toBe(count + 2);
});
