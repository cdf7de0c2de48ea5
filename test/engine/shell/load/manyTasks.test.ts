import { expect, test } from 'vitest';
import { readFiles } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { domainTypes } from '../../../../src/engine/shell/load/expressionTypes.ts';
import { desk, folderOf } from './domainFolder.ts';

test('what ten times as many tasks say of facts and rows takes about ten times as long to work out', () => {
  const { parts, world } = readFiles(folderOf(desk));
  const [placed] = parts.tasks;
  if (!placed) throw new Error('the desk has a task');
  const { value } = placed;
  const known = { names: new Set<string>(), complete: false, tools: new Map(), declared: new Map() };
  const took = (count: number) => {
    const tasks = Array.from({ length: count }, (_, at) => {
      const row = { side: 'agent' as const, path: ['orders', `N${at}`], value: { status: `status ${at}` } };
      return { ...placed, value: { ...value, user: { ...value.user, known: { order: `N${at}` } }, state: [row] } };
    });
    const from = performance.now();
    const { facts, agent } = domainTypes({ ...parts, tasks }, world, known);
    const ms = performance.now() - from;
    expect(facts.object?.fields.get('order')?.text?.known.size).toBe(count);
    const rows = agent.object?.fields.get('orders')?.object?.rows;
    expect(rows?.keys.size).toBe(count + 2);
    expect(rows?.row.object?.fields.get('status')?.text?.known.size).toBe(count + 2);
    return ms;
  };
  took(100);
  expect(took(20_000)).toBeLessThan(30 * took(2000) + 300);
});
