import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRead, mergedReads, type Reads, type ReadTree } from '../../../../src/engine/core/events/reads.ts';
import { readSidecar, sidecarPath } from '../../../../src/engine/shell/records/recording.ts';
import { rehearse } from '../../../support/rehearsed.ts';
import { desk, folderOf } from '../../shell/load/domainFolder.ts';

const path = (text: string) => text.split('.');

test.each<[ReadTree, string, boolean]>([
  [{ orders: { W1: { status: true } } }, 'orders.W1.status', true],
  [{ orders: { W1: { status: true } } }, 'orders.W1', true],
  [{ orders: { W1: { status: true } } }, 'orders', true],
  // Only the status of this row was read.
  [{ orders: { W1: { status: true } } }, 'orders.W1.items', false],
  [{ orders: { W1: { status: true } } }, 'orders.W2', false],
  [{ orders: { W1: true } }, 'orders.W1.items.0.price', true],
  [{ orders: [{ status: true }] }, 'orders.W7.status', true],
  [{ orders: [{ status: true }] }, 'orders.W7.items', false],
  [{ orders: {} }, 'orders.constructor', false],
])('of %j, %s is read: %s', (tree, place, is) => {
  expect(isRead({ agent: tree }, 'agent', path(place))).toBe(is);
  expect(isRead({ user: tree }, 'agent', path(place))).toBe(false);
});

const tree: fc.Arbitrary<ReadTree> = fc.letrec<{ tree: ReadTree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.constant<ReadTree>(true),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('tree')) as fc.Arbitrary<ReadTree>,
    fc.tuple(tie('tree')) as fc.Arbitrary<ReadTree>,
  ),
})).tree;

test('property: a value that one of several observers read is read in their union', () => {
  const place = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 4 }), place, (trees, at) => {
      const isReadBy = (each: ReadTree) => isRead({ agent: each }, 'agent', at);
      if (trees.some(isReadBy)) expect(isReadBy(mergedReads(trees))).toBe(true);
    }),
  );
});

describe('the sidecar keeps the reads of each call if requested', () => {
  const folder = () =>
    folderOf({
      ...desk,
      'rules.yaml': null,
      'tools.ts': `import { defineTools } from 'rehearsal';
import * as z from 'zod';
type Order = { status: string; customer: string; items: string[] };
const { tool } = defineTools<{ agent: { orders: Record<string, Order> } }>();
const order = z.object({ order: z.string() });
export const find_order = tool({ description: 'Find.', effect: 'read', input: order,
  run: ({ order }, { db }) => db.orders[order]?.status ?? 'none' });
export const show_order = tool({ description: 'Show.', effect: 'read', input: order,
  run: async ({ order }, { db }) => { await null; return db.orders[order]; } });
export const clone_order = tool({ description: 'Clone.', effect: 'read', input: order,
  run: ({ order }, { db }) => structuredClone(db.orders[order]) });
export const spoil_order = tool({ description: 'Spoil.', effect: 'read', input: order,
  run: ({ order }, { db }) => { db.orders[order]!.items.sort(); db.orders[order]!.status = 'spoiled'; } });
export const list_orders = tool({ description: 'List.', effect: 'read', input: z.object({}),
  run: (_, { db }) => Object.values(db.orders).filter(({ status }) => status === 'done').length });
export const cancel_order = tool({ description: 'Cancel.', effect: 'write', input: order,
  run: ({ order }, { db }) => { const row = db.orders[order]!; row.status = 'cancelled'; return row; } });
`,
      'database.json': JSON.stringify({
        orders: Object.fromEntries(
          Array.from({ length: 100 }, (_, n) => [`W${n}`, { status: 'done', customer: 'C1', items: ['pen', 'ink'] }]),
        ),
      }),
      'tasks/first.task.yaml': `id: cancel
persona: plain
user:
  goal: Cancel order W1.
  known: { order: W1 }
script:
  - - { tool: find_order, arguments: { order: W1 } }
  - - { tool: show_order, arguments: { order: W2 } }
  - - { tool: clone_order, arguments: { order: W3 } }
  - - { tool: spoil_order, arguments: { order: W3 } }
  - - { tool: list_orders, arguments: {} }
  - - { tool: cancel_order, arguments: { order: W4 } }
  - - { tool: find_order, arguments: { nothing: 1 } }
  - - { tool: find_order, arguments: { order: W4 } }
  - Done.
actions:
  - { tool: cancel_order, arguments: { order: W4 } }
`,
    });

  test('of tools in TypeScript, without changing their results', async () => {
    const domain = folder();
    const [[plain], [watched]] = await Promise.all([
      rehearse(domain, ['cancel']),
      rehearse(domain, ['cancel'], { reads: true }),
    ]);
    if (!plain || !watched) throw new Error('both were played');
    expect(watched.results).toEqual(plain.results);
    expect(watched.results[3]).toMatch(/^Error: a read tool may not write: it tried to change orders\.W3\.items/);
    expect(readFileSync(watched.recording, 'utf8')).toBe(readFileSync(plain.recording, 'utf8'));
    const readsOf = ({ recording }: { recording: string }) =>
      readSidecar(sidecarPath(recording)).lines.flatMap(({ reads }) => (reads ? [reads] : []));
    expect(readsOf(plain)).toEqual([]);
    const items: ReadTree = { 0: true, 1: true };
    const whole: ReadTree = { status: true, customer: true, items };
    expect(readsOf(watched)).toEqual<readonly Reads[]>([
      { agent: { orders: { W1: { status: true } } } },
      { agent: { orders: { W2: whole } } },
      { agent: { orders: { W3: whole } } },
      { agent: { orders: { W3: { items } } } },
      { agent: { orders: [{ status: true }] } },
      { agent: { orders: { W4: true } } },
      {},
      { agent: { orders: { W4: { status: true } } } },
    ]);
  });
});
