import { expect, it } from 'vitest';
import type { Json } from '../../../src/engine/core/json.ts';
import { comparable, differenceBetween } from '../../../src/engine/core/volatile.ts';

const record = (id: string, at: number, other = id): Json => ({
  content: JSON.stringify({ note: { id, at, title: 'Milk' }, links: [other] }),
  text: `created ${other}`,
});

it.each<[string, Json, Json, readonly string[], boolean]>([
  ['ids that a domain declares', record('a7f3', 1), record('99c0', 1), ['id'], true],
  ['a clock that a domain declares', record('a7f3', 1), record('a7f3', 2), ['note.at'], true],
  ['a clock that nothing declares', record('a7f3', 1), record('a7f3', 2), ['id'], false],
  ['a path of another object', record('a7f3', 1), record('a7f3', 2), ['link.at'], false],
  ['a path with any key in it', { notes: { n1: { at: 1 } } }, { notes: { n1: { at: 2 } } }, ['notes.*.at'], true],
  ['a reference to another id', record('a7f3', 1), record('99c0', 1, 'b111'), ['id'], false],
  ['ids that a tool makes by id()', record('N11111111', 1), record('N22222222', 1), [], true],
  ['an id of another kind', record('N11111111', 1), record('M22222222', 1), [], false],
  ['rows in another order', { rows: [{ a: 1 }, { a: 2 }] }, { rows: [{ a: 2 }, { a: 1 }] }, [], false],
  ['rows of a volatile list', { rows: [{ a: 1 }, { a: 2 }] }, { rows: [{ a: 2 }, { a: 1 }] }, ['rows'], true],
  ['other rows of a volatile list', { rows: [{ a: 1 }, { a: 2 }] }, { rows: [{ a: 2 }, { a: 3 }] }, ['rows'], false],
  [
    'two ids for one',
    [record('N11111111', 1), record('N11111111', 1)],
    [record('N22222222', 1), record('N33333333', 1)],
    [],
    false,
  ],
])('%s', (_, one, other, volatile, isSame) => {
  const [first, second] = [comparable([one], volatile), comparable([other], volatile)];
  expect(first.texts[0] === second.texts[0]).toBe(isSame);
});

it('the first difference is named with its path and both values', () => {
  const [one, other] = [
    comparable([{ state: '{"rows":[{"a":1},{"a":2}]}' }]),
    comparable([{ state: '{"rows":[{"a":1}]}' }]),
  ].map(({ texts }) => texts[0] ?? '');
  expect(differenceBetween(one ?? '', other ?? '')).toBe('state.rows.1 is {"a":2}, then missing');
  expect(differenceBetween(one ?? '', one ?? '')).toBe(null);
});
