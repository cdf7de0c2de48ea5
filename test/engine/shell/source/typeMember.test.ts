import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memberOf } from '../../../../src/engine/shell/source/typeMember.ts';

const sample = (domain: string) => readFileSync(join('domains', domain, 'tools.ts'), 'utf8');

/** Returns the line on which a member is declared, from its name on. */
function declared(text: string, side: 'agent' | 'user', path: string): string | null {
  const found = memberOf(text, side, path.split('.'));
  return found && (text.slice(found.from).split(/[;\n]/)[0] ?? '');
}

it.each([
  ['order-desk', 'agent', 'orders.*.items_changed', 'items_changed?: boolean'],
  ['order-desk', 'agent', 'orders.*.items.*.price', 'price: number'],
  ['order-desk', 'agent', 'products.*.variants.*.available', 'available: boolean }> }'],
  ['order-desk', 'agent', 'orders', 'orders: Record<string, Order>'],
  ['parcel-desk', 'agent', 'parcels.*.status', "status: 'on the way' | 'delivered' | 'missing'"],
  ['help-line', 'agent', 'lines.*.port', "port: 'open' | 'locked'"],
  ['help-line', 'agent', 'lines.*.bills.*.status', "status: 'open' | 'requested' | 'paid' }"],
  ['help-line', 'agent', 'lines.*.seen.firmware', 'firmware: number'],
  ['help-line', 'user', 'router.channel', 'channel: number'],
  ['help-line', 'user', 'app.paid', 'paid: Record<string, string> }'],
] as const)('finds in the types of %s, on the side of the %s, %s', (domain, side, path, expected) => {
  expect(declared(sample(domain), side, path)).toBe(expected);
});

const typed = (type: string) =>
  `type Row = { id: string };\n${type}\nconst { tool } = defineTools<{ agent: Desk }>();\n`;

it.each([
  ['an interface', 'interface Desk { rows: Record<string, Row> }'],
  ['an index signature', 'type Desk = { rows: { [id: string]: Row } };'],
  ['a readonly type', 'type Desk = Readonly<{ readonly rows: Readonly<Record<string, Row>> }>;'],
  ['a list', 'type Desk = {\n  rows: Row[]\n  other: string\n}'],
  ['a generic list', 'type Desk = { rows: Array<Row>; };'],
  ['an intersection', 'type Other = { other: string };\ntype Desk = Other & { rows: Record<string, Row> };'],
  ['a union', 'type Desk =\n  | { other: string }\n  | { rows: Record<string, Row | null> };'],
])('follows %s', (_, type) => {
  expect(declared(typed(type), 'agent', 'rows.*.id')).toBe('id: string }');
});

it.each([
  ['a type of another file', typed("import type { Desk } from './desk.ts';"), 'rows.*.id'],
  ['a field that no type has', typed('type Desk = { rows: Record<string, Row> };'), 'rows.*.name'],
  ['a type of itself', typed('type Desk = Desk;'), 'rows.*.id'],
  ['a comment', typed('// type Desk = { rows: Record<string, Row> };'), 'rows.*.id'],
  ['no tools', 'type Desk = { rows: Record<string, { id: string }> };', 'rows.*.id'],
])('finds nothing in %s', (_, text, path) => {
  expect(declared(text, 'agent', path)).toBeNull();
});
