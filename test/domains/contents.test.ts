import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/engine/core/json.ts';
import { loadDomain } from '../../src/engine/shell/load/loadDomain.ts';

const load = (name: string) => loadDomain(join(import.meta.dirname, '../../domains', name));
const parcelDesk = load('parcel-desk');
const orderDesk = load('order-desk');

test.each([parcelDesk, orderDesk])('nothing is wrong with $domain.name', ({ diagnostics }) => {
  expect(diagnostics).toEqual([]);
});

test('parcel-desk trains on other parcels than it tests on', () => {
  const parcels = (split: string) =>
    parcelDesk.domain.tasks.filter((task) => task.split === split).map(({ user }) => user.known['parcel']);
  const [train, tested] = [parcels('train'), parcels('test')];
  expect([train.length, tested.length]).toEqual([64, 32]);
  expect(new Set([...train, ...tested]).size).toBe(96);
});

test.each([parcelDesk, orderDesk])('a task of $domain.name needs a write', ({ domain }) => {
  const reads = /^(find|get|list|calculate|think)/;
  expect(domain.tasks.filter(({ actions }) => actions.every(({ tool }) => reads.test(tool)))).toEqual([]);
});

test('order-desk is as large as it says', () => {
  const rows = (table: string) => Object.keys(orderDesk.world.agent[table] as JsonObject).length;
  expect([rows('customers'), rows('orders'), rows('products')]).toEqual([64, 220, 24]);
  const { policy, personas, tasks } = orderDesk.domain;
  expect([policy.rules.length, orderDesk.toolNames.length, tasks.length]).toEqual([13, 14, 12]);
  for (const behaviour of ['omits', 'changes', 'insists'] as const) {
    expect(personas.filter(({ behaviours }) => behaviours[behaviour]).map(({ id }) => id)).not.toEqual([]);
  }
});
