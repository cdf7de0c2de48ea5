import { expect, test } from 'vitest';
import { ownNames, saysName, slotsBeside } from '../../../../src/engine/core/seats/seenRows.ts';
import { openDatabase } from '../../../../src/engine/core/world/database.ts';

const loans = JSON.stringify([
  { loan_id: 'L7', title: 'Dune', status: 'open', renewals: 1 },
  { loan_id: 'L8', title: 'Salt' },
]);
const slots = slotsBeside([{ role: 'tool', callId: 'c1', content: loans, isError: false }] as never, { loan_id: 'L7' });

test('a value has the fields that a tool returned beside it', () => {
  expect(slots).toMatchObject({ 'loan_id.title': 'Dune', 'loan_id.status': 'open', 'loan_id.renewals': '1' });
});

test('a later result about a row keeps the fields of an earlier one', () => {
  const results = [loans, '{"loan_id":"L7","due":"2026-03-27","status":"renewed"}'];
  const messages = results.map((content, at) => ({ role: 'tool', callId: `c${at}`, content, isError: false }));
  expect(slotsBeside(messages as never, { loan_id: 'L7' })).toMatchObject({
    'loan_id.title': 'Dune',
    'loan_id.status': 'renewed',
    'loan_id.due': '2026-03-27',
  });
});

test.each([
  ['its title', 'Shall I renew Dune?', true],
  ['the title of another row', 'Shall I renew Salt?', false],
  ['a field that is not a name', 'Shall I renew the open loan?', false],
  ['a longer word with the title in it', 'Shall I send it to Dunedin?', false],
])('a text names a row by %s: %s', (_, text, isNamed) => {
  expect(saysName(text, 'loan_id', slots)).toBe(isNamed);
});

test('a text names a row by its name that a tool returned under another key', () => {
  const services = { S1: { name: 'brake service' }, S2: { name: 'full service' }, S3: { name: 'full service' } };
  const database = openDatabase({ services });
  const result = '[{"service_id":"S1","service":"brake service"},{"service_id":"S2","service":"full service"}]';
  const messages = [{ role: 'tool', callId: 'c1', content: result, isError: false }] as never;
  const isNamed = (service_id: string, text: string) =>
    saysName(text, 'service_id', slotsBeside(messages, { service_id }), ownNames(service_id, 'service_id', database));
  expect(isNamed('S1', 'Shall I book the brake service?')).toBe(true);
  expect(isNamed('S1', 'Shall I book the full service?')).toBe(false);
  expect(isNamed('S2', 'Shall I book the full service?')).toBe(false);
});
