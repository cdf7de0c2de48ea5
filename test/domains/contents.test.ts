import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/engine/core/values/json.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';

const load = (name: string) => loadDomain(join(import.meta.dirname, '../../domains', name));
const parcelDesk = load('parcel-desk');
const orderDesk = load('order-desk');
const libraryDesk = load('library-desk');

test.each([parcelDesk, orderDesk, libraryDesk])('nothing is wrong with $domain.name', ({ diagnostics }) => {
  expect(diagnostics).toEqual([]);
});

test('parcel-desk trains on other parcels than it tests on', () => {
  const parcels = (split: string) =>
    parcelDesk.domain.tasks.filter((task) => task.split === split).map(({ user }) => user.known['parcel']);
  const [train, tested] = [parcels('train'), parcels('test')];
  expect([train.length, tested.length]).toEqual([64, 32]);
  expect(new Set([...train, ...tested]).size).toBe(96);
});

test.each([parcelDesk, orderDesk, libraryDesk])('a task of $domain.name needs a write', ({ domain }) => {
  const reads = /^(find|get|list|calculate|think)/;
  expect(domain.tasks.filter(({ actions }) => actions.every(({ tool }) => reads.test(tool)))).toEqual([]);
});

test('order-desk is as large as it says', () => {
  const rows = (table: string) => Object.keys(orderDesk.world.agent[table] as JsonObject).length;
  expect([rows('customers'), rows('orders'), rows('products')]).toEqual([64, 220, 24]);
  const { policy, personas, tasks } = orderDesk.domain;
  expect([policy.rules.length, orderDesk.toolNames.length, personas.length, tasks.length]).toEqual([13, 14, 6, 60]);
  for (const behaviour of ['omits', 'changes', 'insists'] as const) {
    expect(personas.filter(({ behaviours }) => behaviours[behaviour]).map(({ id }) => id)).not.toEqual([]);
  }
});

test('library-desk is as large as it says, and most of its tasks make rows with new ids', () => {
  const { policy, personas, tasks } = libraryDesk.domain;
  expect([policy.rules.length, libraryDesk.toolNames.length, personas.length, tasks.length]).toEqual([15, 15, 4, 24]);
  const makers = ['record_lost', 'pay_fee', 'reserve_book', 'book_room', 'suggest_purchase'];
  const making = tasks.filter(({ actions }) => actions.some(({ tool }) => makers.includes(tool)));
  expect(making.length).toBe(15);
});

test('order-desk trains on other customers and orders than it tests on', () => {
  const named = (split: string) =>
    orderDesk.domain.tasks
      .filter((task) => task.split === split)
      .map((task) =>
        JSON.stringify([task.user, task.actions]).match(/\bW\d{4}\b|[\w.]+@example\.com|"postcode":"\d+"/g),
      );
  const [train, tested] = [named('train'), named('test')];
  expect([train.length, tested.length]).toEqual([40, 20]);
  const trained = new Set(train.flat());
  expect(tested.flat().filter((each) => trained.has(each))).toEqual([]);
});

test('every tool that changes something and every persona of order-desk is in both splits', () => {
  const used = (split: string) => {
    const tasks = orderDesk.domain.tasks.filter((task) => task.split === split);
    const writes = tasks
      .flatMap(({ actions }) => actions.map(({ tool }) => tool))
      .filter((tool) => !/^(find|get|list|calculate)/.test(tool));
    return [[...new Set(writes)].sort(), [...new Set(tasks.map(({ persona }) => persona))].sort()];
  };
  expect(used('test')).toEqual(used('train'));
  expect(used('test').map((each) => each?.length)).toEqual([7, 6]);
});
